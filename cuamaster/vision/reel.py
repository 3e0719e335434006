"""A whole recording at a glance: frames a few times a minute or second, kept compressed, and what changed between them.

It tells whether anything is operated and where the interface gives way to another picture; what that picture is, is judged as the screen gate judges moments.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, overload

import cv2
import numpy as np

from cuamaster.ports import Glimpse, Gray, Image
from cuamaster.vision.changes import TILE, Mask, Region, changed_mask, gray, regions
from cuamaster.vision.screen_moment import RESTING, shows
from cuamaster.vision.screen_traits import SMALLEST, traits_of, within

POINTER = 44
"""Pixels: a pointer is no larger."""
_CARET = 4
_SPECK = 8
_MUCH = 0.1  # of all tiles
_EDGE = 0.05  # of the height: a panel of 30 of 768 pixels
CUT_SHARE = 0.7
"""Of all tiles: more than that changes at once only when another picture is shown. A large file dialog has .6, slides have 1."""
MIN_DEAD_S = 3.0
"""A picture shown for less is a flash between two windows, not a slide."""
LOOKS = 4
"""Moments of a shot that must all be no screen: one of them may be a large picture in a program."""


class Change(NamedTuple):
    """What is different at `t` seconds from the frame before: the share of 32-pixel tiles, and whether it is more than a pointer."""

    t: float
    share: float
    operated: bool

    @property
    def cut(self) -> bool:
        """Another picture altogether."""
        return self.share >= CUT_SHARE


class _Shot(NamedTuple):
    start: float
    end: float
    quiet: bool


class Reel(Sequence[tuple[float, Image]]):
    """(seconds, RGB frame) pairs in time order, decoded on access; `changes` has one entry for every frame but the first."""

    def __init__(self, frames: Iterable[tuple[float, Image]]) -> None:
        """Reads each frame once; frames that look the same share their bytes."""
        self.times: list[float] = []
        self.changes: list[Change] = []
        self._packed: list[bytes] = []
        self._pointer: list[Region] = []
        before: Gray | None = None
        for t, image in frames:
            grey = gray(image)
            same = before is not None and before.shape == grey.shape and np.array_equal(before, grey)
            if before is not None:
                self.changes.append(Change(t, 0.0, False) if same else self._change(t, before, grey))
            self._packed.append(self._packed[-1] if same else _jpeg(image))
            self.times.append(t)
            before = grey

    def _change(self, t: float, before: Gray, after: Gray) -> Change:
        if before.shape != after.shape:
            return Change(t, 1.0, True)
        mask = changed_mask(before, after)
        if not mask.any():
            return Change(t, 0.0, False)
        share = _tiles(mask)
        return Change(t, share, share >= _MUCH or self._operated(regions(mask, at_least=_SPECK), mask.shape[0]))

    def _operated(self, changed: Sequence[Region], height: int) -> bool:
        """Whether it is more than a pointer, a text cursor or a panel's clock. Remembers where the pointer may be.

        A pointer that moves leaves two spots; a single one away from where the pointer is known to be is a letter or a digit.
        """
        spots = [region for region in changed if region.width > _CARET and not _clock(region, height)]
        if len(spots) > 2 or any(not _like_pointer(region) for region in spots):
            return True
        known = self._pointer
        if len(spots) == 1 and len(known) == 1 and _next_letter(known[0], spots[0]):
            self._pointer = spots
            return True
        if len(spots) == 1 and known and all(spots[0].gap(*_middle(place)) > POINTER for place in known):
            return True
        self._pointer = spots or known
        return False

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, index: int) -> tuple[float, Image]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[float, Image]]: ...
    def __getitem__(self, index: int | slice) -> tuple[float, Image] | list[tuple[float, Image]]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        decoded = np.asarray(cv2.imdecode(np.frombuffer(self._packed[index], np.uint8), cv2.IMREAD_COLOR), np.uint8)
        return self.times[index], np.asarray(cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB), np.uint8)

    @property
    def step(self) -> float:
        """Seconds between two frames."""
        return self.times[1] - self.times[0] if len(self.times) > 1 else 0.0

    def operated(self, start: float, end: float) -> list[float]:
        """Times in [start, end], seconds, at which more than a pointer had changed; what comes and goes in `dead` spans is left out."""
        return [c.t for c in self._between(start, end) if c.operated and not any(a <= c.t <= b for a, b in self.dead)]

    @cached_property
    def dead(self) -> list[tuple[float, float]]:
        """Spans, seconds, in which another picture is shown (slide, title card, film, presenter): nothing is operated, or everything moves.

        After it the screen is as it was before; or it is the one picture that opens or closes the recording; or it is a slide or a camera's
        picture by its looks. A program that fills the screen with one picture after another shows no slides. A recording without a cut has
        none, however still it is.
        """
        shots = self._shots()
        spans: list[tuple[float, float]] = []
        at = 0
        while at < len(shots) > 1:
            start, end, quiet = shots[at]
            back = self._back(shots, at) if quiet and at else len(shots)
            beside = [shot.quiet for shot in shots[max(0, at - 1) : at + 2]]
            lone = at in (0, len(shots) - 1) and beside.count(True) == 1 and end - start > 1.5 * self.step
            if quiet and back < len(shots):
                spans.append((start, shots[back].start))
                at = back
                continue
            if (quiet and lone) or self._elsewhere(shots[at]):
                spans.append((start, end))
            at += 1
        return [span for span in spans if span[1] - span[0] >= MIN_DEAD_S]

    def _shots(self) -> list[_Shot]:
        """What lies between cuts, and whether nothing is operated in it."""
        edges = [self.times[0], *(c.t for c in self.changes if c.cut), self.times[-1]] if self.times else []
        return [
            _Shot(a, b, not any(c.operated and not c.cut for c in self._between(a + 1e-6, b)))
            for a, b in pairwise(edges)
            if b > a
        ]

    def _back(self, shots: Sequence[_Shot], at: int) -> int:
        """The first shot after quiet ones that shows what was shown before shot `at`; len(shots) if none."""
        before = gray(self[bisect_left(self.times, shots[at].start) - 1][1])
        for later in range(at + 1, len(shots)):
            after = gray(self[bisect_left(self.times, shots[later].start)][1])
            if before.shape == after.shape and _tiles(changed_mask(before, after)) < CUT_SHARE:
                return later
            if not shots[later].quiet:
                break
        return len(shots)

    def _elsewhere(self, shot: _Shot) -> bool:
        """Whether the shot is none of a screen: slides that nobody operates, or something else that never rests."""
        if shot.end - shot.start < MIN_DEAD_S:
            return False
        first, last = bisect_left(self.times, shot.start), bisect_left(self.times, shot.end) - 1
        places = {first + (last - first) * step // LOOKS for step in range(LOOKS)}
        return all(self._no_screen(place, min(place + 1, last), shot.quiet) for place in sorted(places))

    def _no_screen(self, one: int, two: int, quiet: bool) -> bool:
        pictures = tuple(within(gray(self[place][1])) for place in (one, two))
        height, width = pictures[0].shape
        if min(height, width) < SMALLEST:
            return False
        traits = traits_of(Glimpse(self.times[one], pictures))
        shown = shows(traits, np.ones_like(traits.plain), (0, 0, width, height))
        return (shown == "slides" and quiet) or (shown == "other" and bool(traits.stirred.mean() > RESTING))

    def _between(self, start: float, end: float) -> list[Change]:
        return self.changes[bisect_left(self.changes, (start,)) : bisect_right(self.changes, (end, 2.0))]


def _tiles(mask: Mask) -> float:
    """Share of the 32-pixel tiles in which a pixel changed."""
    height, width = (size // TILE * TILE for size in mask.shape)
    if not height or not width:
        return 1.0
    tiles = mask[:height, :width].reshape(height // TILE, TILE, width // TILE, TILE).max(axis=(1, 3))
    return float(np.mean(tiles > 0))


def _like_pointer(region: Region) -> bool:
    """A spot as a pointer leaves it; words are wider than high."""
    return region.width <= POINTER and region.height <= POINTER and region.height >= 0.8 * region.width


def _next_letter(before: Region, after: Region) -> bool:
    """Exactly beside the spot before, to the right: slow typing."""
    level = abs(after.y0 - before.y0) <= _CARET and abs(after.y1 - before.y1) <= _CARET
    return level and 0 < after.x0 - before.x0 <= POINTER


def _middle(region: Region) -> tuple[float, float]:
    return (region.x0 + region.x1) / 2, (region.y0 + region.y1) / 2


def _clock(region: Region, height: int) -> bool:
    """A little something in a panel at the upper or lower edge, which changes by itself."""
    at_edge = region.y1 <= _EDGE * height or region.y0 >= (1 - _EDGE) * height
    return at_edge and region.width <= 2 * POINTER


def _jpeg(image: Image) -> bytes:
    _, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 90])
    return bytes(np.asarray(data).tobytes())
