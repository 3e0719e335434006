"""What one moment of a recording shows, per cell of 8 x 8 pixels: repetition, plain ground, ink, straight edges, thin strokes; and its letters.

Screens repeat exactly from frame to frame where nothing happens and are drawn from plain areas, straight edges and small letters; a camera's
noise repeats nowhere and has none of these. Pictures are grey and at most LONGEST pixels long, so limits in pixels mean the same everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from cuamaster.ports import Glimpse, Gray

Cells = npt.NDArray[np.bool_]
"""One truth value a cell, (rows, columns)."""
LONGEST = 960
SMALLEST = 64
"""Pixels of the shorter side; on less there is nothing to look at."""
CELL = 8
_MOVED, _STIRRED = (
    10,
    2,
)  # grey levels: encoders alter still screens by less than the first, still plain ones not even by the second
_FEW = 3  # pixels of a cell
_PLAIN, _INK = 6, 60  # grey levels from the darkest to the lightest pixel of a cell
_EDGE, _RUN = 14, 24  # grey levels across, pixels along
_STROKE, _STROKES, _ROWS = 20, 5, 3
_LETTER = 40  # grey levels from the ground, which is the median over some 40 pixels around
_AROUND = 25  # pixels
_MOST_LETTERS = 1500
_OPEN = 0.35  # share of plain pixels around a letter; leaves and bricks have less


@dataclass(frozen=True)
class Traits:
    """One moment: its time, its last picture, and cells that moved within it, were not exactly repeated, are of one grey, have strong contrast,
    lie on a straight edge, hold thin strokes. `letters`: x, y, height in pixels, one row a letter or run of letters."""

    t: float
    picture: Gray
    moved: Cells
    stirred: Cells
    plain: Cells
    ink: Cells
    straight: Cells
    fine: Cells
    letters: npt.NDArray[np.int32]


def within(picture: Gray) -> Gray:
    """The picture at most LONGEST pixels long."""
    scale = LONGEST / max(picture.shape)
    if scale >= 1:
        return picture
    return np.asarray(cv2.resize(picture, (0, 0), fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)


def traits_of(glimpse: Glimpse) -> Traits:
    """Look at one moment. A single picture counts as repeated."""
    picture = glimpse.pictures[-1]
    delta = np.zeros_like(picture)
    for one, two in pairwise(glimpse.pictures):
        delta = np.maximum(delta, cv2.absdiff(one, two))
    spread = blocks(picture).max(axis=(1, 3)).astype(np.int16) - blocks(picture).min(axis=(1, 3))
    return Traits(
        t=glimpse.t, picture=picture, plain=spread <= _PLAIN, ink=spread >= _INK, fine=_fine(picture), letters=_letters(picture),
        moved=blocks(delta >= _MOVED).sum(axis=(1, 3)) >= _FEW, stirred=blocks(delta >= _STIRRED).sum(axis=(1, 3)) >= _FEW,
        straight=np.asarray(blocks(_straight(picture)).any(axis=(1, 3))),
    )  # fmt: skip


def blocks(picture: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The picture as (rows, CELL, columns, CELL); what is left over at the right and the bottom is left out."""
    rows, columns = picture.shape[0] // CELL, picture.shape[1] // CELL
    return picture[: rows * CELL, : columns * CELL].reshape(rows, CELL, columns, CELL)


def _straight(picture: Gray) -> npt.NDArray[np.bool_]:
    """Pixels of edges that run straight across or down."""
    found = np.zeros(picture.shape, np.uint8)
    for axis, shape in ((1, (_RUN, 1)), (0, (1, _RUN))):
        step = np.abs(np.diff(picture.astype(np.int16), axis=axis)) >= _EDGE
        run = cv2.morphologyEx(step.astype(np.uint8), cv2.MORPH_OPEN, np.ones(shape, np.uint8))
        found[tuple(slice(1, None) if axis == n else slice(None) for n in range(2))] |= np.asarray(run, np.uint8)
    return found > 0


def _fine(picture: Gray) -> Cells:
    """Cells in which the grey goes up and down again along several rows."""
    step = np.zeros(picture.shape, np.int16)
    step[:, 1:] = np.diff(picture.astype(np.int16), axis=1)
    up, down = (blocks(side).sum(axis=3) for side in (step >= _STROKE, step <= -_STROKE))
    turns = np.minimum(up, down)
    return np.asarray(((turns > 0).sum(axis=1) >= _ROWS) & (turns.sum(axis=1) >= _STROKES))


def _letters(picture: Gray) -> npt.NDArray[np.int32]:
    height, width = picture.shape
    small = cv2.resize(picture, (-(-width // 4), -(-height // 4)), interpolation=cv2.INTER_AREA)
    ground = cv2.resize(cv2.medianBlur(small, 11), (width, height), interpolation=cv2.INTER_NEAREST)
    ink = (cv2.absdiff(picture, ground) >= _LETTER).astype(np.uint8)
    _, _, found, middles = cv2.connectedComponentsWithStats(ink, connectivity=8)
    found, middles = found[1:], middles[1:]
    x, y, wide, tall, area = found.T
    fits = (tall >= 4) & (tall <= 0.15 * picture.shape[0]) & (wide <= 14 * tall) & (wide >= 0.15 * tall)
    fits &= (area >= 0.12 * wide * tall) & (area <= 0.9 * wide * tall)
    flat = cv2.morphologyEx(picture, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) <= _PLAIN
    open_ = cv2.blur(flat.astype(np.float32), (2 * _AROUND + 1, 2 * _AROUND + 1)) >= _OPEN
    places = middles.astype(int)
    fits &= open_[places[:, 1], places[:, 0]] if len(places) else False
    return _in_lines(np.stack([x, y, tall], axis=1)[fits][:_MOST_LETTERS].astype(np.int32), wide[fits][:_MOST_LETTERS])


def _in_lines(letters: npt.NDArray[np.int32], wide: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Those that have a neighbour about as tall on the same line: leaves and windows of houses have none."""
    if not len(letters):
        return letters
    x, y, tall = letters.T
    foot = y + tall
    same = np.abs(foot[:, None] - foot) <= np.maximum(2, 0.2 * tall)[:, None]
    same &= np.abs(tall[:, None] - tall) <= np.maximum(2, 0.5 * tall)[:, None]
    apart = x - (x + wide)[:, None]  # from the end of the row's to the begin of the column's
    follows = same & (apart >= -1) & (apart <= 1.5 * tall[:, None])
    return np.asarray(letters[follows.any(axis=0) | follows.any(axis=1)])
