"""One pass over a stretch of a recording: its frames (kept compressed), the pointer in each, and what changed between them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

import cv2
import numpy as np

from cuamaster.ports import Image
from cuamaster.vision.changes import Region, changed_mask, gray, regions, tile_share
from cuamaster.vision.cursor import CursorSample, CursorTracker

LEAST_SHARE = 0.05
"""Of a 32-pixel tile: a change worth looking at. Measured on narrated recordings: actions 0.16 and more, an idle screen 0.016."""
FPS = 10.0
FAINT_SHARE = 0.006
"""A single thin letter; by itself it may be a blinking text cursor, in a row growing to the right it is typing."""
_HOVER_LAG = 0.15  # a highlight under the moving pointer may be drawn this much later


@dataclass(frozen=True)
class Change:
    """What is different at time t from the frame before, the pointer left out."""

    t: float
    regions: tuple[Region, ...]
    share: float
    hovering: bool

    @property
    def pixels(self) -> int:
        """Changed pixels."""
        return sum(region.pixels for region in self.regions)


@dataclass
class Footage:
    """Frames at FPS from t_start to t_end of one recording."""

    width: int = 0
    height: int = 0
    times: list[float] = field(default_factory=list)
    pointer: list[CursorSample] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    marks: list[Change] = field(default_factory=list)
    """All of `changes`, and the faint ones too."""
    _pictures: list[bytes] = field(default_factory=list)

    def frame(self, t: float) -> Image:
        """The frame shown at `t` seconds (RGB); times outside give the first or last one."""
        packed = np.frombuffer(self._pictures[self._index(t)], np.uint8)
        decoded = cv2.imdecode(packed, cv2.IMREAD_COLOR)
        return np.asarray(cv2.cvtColor(np.asarray(decoded, dtype=np.uint8), cv2.COLOR_BGR2RGB), dtype=np.uint8)

    def png(self, t: float) -> bytes:
        """The frame at `t` as PNG bytes."""
        return self._pictures[self._index(t)]

    def pointer_at(self, t: float) -> CursorSample:
        """The pointer at `t` seconds."""
        return self.pointer[self._index(t)]

    def _index(self, t: float) -> int:
        return max(0, bisect_right(self.times, t + 1e-6) - 1)


def watch(frames: Iterable[tuple[float, Image]]) -> Footage:
    """Look once at each (seconds, RGB frame), in time order; equal frames share their bytes."""
    footage, tracker = Footage(), CursorTracker()
    before = None
    moved_at = -1.0
    for t, image in frames:
        grey = gray(image)
        hidden = [tracker.box] if tracker.box else []
        sample = tracker.update(t, grey)
        if tracker.box:
            hidden.append(tracker.box)
        moved_at = t if sample.moved else moved_at
        if before is None:
            footage.height, footage.width = grey.shape
        else:
            mask = changed_mask(before, grey, hidden)
            share = tile_share(mask)
            if share >= FAINT_SHARE:
                change = Change(t, tuple(regions(mask, at_least=4)), share, hovering=t - moved_at <= _HOVER_LAG)
                footage.marks.append(change)
                if share >= LEAST_SHARE:
                    footage.changes.append(change)
        same = before is not None and np.array_equal(before, grey)
        footage._pictures.append(footage._pictures[-1] if same else _packed(image))
        footage.times.append(t)
        footage.pointer.append(sample)
        before = grey
    return footage


def _packed(image: Image) -> bytes:
    _, data = cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_PNG_COMPRESSION, 1])
    return bytes(np.asarray(data).tobytes())
