"""Conditions in words; and what feedback may say never contains what is expected."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from cuamaster.records.condition import (
    All,
    AnyOf,
    AppRunning,
    ClipboardText,
    CommandOutput,
    Condition,
    DocumentCell,
    DocumentSheets,
    DocumentTable,
    EpisodeFinish,
    FileExists,
    FileJson,
    FileTable,
    FileText,
    ImageSize,
    Not,
    ScreenText,
    SettingValue,
    WindowTitle,
)
from cuamaster.records.wording import describe

SECRET = st.text(string.ascii_uppercase + string.digits, min_size=6, max_size=10).map(lambda text: f"Q{text}")


def _all_about(secret: str) -> tuple[Condition, ...]:
    return (
        FileExists(path=secret, type="dir"),
        FileText(path=secret, text=secret),
        FileTable(path=secret, row=1234567, column=7654321, value=secret),
        FileJson(path=secret, keys=(secret,), value=secret),
        DocumentCell(path=secret, cell=secret, value=secret, sheet=secret),
        DocumentTable(path=secret, rows=((secret, "1234567"),), sheet=secret, number=7654321, start="A1234567"),
        DocumentSheets(path=secret, names=(secret,)),
        AppRunning(app=secret),
        WindowTitle(title=secret, app=secret),
        WindowTitle(title=secret, app=secret, active=True),
        SettingValue(schema_id=secret, key=secret, value=secret),
        ClipboardText(text=secret),
        CommandOutput(command=secret, text=secret),
        ImageSize(path=secret, width=1234567, height=7654321),
        ScreenText(text=secret, app=secret),
    )


@given(SECRET)
def test_without_reveal_nothing_expected_is_told(secret: str) -> None:
    for condition in _all_about(secret):
        words = describe(All(of=(condition, Not(of=AnyOf(of=(condition,))))), reveal=False)
        assert secret not in words
        assert "1234567" not in words
        assert "7654321" not in words
        assert len(words) > 10


@given(SECRET)
def test_with_reveal_the_subject_and_value_are_told(secret: str) -> None:
    for condition in _all_about(secret):
        assert secret in describe(condition, reveal=True)
    assert "1234567 x 7654321" in describe(ImageSize(path="p", width=1234567, height=7654321), reveal=True)


def test_how_a_task_is_to_end_is_told_only_when_revealed() -> None:
    condition = EpisodeFinish(status="infeasible")
    assert "infeasible" in describe(condition, reveal=True)
    assert "infeasible" not in describe(condition, reveal=False)


def test_joined_words() -> None:
    one, two = ClipboardText(text="a"), FileExists(path="~/b", type="dir")
    assert describe(All(of=(one, two)), reveal=True) == 'the clipboard holds "a" and there is a folder ~/b'
    assert (
        describe(AnyOf(of=(one, Not(of=two))), reveal=True) == 'the clipboard holds "a" or not (there is a folder ~/b)'
    )
    assert describe(All(of=()), reveal=True) == "nothing is asked"
