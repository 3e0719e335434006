"""Reading text among OCR boxes: what is forgiven, and what never is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.records.trajectory import TextBox
from cuamaster.vision.reading import can_be_read


def boxes(*texts: str) -> list[TextBox]:
    """One box a line."""
    return [TextBox(text=text, x0=0, y0=20.0 * row, x1=100, y1=20.0 * row + 15) for row, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ("579", ["579."]),
        ("579", ["File", "579", "AC"]),
        ("Buy milk and eggs", ["Buy mi1k and egqs"]),
        ("Buy milk and eggs", ["Buy milkandeggs"]),
        ("Buy milk and eggs", ["to do: Buy milk and eggs today"]),
        ("it's", ["it\u2019s"]),
        ("a \u2013 b", ["a - b"]),
        ("O0lI", ["0Ol1"]),
        ("a long text that wraps", ["a long text", "that wraps"]),
        ("first\nsecond", ["second", "first"]),
        ("cheese", ["milk and cheesel"]),
        ("cheese", ["cheese|"]),
        ("three more days", ["Ithree more days"]),
        ("in a line of words", ["|in a line of words"]),
        ("removal", ["removal"]),
        ("The library closes at six", ["The library closes at six|"]),
        ("The library closes at six", ["The library closes at sixl"]),
        ("408", ["408|"]),
        ("Image", ["Image"]),
        ("-5.25", ["-5.25"]),
        (".hidden", [".hidden"]),
        ("sin", ["sin", "cos"]),
        ("Meeting moved to room seven", ["Meetlng moved to room seven"]),
        ("Meeting moved to room seven", ["Meeting m0ved to room seven."]),
    ],
)
def test_read(wanted: str, shown: list[str]) -> None:
    assert can_be_read(wanted, boxes(*shown))


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ("57", ["579"]),
        ("57", ["-57"]),
        ("57", ["57.2"]),
        ("57", ["1,57"]),
        ("2", ["57.2"]),
        ("total 120 euros", ["total 128 euros"]),
        ("cat", ["concatenate"]),
        ("red", ["reed"]),
        ("save", ["safe"]),
        ("bread", ["breads"]),
        ("we", ["wel"]),
        ("ink", ["link"]),
        ("it wel", ["it we"]),
        ("six", ["sixl"]),
        ("57 apples", ["157 apples"]),
        ("meeting at noon", ["meeting at"]),
        ("", ["anything"]),
        ("word", []),
        ("Call the dentist on Monday", ["Call the dentist on Sunday"]),
        ("The shop closes at six today", ["The shop closes at mix today"]),
        ("version 12345678 of the program", ["version 12345679 of the program"]),
    ],
)
def test_not_read(wanted: str, shown: list[str]) -> None:
    assert not can_be_read(wanted, boxes(*shown))


def test_pieces_of_one_line_are_read_together() -> None:
    line = [TextBox(text=t, x0=x, y0=10, x1=x + 30, y1=22) for t, x in (("milk", 40), ("Buy", 0), ("today", 80))]
    assert can_be_read("Buy milk today", line)
    assert not can_be_read("milk Buy", line)


@given(
    st.text(st.characters(categories=["Lu", "Ll", "Nd"], max_codepoint=0xFF), min_size=1, max_size=30).filter(
        str.isalnum
    )
)
def test_what_is_shown_is_read_and_one_digit_more_is_not(text: str) -> None:
    assert can_be_read(text, boxes("x", text, "y"))
    assert not can_be_read(text, boxes(text + "7"))


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_another_number_is_never_read(one: int, other: int) -> None:
    assert can_be_read(str(one), boxes(str(other))) == (one == other)


@pytest.mark.parametrize(
    ("text", "shown", "read"),
    [
        ("Water the plants twice", "1Water the plants twicel", True),
        ("Water the plants", "12Water the plants", True),
        ("Water", "1Water", False),
        ("12 plants", "312 plants", False),
        ("the plants", "Water1the plants", False),
    ],
)
def test_a_line_number_may_stand_before_a_line(text: str, shown: str, read: bool) -> None:
    assert can_be_read(text, boxes(shown)) is read
