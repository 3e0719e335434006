"""Triggers: times at which something seems to be done, from the words (semantic) and from the picture (visual).

A visual trigger is a rest of the pointer, a change of the screen while the pointer rests, or a stroke of the pointer that changes the
screen on its way (a drag). Highlights that follow a moving pointer are none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from cuamaster.records.speech import Operation, operations, words_of
from cuamaster.records.transcript import Transcript
from cuamaster.seeding.footage import Change, Footage
from cuamaster.vision.changes import Region, around
from cuamaster.vision.cursor import stops

Shape = Literal["rest", "change", "typing", "stroke"]
_SAME = 0.35  # seconds between frames of one change
_SAME_TYPING = 1.3  # seconds between key strokes of one text
_EFFECT_WITHIN = 1.2  # seconds after the pointer's arrival in which a change is taken for its click's effect
_ASSUMED_CLICK = 0.3  # seconds after arrival, when a click shows nothing
_LINE_HEIGHT = 0.055  # of the screen's height: taller changes are not a line of text
_TYPING_PART = 5  # a typed line is at least this fraction of all that changes while it is typed
_LEAST_GROWTH = 3  # pixels
_LETTERS_A_FRAME = 4  # separate regions of one row: some letters, the text cursor's old and new place
_TEXT_CURSOR = 3  # pixels wide at most,
_NARROW = 0.5  # or this share of its height in a rescaled recording
_MOST_GROWTH = 3.0  # heights of a line between two frames: more than a dozen letters are pasted, or no text
_ONSET = 0.08  # seconds between an input and its first changed frame at 10 frames a second


@dataclass(frozen=True)
class SemanticTrigger:
    """An operation that is said at t seconds."""

    t: float
    kind: str
    operation: Operation

    @property
    def clause(self) -> str:
        """The words."""
        return self.operation.clause.text


@dataclass(frozen=True)
class VisualTrigger:
    """Something done at t, seen until t_end. `x`, `y`: the pointer in pixels; `effect`: what changed, None when nothing did."""

    t: float
    t_end: float
    shape: Shape
    x: float
    y: float
    arrived: float
    effect: Region | None = None
    parts: tuple[Region, ...] = ()
    start: tuple[float, float] | None = None
    sure: float = 1.0
    frames: int = 0

    @property
    def strong(self) -> bool:
        """It changed the screen."""
        return self.effect is not None

    @property
    def away(self) -> float:
        """How far the effect is from the pointer, in its own sizes: near, or far but large, is small."""
        if self.effect is None:
            return 0.0
        return self.effect.gap(self.x, self.y) / max(20.0, math.sqrt(self.effect.width * self.effect.height))


def semantic_triggers(transcript: Transcript, t_start: float, t_end: float) -> list[SemanticTrigger]:
    """Operations said within the span; the words around it are read too, so that announcements are known as such."""
    found = operations(words_of(transcript), transcript.language)
    return [SemanticTrigger(op.t, op.kind, op) for op in found if t_start - 0.5 <= op.t <= t_end]


@dataclass
class Cluster:
    """Changes that belong together; `line` is where text appeared if it looks like typing."""

    changes: list[Change]
    line: Region | None = None

    @property
    def t(self) -> float:
        """Seconds of the first changed frame."""
        return self.changes[0].t

    @property
    def t_end(self) -> float:
        """Seconds of the last changed frame."""
        return self.changes[-1].t

    @property
    def parts(self) -> tuple[Region, ...]:
        """All changed regions."""
        return tuple(region for change in self.changes for region in change.regions)


def clusters(footage: Footage) -> list[Cluster]:
    """Changes while the pointer rests, grouped in time: first what grows along a line as typed text does, then the rest."""
    typed = _typing(footage)
    groups: list[Cluster] = []
    for change in footage.changes:
        if change.hovering or any(cluster.t <= change.t <= cluster.t_end + 0.05 for cluster in typed):
            continue
        between = any(groups and groups[-1].t_end < cluster.t <= change.t for cluster in typed)
        if groups and change.t - groups[-1].t_end <= _SAME and not between:
            groups[-1].changes.append(change)
        else:
            groups.append(Cluster([change]))
    return sorted([*typed, *groups], key=lambda cluster: cluster.t)


def _typing(footage: Footage) -> list[Cluster]:
    limit = _LINE_HEIGHT * footage.height
    runs: list[_Run] = []
    for change in footage.marks:
        if change.hovering:
            continue
        for region in sorted(change.regions, key=lambda part: -part.x1):  # first the newest letter, then what it leaves
            if region.height <= limit and not any(run.takes(change, region, limit) for run in runs):
                runs.append(_Run(change, region))
    found: list[Cluster] = []
    for run in sorted(runs, key=lambda item: -item.pixels):
        run.trim()
        line = around(run.line)
        if line is None or len(run.changes) < 2 or not run.stands_out():
            continue
        if not any(cluster.t <= run.changes[-1].t and run.changes[0].t <= cluster.t_end for cluster in found):
            found.append(Cluster(run.changes, line))  # else the same typing, shown in a second place
    return found


class _Run:
    """A row in which letters appear one after the other; `line` their regions, `changes` the frames they came in."""

    def __init__(self, change: Change, region: Region) -> None:
        self.changes, self.line, self.times = [change], [region], [change.t]
        self.start, self.end = region.x0, region.x1
        self._in_frame: Counter[float] = Counter({change.t: 1})

    @property
    def pixels(self) -> int:
        """Changed pixels in the row."""
        return sum(region.pixels for region in self.line)

    def stands_out(self) -> bool:
        """The row is a good part of what changes, the first frame aside: with the first letter buttons light up, titles get a mark."""
        if max(self._in_frame.values()) > _LETTERS_A_FRAME:
            return False  # a row of icons
        first = self.changes[0].t if len(self.changes) > 2 else -1.0
        row = sum(region.pixels for t, region in zip(self.times, self.line, strict=True) if t != first)
        return row * _TYPING_PART >= sum(change.pixels for change in self.changes if change.t != first)

    def trim(self) -> None:
        """Leave out a text cursor that blinked, or came with the focus, before the first letter."""
        while len(self.changes) > 1 and self.changes[1].t - self.changes[0].t > _SAME:
            if self.line[0].width > max(_TEXT_CURSOR, _NARROW * self.line[0].height):
                return
            del self.changes[0], self.line[0], self.times[0]

    def takes(self, change: Change, region: Region, limit: float) -> bool:
        """Add the region if it goes on where the row ended, or is a part of what is there already."""
        last = self.line[-1]
        if abs((region.y0 + region.y1) - (last.y0 + last.y1)) > limit or change.t - self.changes[-1].t > _SAME_TYPING:
            return False
        self._in_frame[change.t] += 1
        if region.x0 >= self.start - 3 and region.x1 < self.end + _LEAST_GROWTH:
            return True  # what the text cursor leaves behind, or its blinking
        goes_on = self.end - 1.5 * limit <= region.x0 <= self.end + limit
        if not goes_on or region.x1 - self.end > _MOST_GROWTH * limit:
            self._in_frame[change.t] -= 1
            return False
        if change is not self.changes[-1]:
            self.changes.append(change)
        self.line.append(region)
        self.times.append(change.t)
        self.end = region.x1
        return True


def visual_triggers(footage: Footage, t_start: float, t_end: float) -> list[VisualTrigger]:
    """Everything in the span that may be an action, in time order."""
    rests = stops(footage.pointer)
    groups = clusters(footage)
    used: set[int] = set()
    found: list[VisualTrigger] = []
    for arrived, left, x, y in rests:
        own = next(
            (i for i, g in enumerate(groups)
             if g.line is None and i not in used and arrived - 0.05 <= g.t <= min(left + 0.05, arrived + _EFFECT_WITHIN)),
            None,
        )  # fmt: skip
        sure = footage.pointer_at(arrived).confidence
        came = arrived > footage.times[0] + 0.05
        if own is not None and came:
            used.add(own)
            group = groups[own]
            found.append(
                VisualTrigger(
                    group.t - _ONSET,
                    group.t_end,
                    "rest",
                    x,
                    y,
                    arrived,
                    around(group.parts),
                    group.parts,
                    sure=sure,
                    frames=len(group.changes),
                )
            )
        elif came:
            t = min(arrived + _ASSUMED_CLICK, left)
            found.append(VisualTrigger(t, t, "rest", x, y, arrived, sure=sure))
    for index, group in enumerate(groups):
        if index in used:
            continue
        at = footage.pointer_at(group.t)
        line = group.line or around(group.parts)
        found.append(
            VisualTrigger(
                group.t - _ONSET, group.t_end, "typing" if group.line else "change", at.x, at.y, group.t, line, group.parts,
                sure=at.confidence, frames=len(group.changes),
            )
        )  # fmt: skip
    found.extend(_strokes(footage, rests))
    return sorted((v for v in found if t_start - 0.2 <= v.t <= t_end + 0.3), key=lambda v: v.t)


def _strokes(footage: Footage, rests: Sequence[tuple[float, float, float, float]]) -> list[VisualTrigger]:
    """Ways of the pointer from rest to rest on which the screen changed along the way."""
    found = []
    for (_, left, x0, y0), (arrived, _, x1, y1) in pairwise(rests):
        box = (min(x0, x1) - 4, min(y0, y1) - 4, max(x0, x1) + 4, max(y0, y1) + 4)
        parts = [
            region
            for change in footage.changes
            if left - 0.05 <= change.t <= arrived + 0.15
            for region in change.regions
            if region.touches(box, pad=24)
        ]
        if abs(x1 - x0) + abs(y1 - y0) >= 12 and parts:
            frames = len({change.t for change in footage.changes if left - 0.05 <= change.t <= arrived + 0.15})
            found.append(
                VisualTrigger(
                    max(0.0, left - 0.1),
                    arrived,
                    "stroke",
                    x1,
                    y1,
                    left,
                    around(parts),
                    tuple(parts),
                    start=(x0, y0),
                    frames=frames,
                )
            )
    return found
