"""Leaves and conjuncts of nested conditions."""

from __future__ import annotations

from cuamaster.records.condition import All, AnyOf, FileExists, FileText, Not, WindowTitle
from cuamaster.records.parts import conjuncts, leaves

FILE = FileExists(path="~/a/b.txt", type="file")
TEXT = FileText(path="~/a/b.txt", text="milk and bread\n")
EDITOR = WindowTitle(app="editor", title="b.txt", active=True)


def test_leaves_and_conjuncts() -> None:
    whole = All(of=(FILE, Not(of=AnyOf(of=(TEXT, EDITOR))), All(of=(FILE, Not(of=Not(of=EDITOR))))))
    assert list(leaves(whole)) == [FILE, TEXT, EDITOR, FILE, EDITOR]
    assert conjuncts(whole) == (FILE, Not(of=TEXT), Not(of=EDITOR), EDITOR)
