"""Implication, conflict and overwriting of conditions: properties over generated ones, and the cases that composing rests on."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from cuamaster.records.condition import (
    All,
    AnyOf,
    AppRunning,
    ClipboardText,
    CommandOutput,
    Condition,
    DocumentCell,
    FileExists,
    FileText,
    Not,
    ScreenText,
    SettingValue,
    WindowTitle,
)
from cuamaster.records.effects import overwrites
from cuamaster.records.parts import conjoin, conjuncts
from cuamaster.records.reasoning import conflicts_with, consistent, implies
from tests.records.conditions import conditions, leaf_conditions

FILE = FileExists(path="~/a/b.txt", type="file")
TEXT = FileText(path="~/a/b.txt", text="milk and bread\n")
EDITOR = WindowTitle(app="editor", title="b.txt", active=True)


@given(conditions)
def test_everything_implies_itself(a: Condition) -> None:
    assert implies(a, a)


@given(conditions, conditions)
def test_conflict_is_symmetric(a: Condition, b: Condition) -> None:
    assert conflicts_with(a, b) == conflicts_with(b, a)


@given(leaf_conditions, conditions)
def test_what_follows_does_not_conflict(a: Condition, b: Condition) -> None:
    assume(not conflicts_with(b, b))
    assert not (implies(a, b) and conflicts_with(a, b))


@given(conditions)
def test_nothing_holds_together_with_its_negation(a: Condition) -> None:
    assert conflicts_with(a, Not(of=a))
    assert implies(a, AnyOf(of=(a, Not(of=a))))


SOME = (
    *(FileExists.model_validate({"path": p, "type": t}) for p in ("~/a", "~/a/b.txt") for t in ("file", "dir", "any")),
    *(
        FileText.model_validate({"path": "~/a/b.txt", "text": t, "match": m})
        for t in ("one", "one two", "one\n")
        for m in ("equals", "contains")
    ),
    *(
        WindowTitle(title=t, app=a, active=f)
        for t in ("", "one", "one two")
        for a in ("", "x", "y")
        for f in (True, False)
    ),
    *(ScreenText(text=t, app=a) for t in ("one", "one two") for a in ("", "x")),
    *(SettingValue(schema_id="s", key="k", value=v) for v in ("4", "uint32 4", "5")),
    *(
        CommandOutput.model_validate({"command": "c", "text": t, "match": m})
        for t in ("one", "two")
        for m in ("equals", "contains")
    ),
    *(AppRunning(app=a) for a in ("x", "y")),
    *(ClipboardText(text=t) for t in ("one", "two")),
)
ALL = (*SOME, *(Not(of=c) for c in SOME))


def test_implication_is_transitive_and_conflicts_pass_on_to_what_is_stronger() -> None:
    follows = {a: [b for b in ALL if implies(a, b)] for a in ALL}
    clashes = {a: {b for b in ALL if conflicts_with(a, b)} for a in ALL}
    assert sum(map(len, follows.values())) > 2 * len(ALL)
    assert sum(map(len, clashes.values())) > len(ALL)
    for a in ALL:
        for b in follows[a]:
            assert set(follows[b]) <= set(follows[a])
            assert clashes[b] <= clashes[a]


@given(leaf_conditions, leaf_conditions)
def test_negation_turns_implication_round(a: Condition, b: Condition) -> None:
    assert not implies(a, b) or implies(Not(of=b), Not(of=a))


@given(conditions, conditions)
def test_a_conjunction_implies_its_parts_and_a_part_an_alternative(a: Condition, b: Condition) -> None:
    assert implies(All(of=(a, b)), a)
    assert implies(a, AnyOf(of=(a, b)))


def test_an_effect_never_overwrites_what_it_implies() -> None:
    pairs = [(a, b) for a in ALL for b in ALL if implies(a, b)]
    assert len(pairs) > len(ALL)
    assert not any(overwrites(a, b) for a, b in pairs)


@given(conditions)
def test_conjuncts_are_what_must_hold(a: Condition) -> None:
    assert all(implies(a, part) for part in conjuncts(a))
    assert implies(conjoin([a]), a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (TEXT, FILE),
        (TEXT, FileExists(path="~/a/b.txt")),
        (FILE, FileExists(path="~/a", type="dir")),
        (TEXT, FileText(path="~/a/b.txt", text="bread", match="contains")),
        (TEXT, FileText(path="~/a/b.txt", text="milk and bread")),
        (EDITOR, WindowTitle(app="editor", title="b.t")),
        (EDITOR, WindowTitle(active=True)),
        (EDITOR, AppRunning(app="editor")),
        (ScreenText(text="words", app="editor"), WindowTitle(app="editor", active=True)),
        (ScreenText(text="words", app="editor"), AppRunning(app="editor")),
        (SettingValue(schema_id="s", key="k", value="uint32 4"), SettingValue(schema_id="s", key="k", value="4")),
        (SettingValue(schema_id="s", key="k", value='"x"'), SettingValue(schema_id="s", key="k", value="'x'")),
        (ScreenText(text="two words here", app="editor"), ScreenText(text="words")),
        (DocumentCell(path="p", cell="A1", value="1", sheet="S"), DocumentCell(path="p", cell="A1", value="1")),
        (Not(of=FileExists(path="~/a")), Not(of=TEXT)),
        (FILE, Not(of=FileExists(path="~/a/b.txt", type="dir"))),
        (EDITOR, Not(of=WindowTitle(app="files", active=True))),
    ],
)
def test_implies(a: Condition, b: Condition) -> None:
    assert implies(a, b)
    assert not implies(b, a) or isinstance(b, (FileText, SettingValue))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (FILE, FileExists(path="~/a/b.txt", type="dir")),
        (FILE, Not(of=FileExists(path="~/a"))),
        (FileExists(path="~/a", type="file"), FILE),
        (TEXT, FileText(path="~/a/b.txt", text="other")),
        (TEXT, FileText(path="~/a/b.txt", text="cheese", match="contains")),
        (EDITOR, WindowTitle(app="files", active=True)),
        (EDITOR, Not(of=AppRunning(app="editor"))),
        (ScreenText(text="words", app="editor"), Not(of=WindowTitle(app="editor"))),
        (ScreenText(text="words", app="editor"), Not(of=AppRunning(app="editor"))),
        (ScreenText(text="words", app="editor"), WindowTitle(app="files", active=True)),
        (SettingValue(schema_id="s", key="k", value="true"), SettingValue(schema_id="s", key="k", value="false")),
        (ClipboardText(text="a"), ClipboardText(text="b")),
        (CommandOutput(command="x", text="1"), CommandOutput(command="x", text="2")),
        (All(of=(FILE, EDITOR)), Not(of=FILE)),
        (AnyOf(of=(ClipboardText(text="a"), ClipboardText(text="b"))), ClipboardText(text="c")),
    ],
)
def test_conflicts(a: Condition, b: Condition) -> None:
    assert conflicts_with(a, b)
    assert not consistent([a, b])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (TEXT, FileText(path="~/other", text="other")),
        (EDITOR, WindowTitle(app="files", title="home")),
        (AnyOf(of=(ClipboardText(text="a"), ClipboardText(text="c"))), ClipboardText(text="c")),
        (SettingValue(schema_id="s", key="k", value="true"), SettingValue(schema_id="s", key="l", value="false")),
        (ScreenText(text="one"), ScreenText(text="two")),
    ],
)
def test_no_conflict(a: Condition, b: Condition) -> None:
    assert not conflicts_with(a, b)
    assert consistent([a, b])
