"""Which utterances are one task, and from when to when: words announce, pictures show whether and how long anything is operated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from cuamaster.adapters.annotators.cues import DONE, GOAL, NEW_TASK, RETURN
from cuamaster.adapters.annotators.narration import Utterance
from cuamaster.records.chapters import TOLERANCE_S
from cuamaster.records.speech import Operation
from cuamaster.vision.reel import Reel

LONG_TALK_SECONDS = 6.0
"""Talk between operations from which, once something is completed, a new task is assumed."""
VERY_LONG_SECONDS = 25.0
IDLE_SECONDS = 8.0
"""Talk or silence over a screen on which nothing moves: whatever comes after it is begun anew."""
HAND_LAG_S = 3.5
"""Hands follow the voice by so much at most."""
RECALL_S = 6.0
"""What was just done is told within so many seconds."""
LOST_S = 4.0
"""Operations that are seen or said further apart do not belong to one movement."""
MOST_LAG_S = 15.0
"""So long after its last word a task ends, if nothing tells when."""
COARSE_S = 2.0
"""Frames further apart than this cannot tell whether a single operation was seen."""
SETTLE_S = 1.0
UNSEEN_KINDS = frozenset({"key", "scroll", "hover"})
"""Kinds whose effect may be too small to see: a copied cell, a list already at its end."""


@dataclass
class Run:
    """Utterances of one task, and the talk that came before and after it."""

    spoken: list[Utterance] = field(default_factory=list)
    lead: list[Utterance] = field(default_factory=list)
    tail: list[Utterance] = field(default_factory=list)

    @property
    def operations(self) -> list[Operation]:
        """All operations, in order."""
        return [item for utterance in self.spoken for item in utterance.operations]


def looked_at(spoken: Sequence[Utterance], reel: Reel) -> list[Utterance]:
    """The utterances after a look at the pictures: operations that cannot have been are put aside, those told afterwards count.

    Put aside is what is said over another picture, and what is said at some length, or by itself, while nothing happens.
    """
    dead = reel.dead
    items = [item.without("shown") if item.operations and _covered(item, dead) else item for item in spoken]
    if reel.step > COARSE_S:
        return items
    items = [_recalled(items, index, reel, dead) if item.aside == "told" else item for index, item in enumerate(items)]
    acting = [index for index, item in enumerate(items) if item.operations]
    nexts = [*(items[index].start for index in acting[1:]), float("inf")]
    seen = {index: _seen(items[index], after, reel) for index, after in zip(acting, nexts, strict=False)}
    groups: list[list[int]] = []
    for place, index in enumerate(acting):
        if seen[index]:
            continue
        follows = place > 0 and not seen[acting[place - 1]] and groups
        if follows:
            groups[-1].append(index)
        else:
            groups.append([index])
    for group in groups:
        if _never_done([items[index] for index in group], *_neighbours(items, group, acting)):
            for index in group:
                items[index] = items[index].without("unseen")
    return items


def _covered(item: Utterance, spans: Sequence[tuple[float, float]]) -> bool:
    inside = sum(max(0.0, min(end, item.end) - max(start, item.start)) for start, end in spans)
    return inside > 0.6 * (item.end - item.start)


def _recalled(items: Sequence[Utterance], index: int, reel: Reel, dead: Sequence[tuple[float, float]]) -> Utterance:
    """A report, made an operation again if the operating can be seen just before it and nobody spoke of it then."""
    item = items[index]
    floor = max([end for _, end in dead if end <= item.start], default=0.0)
    spoken_of = next((other.end + HAND_LAG_S for other in reversed(items[:index]) if other.operations), 0.0)
    floor = max(floor, spoken_of)
    times = reel.operated(floor, item.start)
    if not times or item.start - times[-1] > RECALL_S or _covered(item, dead):
        return item
    first = times[-1]
    for t in reversed(times):
        if first - t > LOST_S:
            break
        first = t
    return replace(item, start=first, operations=item.put_aside, aside="", put_aside=())


def _seen(item: Utterance, following: float, reel: Reel) -> bool:
    """Whether anything is operated while the utterance is said, or before the next one is well begun."""
    return bool(reel.operated(item.start - 0.3, min(item.end + HAND_LAG_S, following + SETTLE_S) + reel.step))


def _neighbours(items: Sequence[Utterance], group: Sequence[int], acting: Sequence[int]) -> tuple[float, float]:
    """Seconds from a group to the operations before and after it."""
    before = [items[index].end for index in acting if index < group[0]]
    after = [items[index].start for index in acting if index > group[-1]]
    first = items[group[0]].start - before[-1] if before else float("inf")
    return first, after[0] - items[group[-1]].end if after else float("inf")


def _never_done(group: Sequence[Utterance], before: float, after: float) -> bool:
    """Nothing was seen of these: several in a row, or one by itself, that would have shown."""
    showing = any(item.kind not in UNSEEN_KINDS for utterance in group for item in utterance.operations)
    return showing and (len(group) >= 2 or (before >= LOST_S and after >= LOST_S))


def runs(spoken: Sequence[Utterance], reel: Reel | None = None, marks: Sequence[float] = ()) -> list[Run]:
    """Tasks: operations that belong together, split where talk completes one thing and turns to another, or something intervenes.

    `marks`: seconds at which chapters start that are to be believed.
    """
    found: list[Run] = []
    talk: list[Utterance] = []
    for item in spoken:
        if not item.operations:
            talk.append(item)
            continue
        if not found or _breaks(found[-1].spoken[-1], talk, item, reel, marks):
            if found:
                found[-1].tail = talk
            found.append(Run([item], lead=talk))
        else:
            found[-1].spoken += [*talk, item]
        talk = []
    if found:
        found[-1].tail = talk
    return found


def _breaks(
    before: Utterance, talk: Sequence[Utterance], after: Utterance, reel: Reel | None, marks: Sequence[float]
) -> bool:
    if any(item.interrupts or RETURN.search(item.text) for item in talk):
        return True
    if any(before.end - TOLERANCE_S <= mark <= after.start + TOLERANCE_S for mark in marks if before.start < mark):
        return True
    gap = after.start - before.end
    if reel is not None and _stopped(before.end, after.start, reel):
        return True
    if not talk:
        return gap >= VERY_LONG_SECONDS
    said = " ".join(item.text for item in talk)
    done = any(DONE.search(item.text) for item in talk)
    goal = bool(GOAL.search(said))
    if NEW_TASK.search(said):
        return True
    return (done and goal) or (done and gap >= LONG_TALK_SECONDS) or gap >= VERY_LONG_SECONDS


def _stopped(start: float, end: float, reel: Reel) -> bool:
    """Another picture is shown between, or nothing is operated for long."""
    if any(start <= (a + b) / 2 <= end for a, b in reel.dead):
        return True
    times = [start, *reel.operated(start, end), end]
    return max(b - a for a, b in pairwise(times)) >= IDLE_SECONDS + reel.step


def span(
    run: Run, previous_end: float, next_start: float | None, duration: float | None, reel: Reel | None = None
) -> tuple[float, float]:
    """Seconds of a task: from its first words (a little before, if nobody was talking) until its last effect is there.

    Without pictures the end is the start of the talk after it: hands lag behind the voice, so never the last word said.
    """
    first, last = run.spoken[0], run.spoken[-1]
    start = max(previous_end, first.start - 1.0, run.lead[-1].end if run.lead else 0.0)
    talk = max(run.tail[0].start, last.end + 0.5) if run.tail else float("inf")
    edges = [edge for edge in (next_start, duration) if edge is not None]
    if reel is None:
        end = min([last.end + MOST_LAG_S, talk, *edges])
    else:
        start = max([start, *(end for _, end in reel.dead if end <= (first.start + first.end) / 2)])
        edges += [begin for begin, _ in reel.dead if begin >= last.start]
        end = min([_settled(last, talk, min([talk + SETTLE_S, *edges, reel.times[-1]]), reel), *edges])
    return round(max(0.0, start), 3), round(max(end, start + 0.1), 3)


def _settled(last: Utterance, talk: float, limit: float, reel: Reel) -> float:
    """When the last effect of the last utterance is there, or where its words and the `talk` after it meet if no effect is seen."""
    shown = last.end
    for t in reel.operated(last.start, limit):
        if t - shown > LOST_S:
            break
        shown = max(shown, t)
    return shown + SETTLE_S if shown > last.end else min(last.end + SETTLE_S, talk)
