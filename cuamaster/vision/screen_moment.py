"""What one moment of a recording shows: a screen, slides, nothing, or something else; and whether that moves as cameras and games do."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from cuamaster.records.video import PixelBox
from cuamaster.vision.screen_traits import CELL, Cells, Traits

Moment = Literal["screen", "slides", "blank", "other"]

# Limits were chosen on the tuned families and seeds of benchmarks/footage (see make.py there), the bundled tutorials, gnumeric-budget and the
# development recordings of benchmarks/recordings; docs/open-world.md reports the others.
MOVING, CHANGING = 0.5, 0.7
"""Share of cells that stir in a moment that is all motion, and share of these that move when it is windows that open; noise stirs more than moves."""
RESTING = 0.15
"""A screen that is not being changed stirs less; some of a recording's screens do."""
PLAIN, STRAIGHT, FINE = 0.2, 0.055, 0.012
"""Shares of cells: screens have plain ground, and straight edges (camera pictures .00-.04, screens .07-.6) or, without windows, thin strokes."""
LETTERS, LARGE, LARGER = 8, 0.0185, 0.026
"""From so many letters on their median height tells: on screens .010-.015 of the screen's height, on slides .022-.031. Among straight edges
larger ones are needed for a slide: screens are blown up, and slides seldom have windows (.015-.042 of the cells)."""
SMALL = 360
"""Pixels: of a lower picture the letters are measured as if it were so high. It is a small screen, or has letters that cannot be read at all."""
SLIDE_STIRS = 0.05
"""Share of cells that stir at most while a slide is shown; large letters among windows that stir more are a screen blown up."""
EMPTY_PLAIN, EMPTY_INK = 0.985, 0.004
"""Shares of plain cells and of cells with ink: nothing, or a title."""


def shows(item: Traits, area: Cells, region: PixelBox) -> Moment:
    """What is seen in `area`, the cells of the screen at `region` (pixels of the moment's picture) that no camera covers."""
    plain, stirred, moved = (float(part[area].mean()) for part in (item.plain, item.stirred, item.moved))
    if plain >= EMPTY_PLAIN and item.ink[area].mean() <= EMPTY_INK:
        return "blank"
    letters = _letters(item, area)
    windows = item.straight[area].mean() >= STRAIGHT
    if plain < PLAIN or (stirred > MOVING and not (windows and moved >= CHANGING * stirred)):
        return "other"
    limit = (LARGER if windows else LARGE) * max(SMALL, region[3] - region[1])
    large = len(letters) >= LETTERS and np.median(letters) >= limit
    if large and not (windows and stirred > SLIDE_STIRS):
        return "slides" if stirred <= SLIDE_STIRS else "other"
    written = len(letters) >= LETTERS and item.fine[area].mean() >= FINE
    return "screen" if windows or written else "other"


def _letters(item: Traits, area: Cells) -> npt.NDArray[np.int32]:
    """Heights of the letters inside the area."""
    rows = np.minimum(item.letters[:, 1] // CELL, area.shape[0] - 1)
    columns = np.minimum(item.letters[:, 0] // CELL, area.shape[1] - 1)
    return np.asarray(item.letters[area[rows, columns], 2])
