"""Finding named targets among boxes, and naming what is at a point: the same rules both ways."""

from __future__ import annotations

import pytest

from cuamaster.records.trajectory import Target, TextBox, Window
from cuamaster.vision.grounding import Grounded, find_all, find_target
from cuamaster.vision.naming import name_at, text_at

SCREEN = (1280, 800)


def _box(text: str, x: float, y: float, score: float = 0.99) -> TextBox:
    return TextBox(text=text, x0=x, y0=y, x1=x + 8 * len(text), y1=y + 18, score=score)


def _target(text: str = "", **more: object) -> Target:
    return Target.model_validate({"text": text, **more})


def _pixel(place: Grounded | None) -> tuple[float, float]:
    assert place is not None
    return place.x * SCREEN[0] / 1000, place.y * SCREEN[1] / 1000


MENU = [
    _box("File", 190, 84), _box("Edit", 230, 84), _box("Save", 205, 236), _box("Ctrl+S", 420, 236),
    _box("Save As... Shift+Ctrl+S", 205, 262), _box("Save All", 205, 288),
]  # fmt: skip


def test_the_exact_label_wins_over_longer_ones() -> None:
    assert _pixel(find_target(MENU, _target("Save", role="menuitem"), SCREEN)) == pytest.approx((221, 245), abs=2)
    assert _pixel(find_target(MENU, _target("Save As", role="menuitem"), SCREEN))[1] == pytest.approx(271, abs=2)


def test_a_button_is_not_taken_for_a_longer_label_it_begins() -> None:
    assert (
        find_target([_box("Save the whole document as a copy", 200, 200)], _target("Save", role="button"), SCREEN)
        is None
    )


def test_what_is_not_there_is_none() -> None:
    assert find_target(MENU, _target("Quit"), SCREEN) is None
    assert find_target([], _target("Quit"), SCREEN) is None
    assert find_target(MENU, _target("Save", nth=2, role="menuitem"), SCREEN) is None


def test_equal_labels_are_told_apart() -> None:
    boxes = [_box("Open", 100, 100), _box("Open", 100, 500), _box("Pictures", 200, 500)]
    first, second = (find_target(boxes, _target("Open", nth=n), SCREEN) for n in (1, 2))
    assert _pixel(first)[1] < _pixel(second)[1]
    assert _pixel(find_target(boxes, _target("Open", near="Pictures"), SCREEN))[1] == pytest.approx(509, abs=2)
    window = Window(app="a", title="t", x=0, y=400, width=600, height=300)
    assert _pixel(find_target(boxes, _target("Open"), SCREEN, window))[1] == pytest.approx(509, abs=2)
    assert _pixel(find_target(boxes, _target("Open", role="button"), SCREEN))[1] == pytest.approx(509, abs=2)
    assert _pixel(find_target(boxes, _target("Open", role="menu"), SCREEN))[1] == pytest.approx(109, abs=2)


def test_a_label_read_in_pieces_is_put_together_and_one_in_a_longer_line_is_cut_out() -> None:
    pieces = [_box("Find", 100, 100), _box("and", 138, 101), _box("Replace", 168, 100), _box("Far", 600, 100)]
    assert _pixel(find_target(pieces, _target("Find and Replace"), SCREEN))[0] == pytest.approx(162, abs=3)
    line = [_box("Edit Search View", 100, 100)]
    assert _pixel(find_target(line, _target("Search"), SCREEN))[0] == pytest.approx(100 + 8 * 8, abs=4)


def test_a_field_lies_beside_its_label_and_a_cell_at_its_crossing() -> None:
    assert _pixel(find_target([_box("Name:", 100, 100)], _target("Name", role="field"), SCREEN))[0] > 160
    assert _pixel(find_target([_box("Search here", 100, 100)], _target("Search here", role="field"), SCREEN))[0] < 190
    sheet = [_box("A", 176, 220), _box("B", 257, 220), _box("1", 100, 240), _box("2", 100, 258), _box("B2", 60, 180)]
    assert _pixel(find_target(sheet, _target("B2", role="cell"), SCREEN)) == pytest.approx((261, 267), abs=2)


def test_a_bare_place_stays_inside_the_window_and_off_what_is_listed() -> None:
    window = Window(app="files", title="home", x=800, y=100, width=400, height=400)
    inside = _pixel(find_target([], _target(role="area", at=(0.7, 0.3)), SCREEN, window))
    assert inside == pytest.approx((896, 240), abs=2)
    moved = _pixel(find_target([], _target(role="area", at=(0.1, 0.9)), SCREEN, window))
    assert 800 <= moved[0] <= 1200 and 100 <= moved[1] <= 500
    icon = [_box("Documents", 960, 340)]
    free = _pixel(find_target(icon, _target(role="area"), SCREEN, window))
    assert not (930 < free[0] < 1060 and 280 < free[1] < 382)
    assert find_target([], _target(), SCREEN) is None


def test_naming_prefers_what_is_under_the_pointer_then_beside_then_an_icons_caption() -> None:
    boxes = [_box("Desktop", 260, 250), _box("reports", 700, 250), _box("Wrap text", 440, 560)]
    assert text_at(boxes, 280, 258) == boxes[0]
    assert text_at(boxes, 424, 569) == boxes[2]
    assert text_at(boxes, 729, 225) == boxes[1]
    assert text_at(boxes, 1000, 700) is None


def test_a_name_finds_its_place_again() -> None:
    for box in MENU:
        target = name_at(MENU, *box.center, SCREEN)
        if target.text:
            assert _pixel(find_target(MENU, target, SCREEN)) == pytest.approx(box.center, abs=3), box.text
    twice = [_box("Open", 100, 100), _box("Open", 100, 500)]
    assert name_at(twice, 110, 508, SCREEN).nth == 2
    assert name_at([], 640, 400, SCREEN, role="area").at == (0.5, 0.5)
    assert name_at(MENU, 215, 271, SCREEN).text == "Save As"


def test_all_places_come_best_first() -> None:
    boxes = [_box("Colours", 100, 300), _box("Colors", 100, 100), _box("Colors", 100, 200)]
    assert [round(_pixel(place)[1]) for place in find_all(boxes, _target("Colors"), SCREEN)] == [110, 210, 310]


def test_a_field_is_named_by_the_label_on_its_row() -> None:
    labels = [
        TextBox(text="Replace with:", x0=398, y0=312, x1=496, y1=336),
        TextBox(text="Wrap around", x0=621, y0=348, x1=717, y1=374),
    ]
    named = name_at(labels, 638, 324, (1280, 800), role="field")
    assert named.text == "Replace with:"
    found = find_target(labels, named.model_copy(update={"at": None}), (1280, 800))
    assert found is not None
    assert found.x > 1000 * 496 / 1280
    assert name_at(labels, 640, 361, (1280, 800), role="checkbox").text == "Wrap around"


def test_a_misread_menu_is_found_in_the_menu_bar_of_its_window_only() -> None:
    bar = TextBox(text="Eile Edit View", x0=193, y0=112, x1=310, y1=134)
    inside = Window(app="files", title="home", x=190, y=91, width=900, height=585)
    found = find_target([bar], Target(text="File", role="menu"), (1280, 800), inside)
    assert found is not None
    assert found.x < 1000 * 240 / 1280
    assert find_target([bar], Target(text="Tools", role="menu"), (1280, 800), inside) is None
    below = inside.model_copy(update={"y": 300})
    assert find_target([bar], Target(text="File", role="menu"), (1280, 800), below) is None
