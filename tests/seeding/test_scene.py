"""What is read around a place: a label that the border of the read area cuts is none."""

from __future__ import annotations

from cuamaster.records.trajectory import TextBox
from cuamaster.seeding.scene import uncut


def _box(text: str, x0: float, x1: float) -> TextBox:
    return TextBox(text=text, x0=x0, y0=300, x1=x1, y1=324)


def test_a_label_cut_by_the_border_of_what_is_read_is_no_label() -> None:
    half, field, bar = _box("ar:", 508, 526), _box("milk", 660, 700), _box("le Edit View Hel", 508, 920)
    area = (508, 240, 920, 480)
    assert uncut([half, field], area, 680, 1366) == [field]
    assert uncut([bar], area, 680, 1366) == [bar], "what is under the pointer is named by its words"
    assert uncut([half], area, 300, 1366) == [] and uncut([half], (0, 240, 920, 480), 680, 1366) == [half]
    assert (
        uncut([_box("Nam", 880, 919)], area, 680, 1366) == [] and uncut([_box("Name", 880, 919)], area, 680, 920) != []
    )
