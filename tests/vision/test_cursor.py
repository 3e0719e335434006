"""The pointer tracker on drawn screens: motion, rests, menus under it, hiding while typing, faint grids, unknown shapes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cuamaster.vision.changes import Gray
from cuamaster.vision.cursor import CursorSample, cursor_track, stops
from cuamaster.vision.cursor_shapes import Template, templates


def _shape(name: str, scale: float = 1.0) -> Template:
    return next(template for template in templates(scale) if template.name == name)


def _with_pointer(screen: Gray, x: int, y: int, template: Template) -> Gray:
    shown = screen.copy()
    x0, y0 = round(x - template.hot_x), round(y - template.hot_y)
    height, width = template.picture.shape
    part = shown[y0 : y0 + height, x0 : x0 + width]
    part[template.mask > 0] = template.picture[template.mask > 0].astype(np.uint8)
    return shown


def _desk() -> Gray:
    screen = np.full((400, 640), 60, np.uint8)
    screen[40:360, 80:560] = 240
    for x in range(100, 540, 40):  # words
        screen[60:70, x : x + 22 : 3] = 20
    return screen


def _path(points: list[tuple[int, int]], steps: int = 6) -> list[tuple[int, int]]:
    way = []
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        way += [(round(x0 + (x1 - x0) * i / steps), round(y0 + (y1 - y0) * i / steps)) for i in range(steps)]
    return [*way, points[-1]]


def _track(frames: list[Gray]) -> list[CursorSample]:
    return cursor_track((i / 10, frame) for i, frame in enumerate(frames))


@pytest.mark.parametrize("name", ["arrow-dark", "arrow-light", "caret-dark", "plus-light", "hand-light"])
@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_a_moving_pointer_is_followed(name: str, scale: float) -> None:
    way = _path([(150, 120), (420, 300), (200, 260)])
    track = _track([_with_pointer(_desk(), x, y, _shape(name, scale)) for x, y in way])
    errors = [np.hypot(s.x - x, s.y - y) for s, (x, y) in zip(track[1:], way[1:], strict=True)]
    assert np.median(errors) <= 2.5 and max(errors) <= 6
    assert all(sample.confidence > 0.7 for sample in track[1:])


def test_a_menu_that_opens_under_the_pointer_does_not_move_it() -> None:
    arrow = _shape("arrow-dark")
    frames = [_with_pointer(_desk(), x, y, arrow) for x, y in _path([(150, 120), (300, 200)])]
    menu = _desk()
    menu[205:330, 290:460] = 252
    for y in range(215, 325, 18):
        menu[y : y + 9, 300:380:3] = 30
    frames += [_with_pointer(menu, 300, 200, arrow)] * 3
    last = _track(frames)[-1]
    assert (last.x, last.y) == pytest.approx((300, 200), abs=2)
    assert not last.moved


def test_a_pointer_hidden_while_typing_stays_and_is_found_again() -> None:
    arrow = _shape("arrow-dark")
    frames = [_with_pointer(_desk(), x, y, arrow) for x, y in _path([(150, 120), (300, 250)])]
    typed = _desk()
    for letter in range(8):
        typed = typed.copy()
        typed[300:311, 120 + 9 * letter : 124 + 9 * letter] = 10
        frames.append(typed)  # no pointer
    frames += [_with_pointer(typed, x, y, arrow) for x, y in _path([(320, 240), (500, 100)])]
    track = _track(frames)
    while_typing = track[7:15]
    assert all((s.x, s.y) == pytest.approx((300, 250), abs=2) and not s.moved for s in while_typing)
    assert (track[-1].x, track[-1].y) == pytest.approx((500, 100), abs=2)


def test_a_pointer_that_left_faint_grid_lines_is_not_seen_in_them() -> None:
    grid = np.full((400, 640), 255, np.uint8)
    grid[::18, :], grid[:, ::80] = 200, 200
    way = _path([(150, 120), (300, 200), (500, 330)])
    track = _track([_with_pointer(grid, x, y, _shape("plus-light")) for x, y in way])
    assert (track[-1].x, track[-1].y) == pytest.approx((500, 330), abs=2)


def test_an_unknown_shape_is_a_guess_with_low_confidence() -> None:
    frames = [_with_pointer(_desk(), x, y, _shape("arrow-dark")) for x, y in [(150, 120), (160, 130)]]
    for x in (260, 330, 400):
        screen = _desk()
        screen[200:214, x : x + 14] = 128  # a grey square
        frames.append(screen)
    last = _track(frames)[-1]
    assert (last.x, last.y) == pytest.approx((400, 200), abs=6)
    assert 0 < last.confidence < 0.5


def test_no_pointer_is_nowhere() -> None:
    track = _track([_desk()] * 5)
    assert all(sample.confidence == 0.0 for sample in track)
    assert stops(track) == []


def test_rests_begin_at_arrival_and_end_when_it_leaves() -> None:
    samples = [CursorSample(i / 10, float(min(i, 3) * 50), 10.0, 0.9, 0 < i <= 3) for i in range(10)]
    samples += [CursorSample(1.0, 300.0, 10.0, 0.9, True), CursorSample(1.1, 300.0, 10.0, 0.9, False)]
    assert [(round(a, 1), round(b, 1), x) for a, b, x, _ in stops(samples)] == [(0.3, 1.0, 150.0)]


def test_what_looks_like_a_pointer_where_one_has_left_does_not_hold_it_back() -> None:
    arrow, other = _shape("arrow-dark"), _shape("arrow-light")
    frames = [_with_pointer(_desk(), x, y, arrow) for x, y in _path([(150, 120), (300, 200)])]
    icon = _with_pointer(_desk(), 300, 200, other)  # in what is drawn where the pointer was
    icon[200:216:5, 298:312] = 120
    way = [(309, 226), (325, 262), (340, 300), (340, 300)]
    last = _track(frames + [_with_pointer(icon, x, y, arrow) for x, y in way])[-4:]
    assert [(sample.x, sample.y) for sample in last] == [pytest.approx(place, abs=3) for place in way]
