"""What a recording shows, judged from a few small grey moments of it: a screen, or a camera, a game, slides, a drawing, one picture, nothing."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from cuamaster.ports import Glimpse
from cuamaster.vision.screen_moment import RESTING, Moment, shows
from cuamaster.vision.screen_region import Layout, layout_of
from cuamaster.vision.screen_traits import Cells, Traits, blocks, traits_of

Kind = Literal["screen", "camera", "game", "slides", "animation", "still-picture", "blank"]

# Limits were chosen as those of vision/screen_moment.py were.
QUIET = 0.6
"""Share of cells that stir at most in a moment from which the screen's place is read; a presenter may fill half of the picture."""
RESTS = 0.2
"""Least share of resting moments among those that look like a screen: an animation never rests."""
LEAST_SHARE, BESIDE_SLIDES = 0.25, 0.5
"""Of the moments, and of those with slides; less screen than this is a screen shown in passing."""
STILL, DIFFERENT = 0.001, 20
"""Share of cells that differ, by so many grey levels, between moments of one and the same picture."""
NOISY = 0.3
"""Share of the plain cells that stir: a camera's noise is everywhere."""
STATUS, LASTING = 6, 0.5
"""So many cells with ink that repeat in this share of the moments, while the rest moves: what games show of score and health."""


@dataclass(frozen=True)
class Seen:
    """What the moments show: where the screen is (in pixels of the small pictures), each moment, and what the whole is."""

    moments: tuple[Traits, ...]
    layout: Layout
    shows: tuple[Moment, ...]
    kind: Kind

    @property
    def share(self) -> float:
        """Of the moments that show a screen."""
        return self.shows.count("screen") / len(self.shows)


def look(glimpses: Sequence[Glimpse]) -> Seen:
    """Judge the glimpses of one recording, at least one."""
    found = tuple(traits_of(item) for item in glimpses)
    height, width = found[0].picture.shape
    quiet = [item for item in found if item.stirred.mean() <= QUIET]
    layout = layout_of(quiet) if quiet else Layout((0, 0, width, height), None)
    area = layout.cells(found[0].plain.shape)
    shown = tuple(shows(item, area, layout.region) for item in found)
    return Seen(found, layout, shown, _kind(found, shown, area))


def _kind(found: Sequence[Traits], told: Sequence[Moment], area: Cells) -> Kind:
    """A screen if enough moments show one and it rests now and then; else what moves, or what is shown most of the time."""
    count = Counter(told)
    pairs = itertools.pairwise(found)
    if len(found) > 1 and count["blank"] < len(found) and all(_difference(*pair, area) <= STILL for pair in pairs):
        return "still-picture"
    screens = [item for item, shown in zip(found, told, strict=True) if shown == "screen"]
    if len(screens) >= max(LEAST_SHARE * len(found), BESIDE_SLIDES * count["slides"]):
        resting = sum(item.stirred[area].mean() <= RESTING for item in screens)
        return "screen" if resting >= RESTS * len(screens) else _moving(found, told)
    del count["screen"]
    most = count.most_common(1)[0][0] if count else "other"
    if most in ("slides", "blank"):
        return "slides" if most == "slides" else "blank"
    return _moving(found, told)


def _moving(every: Sequence[Traits], told: Sequence[Moment]) -> Kind:
    """What it is that moves: a game has lasting signs on its picture, a camera's noise stirs plain walls too, drawings do neither."""
    found = [item for item, shown in zip(every, told, strict=True) if shown == "other"] or every
    signs = np.mean([~item.stirred & (item.ink | item.straight) for item in found], axis=0) >= LASTING
    stirred = float(np.median([item.stirred.mean() for item in found]))
    noise = float(np.median([item.stirred[item.plain].mean() if item.plain.any() else 1.0 for item in found]))
    if signs.sum() >= STATUS and stirred >= RESTING:
        return "game"
    return "camera" if noise >= NOISY else "animation"


def _difference(one: Traits, two: Traits, area: Cells) -> float:
    """Share of cells in which two moments differ."""
    differs = np.asarray(blocks(cv2.absdiff(one.picture, two.picture) >= DIFFERENT).any(axis=(1, 3)))
    return float(differs[area].mean())
