"""Where the pointer is in each frame, with a confidence: drawn shapes are looked for only where pixels have just changed.

A pointer that did not move leaves no change, so its place carries over at no cost; one that moved leaves a change where it was
and another where it is now. Where no shape fits (a themed or rescaled pointer) the changed spot itself is the answer, with low confidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from cuamaster.ports import Gray
from cuamaster.vision.changes import Mask, Region, changed_mask, regions
from cuamaster.vision.cursor_shapes import Template, templates

SCALES = (1.0, 1.5, 2.0, 1.33, 0.8, 0.67)
_SURE = 0.68
_SMALL, _SURE_SMALL = 0.8, 0.8  # a pointer of few pixels looks like many things
_SURE_CARET = 0.85  # letters look like the text pointer
_SURE_ANYWHERE = 0.93  # a search of the whole frame meets many more lookalikes
_LEAST_DEVIATION = 35.0  # grey levels, of the pixels under a pointer: black and white is about 110
_UNTOUCHED = 0.3  # of a pointer's pixels: more have changed where it left, or became another shape
_GUESSED = 0.5
_VOTES = 6
_SPOT = 48  # a pointer is never larger than this at scale 1
_REACH = 260  # a pointer goes no further than this between two frames without leaving a spot of its own
_SPOTS = 14


class CursorSample(NamedTuple):
    """Pointer at time t (seconds) in pixels; confidence 0 means not seen yet, under 0.5 a guess from changed pixels."""

    t: float
    x: float
    y: float
    confidence: float
    moved: bool


class _Fit(NamedTuple):
    score: float
    x: float
    y: float
    template: Template
    scale: float


class CursorTracker:
    """Follows one pointer through grey frames in time order."""

    def __init__(self) -> None:
        self.samples: list[CursorSample] = []
        self._before: Gray | None = None
        self._fit: _Fit | None = None
        self._votes: Counter[float] = Counter()
        self._hidden = False
        self._seen_once: CursorSample | None = None

    @property
    def box(self) -> tuple[float, float, float, float] | None:
        """Rectangle that the pointer covers now, with a small margin; None while it is unknown."""
        if not self.samples or self.samples[-1].confidence == 0.0:
            return None
        return self.box_at(self.samples[-1])

    def box_at(self, sample: CursorSample) -> tuple[float, float, float, float]:
        """Rectangle a pointer at `sample` covers; a shape may change on the way, so the largest is taken."""
        size = self._scale() * 24.0
        return (sample.x - size * 0.55, sample.y - size * 0.55, sample.x + size * 0.85, sample.y + size * 0.95)

    def update(self, t: float, frame: Gray) -> CursorSample:
        """Take the next frame; returns where the pointer is in it."""
        before, self._before = self._before, frame
        if before is None:
            found = self._search_everywhere(frame)
            sample = (
                CursorSample(t, found.x, found.y, found.score, False)
                if found
                else CursorSample(t, 0.0, 0.0, 0.0, False)
            )
        else:
            sample = self._follow(t, frame, changed_mask(before, frame))
        self.samples.append(sample)
        return sample

    # -- corridors --------------------------------------------------------------------------------------------------

    def _scale(self) -> float:
        return self._votes.most_common(1)[0][0] if self._votes else 1.0

    def _scales(self) -> Sequence[float]:
        return (self._scale(),) if sum(self._votes.values()) >= _VOTES else SCALES

    def _follow(self, t: float, frame: Gray, mask: Mask) -> CursorSample:
        last = self.samples[-1]
        known = last.confidence > 0
        if known and not self._hidden:
            x0, y0, x1, y1 = (max(0, int(v)) for v in self.box_at(last))
            if not mask[y0:y1, x0:x1].any():
                return CursorSample(t, last.x, last.y, last.confidence, False)
        elif not mask.any():
            return last._replace(t=t)
        if known and self._still_there(frame, last, mask):
            self._hidden = False
            return CursorSample(t, last.x, last.y, last.confidence, False)
        spots = regions(mask, join=4)
        found = self._best(frame, mask, spots, last if known else None)
        if found is not None:
            self._fit = found
            self._votes[found.scale] += 1
            self._hidden = False
            moved = not known or abs(found.x - last.x) + abs(found.y - last.y) > 2.0
            return CursorSample(t, found.x, found.y, found.score, moved)
        self._hidden = known  # until it is found: toolkits hide the pointer while one types
        guess = self._guess(spots, last) if known else None
        if guess is not None:
            return CursorSample(t, guess[0], guess[1], 0.35, True)
        return CursorSample(t, last.x, last.y, max(0.3, last.confidence * 0.9) if known else 0.0, False)

    def _best(self, frame: Gray, mask: Mask, spots: Sequence[Region], last: CursorSample | None) -> _Fit | None:
        limit = _SPOT * self._scale()
        small = [spot for spot in spots if spot.width <= limit and spot.height <= limit]
        if last is not None:
            small.sort(key=lambda spot: spot.gap(last.x, last.y))
        pads = [(s.x0 - 16, s.y0 - 16, s.x1 + 16, s.y1 + 16) for s in small[:_SPOTS]]
        for spot in spots:
            if spot in small or last is None:
                continue
            pads.append((
                max(spot.x0 - 16, int(last.x) - _REACH), max(spot.y0 - 16, int(last.y) - _REACH),
                min(spot.x1 + 16, int(last.x) + _REACH), min(spot.y1 + 16, int(last.y) + _REACH),
            ))  # fmt: skip
            if len(pads) >= _SPOTS + 4:
                break
        fits = [
            fit for area in pads if (fit := self._fit_in(frame, area, mask)) is not None and fit.score >= _needed(fit)
        ]
        return max(fits, key=lambda fit: fit.score, default=None)

    def _fit_in(
        self, frame: Gray, area: tuple[int, int, int, int], mask: Mask | None, scales: Sequence[float] = ()
    ) -> _Fit | None:
        x0, y0, x1, y1 = max(0, area[0]), max(0, area[1]), min(frame.shape[1], area[2]), min(frame.shape[0], area[3])
        part = frame[y0:y1, x0:x1].astype(np.float32)
        changed = None if mask is None else (mask[y0:y1, x0:x1] > 0).astype(np.float32)
        best: _Fit | None = None
        for scale in scales or self._scales():
            for template in templates(scale):
                height, width = template.picture.shape
                if part.shape[0] < height or part.shape[1] < width:
                    continue
                scores = cv2.matchTemplate(part, template.picture, cv2.TM_CCOEFF_NORMED, mask=template.mask)
                scores = np.where(np.isfinite(scores) & _contrasts(part, template), scores, -1.0)
                if changed is not None:  # a pointer that came here changed most of the pixels under it
                    share = cv2.matchTemplate(changed, template.mask, cv2.TM_CCORR) / template.mask.sum()
                    scores = np.where(share > 0.2, scores, -1.0)
                row, column = divmod(int(np.argmax(scores)), scores.shape[1])
                score = float(min(1.0, scores[row, column]))
                if best is None or score > best.score:
                    best = _Fit(score, x0 + column + template.hot_x, y0 + row + template.hot_y, template, scale)
        return best

    def _still_there(self, frame: Gray, last: CursorSample, mask: Mask) -> bool:
        """Something under the pointer changed, a menu that opened for one, but the pointer itself is where it was.

        Its own pixels then are as they were: what merely looks like a pointer where one has left is new.
        """
        if self._fit is None:
            return False
        x, y = int(last.x), int(last.y)
        fit = self._fit_in(frame, (x - 28, y - 28, x + 36, y + 40), None)
        return (
            fit is not None
            and fit.score >= max(0.7, 0.8 * self._fit.score)
            and abs(fit.x - last.x) + abs(fit.y - last.y) <= 4
            and _changed_under(fit, mask) <= _UNTOUCHED
        )

    def _guess(self, spots: Sequence[Region], last: CursorSample) -> tuple[float, float] | None:
        """A small spot that leaves where the last one came is a pointer of unknown shape; one step alone may be a letter that is typed."""
        limit = _SPOT * self._scale()
        small = [spot for spot in spots if spot.width <= limit and spot.height <= limit and spot.pixels >= 12]
        origin, self._seen_once = self._seen_once, None
        if origin is None and last.confidence < _GUESSED:
            origin = last
        left = [spot for spot in small if spot.touches(self.box_at(origin or last))]
        came = [spot for spot in small if spot not in left]
        if len(left) != 1 or len(came) != 1 or len(spots) > 4:
            return None
        place = (float(came[0].x0 + 1), float(came[0].y0 + 1))
        self._seen_once = last._replace(x=place[0], y=place[1])
        return place if origin is not None else None

    def _search_everywhere(self, frame: Gray) -> _Fit | None:
        fit = self._fit_in(frame, (0, 0, frame.shape[1], frame.shape[0]), None, SCALES[:1])
        if fit is None or fit.score < _SURE_ANYWHERE:
            return None
        self._fit = fit
        return fit


def _changed_under(fit: _Fit, mask: Mask) -> float:
    """Share of the pixels of a pointer that have just changed."""
    shape = fit.template.mask
    top, left = max(0, round(fit.y - fit.template.hot_y)), max(0, round(fit.x - fit.template.hot_x))
    part = mask[top : top + shape.shape[0], left : left + shape.shape[1]]
    own = shape[: part.shape[0], : part.shape[1]] > 0
    return float((part[own] > 0).mean()) if own.any() else 0.0


def _contrasts(part: npt.NDArray[np.float32], template: Template) -> npt.NDArray[np.bool_]:
    """Where the pixels under the mask differ enough to be a pointer: correlation alone finds shapes in faint grid lines."""
    count = float(template.mask.sum())
    mean = cv2.matchTemplate(part, template.mask, cv2.TM_CCORR) / count
    square = cv2.matchTemplate(part * part, template.mask, cv2.TM_CCORR) / count
    return np.asarray(square - mean * mean > _LEAST_DEVIATION**2, dtype=np.bool_)


def _needed(fit: _Fit) -> float:
    if fit.template.name.startswith("caret"):
        return _SURE_CARET
    return _SURE if fit.scale >= _SMALL else _SURE_SMALL


def cursor_track(frames: Iterable[tuple[float, Gray]]) -> list[CursorSample]:
    """The pointer in each of the (seconds, grey frame) pairs, in time order."""
    tracker = CursorTracker()
    return [tracker.update(t, frame) for t, frame in frames]


def stops(track: Sequence[CursorSample], *, at_least: float = 0.15) -> list[tuple[float, float, float, float]]:
    """Rests of the pointer: (t_start, t_end, x, y), from its arrival until it moves again."""
    found: list[tuple[float, float, float, float]] = []
    begin = 0
    for index in range(1, len(track) + 1):
        if index == len(track) or track[index].moved:
            first, last = track[begin], track[index - 1]
            if last.confidence > 0 and last.t - first.t >= at_least:
                found.append((first.t, track[min(index, len(track) - 1)].t, last.x, last.y))
            begin = index
    return found
