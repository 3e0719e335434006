"""Where in a recording's picture the screen is: bars are cut off, and a presenter's camera is found by what never repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from cuamaster.ports import Gray
from cuamaster.records.video import PixelBox
from cuamaster.vision.screen_traits import CELL, Cells, Traits

_SOFT = 14
"""Grey levels between neighbours that no pixel of a bar reaches, plain or blurred."""
_BORDER, _ALONG, _ENDS = 10, 0.5, 0.02
"""A bar ends at a step of so many grey levels along this share of its length, and if it is plain also of its two ends, in most moments: a
window on an empty desktop stops before the ends."""
_LEAST_BAR, _MOST_BAR = 0.04, 0.36
"""Of the picture's width or height, on each side: 16:10 in 16:9 leaves 0.05, a wide screen in a tall frame 0.36."""
_UNEVEN = 0.02
"""By which bars of a pair may differ."""
LIVE = 0.75
"""Share of the quiet moments in which a cell of a camera picture stirs."""
_LEAST_CAMERA, _MOST_CAMERA, _LEAST_SIDE, _FILLED = 0.006, 0.5, 0.06, 0.55
"""Area and shorter side of a camera picture, of the screen's, and how much of its rectangle is live."""
_NEAR, _BORDERING = 0.12, 0.05
"""Of the screen's sides: camera pictures lie in a corner, so near to both borders, and nearer to one of them."""
_WHOLE = 0.9
"""Of the screen's side: a camera picture as long as this stands beside the screen, not on it."""
_SEEK = 20  # pixels around the live cells in which the camera picture's frame is looked for


@dataclass(frozen=True)
class Layout:
    """In pixels of the small pictures: the screen, and a camera picture on it."""

    region: PixelBox
    camera: PixelBox | None

    def cells(self, shape: tuple[int, int]) -> Cells:
        """The cells of the screen that no camera covers, in a grid of (rows, columns)."""
        found = np.zeros(shape, np.bool_)
        x0, y0, x1, y1 = self.region
        found[-(-y0 // CELL) : y1 // CELL, -(-x0 // CELL) : x1 // CELL] = True
        if self.camera is not None:
            x0, y0, x1, y1 = self.camera
            found[y0 // CELL : -(-y1 // CELL), x0 // CELL : -(-x1 // CELL)] = False
        return found


def layout_of(quiet: Sequence[Traits]) -> Layout:
    """From the moments in which not everything moves, at least one."""
    region = without_bars([item.picture for item in quiet])
    camera = camera_in(quiet, region)
    if camera is None:
        return Layout(region, None)
    x0, y0, x1, y1 = region
    left, top, right, bottom = camera
    if bottom - top >= _WHOLE * (y1 - y0):
        beside = (right, y0, x1, y1) if left - x0 < x1 - right else (x0, y0, left, y1)
        return Layout(beside, None)
    if right - left >= _WHOLE * (x1 - x0):
        beside = (x0, bottom, x1, y1) if top - y0 < y1 - bottom else (x0, y0, x1, top)
        return Layout(beside, None)
    return Layout(region, camera)


def without_bars(pictures: Sequence[Gray]) -> PixelBox:
    """The picture without an even pair of bars above and below, or left and right.

    Bars on all four sides stay: a window in the middle of an empty desktop looks the same.
    """
    height, width = pictures[0].shape
    rows = _bars(pictures)
    columns = _bars([picture.T for picture in pictures])
    if (rows is None) == (columns is None):
        return 0, 0, width, height
    if rows is not None:
        return 0, rows[0], width, rows[1]
    return (columns[0], 0, columns[1], height) if columns else (0, 0, width, height)


def _bars(pictures: Sequence[Gray]) -> tuple[int, int] | None:
    """First and last row (exclusive) between two bars, or None."""
    length = pictures[0].shape[0]
    steps = np.zeros(pictures[0].shape, np.uint8)
    for picture in pictures:
        grown = cv2.morphologyEx(np.ascontiguousarray(picture), cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8))
        steps = np.maximum(steps, grown)
    busy = np.flatnonzero((steps > _SOFT).mean(axis=1) > 0.002)
    if busy.size == 0:
        return None
    first, last = int(busy[0]), int(busy[-1]) + 1
    before, after = first, length - last
    least, most = _LEAST_BAR * length, _MOST_BAR * length
    if not (least <= min(before, after) and max(before, after) <= most and abs(before - after) <= _UNEVEN * length + 2):
        return None
    plain = all(int(np.ptp(part)) <= _SOFT for picture in pictures for part in (picture[:first], picture[last:]))
    if plain and any(abs(int(picture[0, 0]) - int(picture[-1, -1])) > _SOFT for picture in pictures):
        return None  # a title line and a status line
    begins, ends = (_ends(pictures, edge, to_the_ends=plain) for edge in (first, last))
    if begins != ends:  # one of them is a title line in the colour of the bars: the other tells where it is
        return (first, length - first) if begins else (length - last, last)
    return (first, last) if begins else None


def _ends(pictures: Sequence[Gray], edge: int, *, to_the_ends: bool) -> bool:
    """Whether the picture begins or ends at a row along most of its length, in most moments."""
    near = [picture[max(0, edge - 3) : edge + 3].astype(np.int16) for picture in pictures]
    steps = [np.abs(part[-1] - part[0]) >= _BORDER for part in near]
    end = max(1, round(_ENDS * pictures[0].shape[1]))
    along = np.median([[step.mean(), step[:end].mean(), step[-end:].mean()] for step in steps], axis=0)
    return bool((along.min() if to_the_ends else along[0]) >= _ALONG)


def camera_in(quiet: Sequence[Traits], region: PixelBox) -> PixelBox | None:
    """The rectangle in a corner or along a side of the screen in which hardly a cell ever repeats, or None. Fewer than three moments tell nothing."""
    if len(quiet) < 3:
        return None
    x0, y0, x1, y1 = region
    live = (np.mean([item.stirred for item in quiet], axis=0) >= LIVE).astype(np.uint8)
    inside = Layout(region, None).cells(live.shape)
    margin = 4  # cells; without it closing would grow what lies near the picture's border up to it
    wide_live = cv2.copyMakeBorder(live * inside, margin, margin, margin, margin, cv2.BORDER_CONSTANT, value=0)
    closed = cv2.morphologyEx(wide_live, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    closed = cv2.morphologyEx(closed, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))[margin:-margin, margin:-margin]
    _, _, found, _ = cv2.connectedComponentsWithStats(np.asarray(closed, np.uint8), connectivity=4)
    if len(found) < 2:
        return None
    name = 1 + int(np.argmax(found[1:, cv2.CC_STAT_AREA]))
    column, row, wide, tall, area = (int(value) for value in found[name])
    box = (column * CELL, row * CELL, (column + wide) * CELL, (row + tall) * CELL)
    if not _LEAST_CAMERA <= area / inside.sum() <= _MOST_CAMERA or area < _FILLED * wide * tall:
        return None
    if min(wide * CELL / (x1 - x0), tall * CELL / (y1 - y0)) < _LEAST_SIDE:
        return None
    gaps = (min(box[0] - x0, x1 - box[2]) / (x1 - x0), min(box[1] - y0, y1 - box[3]) / (y1 - y0))
    if max(gaps) > _NEAR or min(gaps) > _BORDERING:
        return None
    return _framed(box, region, [item.picture for item in quiet])


def _framed(box: PixelBox, region: PixelBox, pictures: Sequence[Gray]) -> PixelBox:
    """The box with each side moved to the strongest lasting edge near it, or to the region's border if it almost lies there."""
    mean = np.mean([picture.astype(np.float32) for picture in pictures], axis=0)
    x0, y0, x1, y1 = box
    left = _edge(mean[y0:y1], x0, region[0], region[2])
    right = _edge(mean[y0:y1], x1, region[0], region[2])
    top = _edge(mean[:, x0:x1].T, y0, region[1], region[3])
    bottom = _edge(mean[:, x0:x1].T, y1, region[1], region[3])
    return left, top, max(left + 1, right), max(top + 1, bottom)


def sharpened(region: PixelBox, frame: Gray, reach: int) -> PixelBox:
    """The region of a whole frame with each side at the outermost strong edge within `reach` pixels; sides at the frame's border stay."""
    height, width = frame.shape
    x0, y0, x1, y1 = region
    across, down = frame[y0:y1].astype(np.float32), frame[:, x0:x1].T.astype(np.float32)
    return (
        _outermost(across, x0, width, reach)[0], _outermost(down, y0, height, reach)[0],
        _outermost(across, x1, width, reach)[-1], _outermost(down, y1, height, reach)[-1],
    )  # fmt: skip


def _outermost(lines: npt.NDArray[np.float32], at: int, length: int, reach: int) -> list[int]:
    """Where steps are at least half as strong as the strongest, near `at`."""
    if at <= 0 or at >= length:
        return [min(max(at, 0), length)]
    low, high = max(1, at - reach), min(length, at + reach + 1)
    steps = np.abs(np.diff(lines[:, low - 1 : high], axis=1)).mean(axis=0)
    return [low + int(index) for index in np.flatnonzero(steps >= steps.max() / 2)]


def _edge(mean: npt.NDArray[np.float32], at: int, first: int, last: int) -> int:
    if at - first < CELL:
        return first
    if last - at < CELL:
        return last
    low, high = max(first + 1, at - _SEEK), min(last, at + _SEEK)
    steps = np.median(np.abs(np.diff(mean[:, low - 1 : high], axis=1)), axis=0)
    best = int(np.argmax(steps))
    return low + best if steps[best] >= _BORDER / 2 else at
