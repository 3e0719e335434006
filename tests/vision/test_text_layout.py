"""Words dealt to the stretches they stand in."""

from __future__ import annotations

import numpy as np
import pytest

from cuamaster.records.trajectory import TextBox
from cuamaster.vision.text_layout import gaps, split_label, word_box


def _bar(stretches: list[tuple[int, int]], text: str) -> tuple[np.ndarray, TextBox]:
    image = np.full((40, 400, 3), 240, np.uint8)
    for x0, x1 in stretches:
        image[12:28:2, x0:x1] = 20
    return image, TextBox(text=text, x0=stretches[0][0], y0=10, x1=stretches[-1][1], y1=30, score=0.9)


def test_wide_gaps_part_labels_and_narrow_ones_do_not() -> None:
    image, box = _bar([(10, 40), (70, 120), (125, 165)], "Edit Search View")
    assert [round(b - a) for a, b in gaps(image, box)] == [30, 5]
    parts = split_label(image, box)
    assert [(part.text, part.x0, part.x1) for part in parts] == [("Edit", 10, 40), ("Search View", 70, 165)]
    assert all(part.score == 0.9 for part in parts)


def test_words_go_where_they_fit() -> None:
    image, box = _bar([(10, 90), (130, 150)], "Save As x")
    assert [part.text for part in split_label(image, box)] == ["Save As", "x"]


def test_one_word_and_more_stretches_than_words_stay_whole() -> None:
    image, box = _bar([(10, 40), (80, 120)], "Word")
    assert split_label(image, box) == [box]
    image, box = _bar([(10, 40), (80, 120), (160, 200)], "Two words")
    assert split_label(image, box) == [box]
    assert gaps(image, TextBox(text="x", x0=5, y0=5, x1=7, y1=7)) == []


def test_a_word_of_a_box_by_proportion() -> None:
    box = TextBox(text="Edit View", x0=0, y0=0, x1=90, y1=10)
    part = word_box(box, 5, 9)
    assert (part.text, part.x0, part.x1) == ("View", pytest.approx(50), pytest.approx(90))
