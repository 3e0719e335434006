"""Typed text: the screen and the speaker settle it between them."""

from __future__ import annotations

import pytest

from cuamaster.records.trajectory import TextBox
from cuamaster.seeding.typed_text import _news, joined, settle_text


@pytest.mark.parametrize(
    ("said", "shown", "written", "text"),
    [
        ("groceries.txt", "groceries.txt", True, "groceries.txt"),
        ("milk eggs and bread", "milk, eggs and bread", False, "milk, eggs and bread"),
        ("milk, eggs and bread", "milk,eggsandbread", True, "milk, eggs and bread"),
        ("fruit", "Fruit", False, "Fruit"),
        ("Apple", "Appll", True, "Apple"),
        ("reports", "reportsI", False, "reports"),
        ("bread", "|bread", True, "bread"),
        ("grocery's.txt", "groceries.txt", False, "groceries.txt"),
        ("I-R-D-X-T", "diary.txt", False, "diary.txt"),
        ("I-R-D-X-T", "diary.txt", True, "I-R-D-X-T"),
        ("month", "A1 B1 x Sum = 0 100%", False, "month"),
        ("budget", None, True, "budget"),
        (None, "hello", True, "hello"),
        ("echo hello world", "echo hello world", True, "echo hello world"),
    ],
)
def test_the_better_witness_wins(said: str | None, shown: str | None, written: bool, text: str) -> None:
    settled = settle_text(said, shown, written=written)
    assert settled is not None and settled[0] == text


def test_agreement_raises_and_silence_lowers_the_confidence() -> None:
    both, one, other = (
        settle_text(*pair, written=True) for pair in [("a note", "a note"), ("a note", None), (None, "a note")]
    )
    assert both and one and other and both[1] > 0.9 > 0.7 > max(one[1], other[1])
    assert settle_text(None, None, written=True) is None
    assert settle_text(" ", "", written=True) is None


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("", "hello", "hello"),
        ("user@vm:~$", "user@vm:~$ date", "date"),
        ("Search for:", "Search for: bread", "bread"),
        ("same", "same", ""),
        ("one three", "one two three", "two"),
    ],
)
def test_only_what_is_new_counts(before: str, after: str, new: str) -> None:
    assert _news(before, after, None) == [new] * bool(new)


def test_text_typed_over_a_selection_that_ended_alike_may_be_the_whole_word() -> None:
    assert _news("journal.txt", "diary.txt", "diary.txt") == ["diary", "diary.txt"]
    assert _news("brief.txt", "notiz.txt", None) == ["notiz"]
    assert _news("old", "old", "old") == []


def test_text_typed_before_an_ending_that_stays_is_known_though_the_ending_is_misread() -> None:
    assert "report.txt" in _news("words.txt", "report.txt.txt", "report.txt")
    assert "report.txt" in _news("words.txt", "report.txttxt", "report.txt")
    assert _news("words.txt", "report.txttxt", None) == ["report.txttxt"]


def test_boxes_of_a_line_are_joined_left_to_right() -> None:
    boxes = [
        TextBox(text="eggs", x0=60, y0=10, x1=95, y1=28), TextBox(text="milk,", x0=10, y0=11, x1=50, y1=28),
        TextBox(text="below", x0=10, y0=40, x1=50, y1=58),
    ]  # fmt: skip
    assert joined(boxes) == "milk, eggs below"
