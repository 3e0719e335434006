"""Chapters are read as sites and files list them, and believed only where the speech bears them out."""

from __future__ import annotations

import pytest

from cuamaster.records.chapters import Chapter, borne_out, described_chapters, listed_chapters
from cuamaster.records.speech import spread
from cuamaster.records.transcript import Word

TEXT = "A course.\n\n0:00 Intro\n▶ 01:12 - Save a file\n(1:02:03) Print it\nhttps://x.example"
SENTENCES = ((0.0, 9.0, "Hello and welcome."), (10.0, 28.0, "We save a file."), (30.0, 50.0, "Then we print a page."))


def words() -> list[Word]:
    return [word for start, end, text in SENTENCES for word in spread(text, start, end)]


def chapters(*marks: tuple[float, str]) -> tuple[Chapter, ...]:
    return tuple(Chapter(t_start=t, title=title) for t, title in marks)


def test_a_description_lists_chapters() -> None:
    found = described_chapters(TEXT)
    assert [(item.t_start, item.title) for item in found] == [(0, "Intro"), (72, "Save a file"), (3723, "Print it")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0:00 Intro\n0:30 One",
        "0:10 a\n0:20 b\n0:30 c",
        "0:00 a\n0:20 b\n0:20 c",
        "Recorded 10:30 at home",
        "0:00\n0:10\n0:20",
    ],
)
def test_other_times_are_no_chapters(text: str) -> None:
    assert described_chapters(text) == ()


def test_rows_of_sites_and_files() -> None:
    rows = [
        {"start_time": 61.5, "end_time": 90, "title": " Two  words "}, {"start_time": "0.000000", "tags": {"title": "Start"}}, {"start_time": None, "title": "x"},
        {"title": "x"}, {"start_time": -1, "title": "x"}, {"start_time": "nan", "title": "x"}, {"start_time": 5}, "x", {"start_time": 5, "tags": []},
    ]  # fmt: skip
    assert [(item.t_start, item.title) for item in listed_chapters(rows)] == [(0.0, "Start"), (61.5, "Two words")]
    assert listed_chapters([{"start_time": n, "title": "x"} for n in range(5000)]) == ()
    assert listed_chapters(None) == listed_chapters("x") == ()


def test_true_chapters_are_believed_and_wrong_ones_are_not() -> None:
    pauses = [(0.0, 0.0), (9.0, 10.0), (28.0, 30.0)]
    assert borne_out(chapters((0, "Intro"), (9, "Saving a file"), (29, "Printing")), words(), pauses)
    assert not borne_out(chapters((0, "Intro"), (18, "Saving a file"), (40, "Printing")), words(), pauses), (
        "inside sentences"
    )
    assert not borne_out(chapters((0, "Intro"), (9, "Tables"), (29, "Macros")), words(), pauses), "nobody speaks of it"
    assert not borne_out((), words(), pauses) and not borne_out(chapters((0, "Intro")), words(), pauses)


@pytest.mark.parametrize(
    ("title", "paid"),
    [("Sponsor", True), ("Werbung", True), ("A word from our partner", True), ("广告", True), ("Add a row", False)],
)
def test_paid_chapters(title: str, paid: bool) -> None:
    assert Chapter(t_start=1, title=title).paid is paid
