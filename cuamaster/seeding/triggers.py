"""Triggers: times at which something seems to be done, from the words (semantic) and from the picture (visual).

A visual trigger is a rest of the pointer, a change of the screen while the pointer rests, or a stroke of the pointer that changes the
screen on its way (a drag). Highlights that follow a moving pointer are none.
"""

from __future__ import annotations

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


def semantic_triggers(transcript: Transcript, t_start: float, t_end: float) -> list[SemanticTrigger]:
    """Operations said within the span; the words around it are read too, so that announcements are known as such."""
    found = operations(words_of(transcript), transcript.language)
    return [SemanticTrigger(op.t, op.kind, op) for op in found if t_start - 0.5 <= op.t <= t_end]


@dataclass
class _Cluster:
    changes: list[Change]

    @property
    def t(self) -> float:
        return self.changes[0].t

    @property
    def t_end(self) -> float:
        return self.changes[-1].t

    @property
    def parts(self) -> tuple[Region, ...]:
        return tuple(region for change in self.changes for region in change.regions)


def clusters(changes: Sequence[Change], height: int) -> list[tuple[_Cluster, bool]]:
    """Changes while the pointer rests, grouped in time, with whether they look like text being typed."""
    groups: list[_Cluster] = []
    for change in changes:
        if change.hovering:
            continue
        if groups and change.t - groups[-1].t_end <= _SAME:
            groups[-1].changes.append(change)
        else:
            groups.append(_Cluster([change]))
    merged: list[tuple[_Cluster, bool]] = []
    for group in groups:
        typing = _typing_line(group, height) is not None
        if typing and merged and merged[-1][1] and group.t - merged[-1][0].t_end <= _SAME_TYPING:
            before, now = _typing_line(merged[-1][0], height), _typing_line(group, height)
            if before is not None and now is not None and now.touches((before.x0, before.y0, before.x1, before.y1), pad=before.height):
                merged[-1][0].changes.extend(group.changes)
                continue
        merged.append((group, typing))
    return merged


def _typing_line(group: _Cluster, height: int) -> Region | None:
    """The line in which text appears over several frames, growing to the right; None when it is no typing."""
    limit = _LINE_HEIGHT * height
    fronts: dict[int, list[tuple[float, Region]]] = {}
    for change in group.changes:
        for region in change.regions:
            if region.height <= limit and region.pixels >= 8:
                for row, seen in fronts.items():
                    if abs(row - (region.y0 + region.y1) // 2) <= limit / 2:
                        seen.append((change.t, region))
                        break
                else:
                    fronts[(region.y0 + region.y1) // 2] = [(change.t, region)]
    best: Region | None = None
    for seen in fronts.values():
        times = sorted({t for t, _ in seen})
        ends = [max(region.x1 for at, region in seen if at == t) for t in times]
        grows = sum(b > a + 2 for a, b in pairwise(ends))
        if len(times) >= 2 and grows >= max(1, (len(times) - 1) // 2):
            line = around([region for _, region in seen])
            if line is not None and (best is None or line.pixels > best.pixels):
                best = line
    total = sum(change.pixels for change in group.changes)
    return best if best is not None and best.pixels * _TYPING_PART >= total else None


def visual_triggers(footage: Footage, t_start: float, t_end: float) -> list[VisualTrigger]:
    """Everything in the span that may be an action, in time order."""
    rests = stops(footage.pointer)
    groups = clusters(footage.changes, footage.height)
    used: set[int] = set()
    found: list[VisualTrigger] = []
    for arrived, left, x, y in rests:
        own = next(
            (i for i, (g, typing) in enumerate(groups)
             if not typing and i not in used and arrived - 0.05 <= g.t <= min(left + 0.05, arrived + _EFFECT_WITHIN)),
            None,
        )  # fmt: skip
        sure = footage.pointer_at(arrived).confidence
        came = arrived > footage.times[0] + 0.05
        if own is not None and came:
            used.add(own)
            group = groups[own][0]
            found.append(
                VisualTrigger(group.t - _ONSET, group.t_end, "rest", x, y, arrived, around(group.parts), group.parts, sure=sure, frames=len(group.changes))
            )
        elif came:
            t = min(arrived + _ASSUMED_CLICK, left)
            found.append(VisualTrigger(t, t, "rest", x, y, arrived, sure=sure))
    for index, (group, typing) in enumerate(groups):
        if index in used:
            continue
        at = footage.pointer_at(group.t)
        line = _typing_line(group, footage.height) if typing else around(group.parts)
        found.append(
            VisualTrigger(
                group.t - _ONSET, group.t_end, "typing" if typing else "change", at.x, at.y, group.t, line, group.parts,
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
                VisualTrigger(max(0.0, left - 0.1), arrived, "stroke", x1, y1, left, around(parts), tuple(parts), start=(x0, y0), frames=frames)
            )
    return found
