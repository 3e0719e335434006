"""What an effect ends, and what stays of a window that loses the focus."""

from __future__ import annotations

import pytest

from cuamaster.records.condition import (
    ClipboardText,
    CommandOutput,
    Condition,
    FileExists,
    FileText,
    Not,
    ScreenText,
    WindowTitle,
)
from cuamaster.records.effects import overwrites, rest_of

FILE = FileExists(path="~/a/b.txt", type="file")
TEXT = FileText(path="~/a/b.txt", text="milk and bread\n")
EDITOR = WindowTitle(app="editor", title="b.txt", active=True)


@pytest.mark.parametrize(
    ("effect", "fact", "gone"),
    [
        (WindowTitle(app="files", active=True), EDITOR, True),
        (WindowTitle(app="editor", title="c.txt", active=True), WindowTitle(app="editor", title="b.txt"), True),
        (WindowTitle(app="files", title="home", active=True), WindowTitle(app="editor", title="b.txt"), False),
        (FileText(path="~/x", text="new", match="contains"), FileText(path="~/x", text="old", match="contains"), True),
        (FileText(path="~/x", text="new", match="contains"), FileText(path="~/y", text="old"), False),
        (Not(of=FileExists(path="~/a")), TEXT, True),
        (ScreenText(app="editor", text="new"), ScreenText(app="editor", text="old"), True),
        (ScreenText(app="editor", text="new"), ScreenText(app="files", text="old"), True),
        (ScreenText(app="editor", text="new"), EDITOR, False),
        (Not(of=WindowTitle(app="editor")), ScreenText(app="editor", text="old"), True),
        (Not(of=WindowTitle(app="editor", title="b.txt")), ScreenText(app="editor", text="old"), True),
        (Not(of=WindowTitle(app="files")), ScreenText(app="editor", text="old"), False),
        (Not(of=WindowTitle(app="files")), ScreenText(text="old"), True),
        (WindowTitle(app="files", active=True), ScreenText(app="editor", text="old"), True),
        (ClipboardText(text="b"), ClipboardText(text="a"), True),
        (ClipboardText(text="b"), FILE, False),
        (Not(of=FileExists(path="~/run.sh")), CommandOutput(command="stat -c %A ~/run.sh", text="-rwx"), True),
        (FileText(path="~/run.sh", text="new"), Not(of=CommandOutput(command="cat ~/run.sh", text="old")), True),
        (Not(of=FileExists(path="~/run.sh")), CommandOutput(command="stat -c %A ~/prerun.sh", text="-rwx"), False),
    ],
)
def test_overwrites(effect: Condition, fact: Condition, gone: bool) -> None:
    assert overwrites(effect, fact) is gone


def test_a_window_that_loses_the_focus_stays_open() -> None:
    left = rest_of(EDITOR, WindowTitle(app="files", active=True))
    assert left == WindowTitle(app="editor", title="b.txt", active=False)
    assert rest_of(EDITOR, WindowTitle(app="editor", title="c.txt", active=True)) is None
