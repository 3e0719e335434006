"""Runs the items of a stage: what is done is skipped, what cannot be done is dropped with its reason, what must wait is put off, the rest
stops the stage."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from cuamaster.errors import (
    InvalidInput,
    MediaError,
    ModelAnswerError,
    ModelRefusal,
    SourceUnavailable,
)
from cuamaster.records.episode import Dropped
from cuamaster.records.record import Record, content_id
from cuamaster.tables import StageFolder

log = logging.getLogger(__name__)
T = TypeVar("T")
Result = tuple[Sequence[Record], Sequence[Dropped]]
"""What a stage kept of one item, and what it dropped."""

ITEM_FAULTS = (MediaError, ModelAnswerError, ModelRefusal, InvalidInput)
"""Faults of the item itself. A SourceUnavailable puts the item off. Anything else (budget spent, disk full, endpoint down, no host) stops the
stage and loses nothing."""


@dataclass(frozen=True)
class Patience:
    """How long a stage waits, in all, for sources that can be asked again soon: `seconds`, by `clock` (epoch seconds) and `wait`."""

    seconds: float = 0.0
    clock: Callable[[], float] = time.time
    wait: Callable[[float], None] = time.sleep

    def pause(self, late: Iterable[SourceUnavailable], left: float) -> float | None:
        """Seconds until the first of the sources may be asked; None if that is too long, or never said."""
        times = [fault.until for fault in late if fault.until is not None]
        seconds = max(0.0, min(times) - self.clock()) if times else None
        return seconds if seconds is not None and left > 0 and seconds <= left else None


NONE = Patience()
SHORTEST = 5.0
"""Seconds that a pass over put-off items counts for at least, so that a source that is always ready and never answers ends it."""


class Each(Protocol):
    """Runs `work` on every item; `name` is the stage, `label` names an item in progress bars and run names."""

    def __call__(self, name: str, items: Sequence[T], work: Callable[[T], None], label: Callable[[T], str], /) -> None:
        """Return when all items are done; an item's exception ends the stage."""


def in_turn(name: str, items: Sequence[T], work: Callable[[T], None], label: Callable[[T], str]) -> None:
    """The plain way: one after the other."""
    for item in items:
        log.debug("%s: %s", name, label(item))
        work(item)


def run(
    stage: StageFolder,
    items: Sequence[T],
    work: Callable[[T], Result],
    *,
    key: Callable[[T], str],
    each: Each,
    label: Callable[[T], str] = str,
    given: str = "",
    accumulate: bool = False,
    patience: Patience = NONE,
) -> None:
    """Run `work` on the items that have no part yet, then close the stage over exactly these items.

    Several processes may run the same stage: each item is in the hands of one of them. `key` names an item, `given` is whatever
    else decides its result: a part made with another `given` does not count. Parts of items that are not asked for any more are
    forgotten, unless the stage is to `accumulate`. Items whose source must be left alone are tried again after the others, as far as
    `patience` goes; then the stage is closed over what is done, and the next run does the rest.
    """
    late: dict[str, SourceUnavailable] = {}

    def one(part: str, item: T) -> None:
        try:
            kept, dropped = work(item)
        except SourceUnavailable as exc:
            log.info("%s: %s put off: %s", stage.name, label(item), exc)
            late[part] = exc
            return
        except ITEM_FAULTS as exc:
            log.warning("%s: %s dropped: %s", stage.name, label(item), exc)
            kept, dropped = (), (drop(key(item), stage.name, exc),)
        stage.write(part, kept, dropped)

    _run(
        stage, {part_of(stage, key(item), given): item for item in items}, one, each, label, accumulate, late, patience
    )


def run_tables(
    stage: StageFolder,
    items: Sequence[T],
    work: Callable[[T], tuple[Any, Any]],
    *,
    key: Callable[[T], str],
    each: Each,
    label: Callable[[T], str] = str,
    given: str = "",
) -> None:
    """As `run`, for items that are slices of many rows: `work` returns tables (kept, dropped), and a fault stops the stage."""

    def one(part: str, item: T) -> None:
        stage.write_tables(part, *work(item))

    _run(stage, {part_of(stage, key(item), given): item for item in items}, one, each, label, accumulate=False)


def part_of(stage: StageFolder, key: str, given: str = "") -> str:
    """The name of an item's part."""
    return content_id("part", stage.name, key, given)


def _run(
    stage: StageFolder,
    parts: Mapping[str, T],
    one: Callable[[str, T], None],
    each: Each,
    label: Callable[[T], str],
    accumulate: bool,
    late: dict[str, SourceUnavailable] | None = None,
    patience: Patience = NONE,
) -> None:
    if stage.is_closed(_inputs(stage, parts)):
        return
    if not accumulate:
        stage.retain(parts)

    elsewhere: list[str] = []

    def work(part: str) -> None:
        with stage.claim(part) as mine:
            if not mine:
                elsewhere.append(part)
            elif not stage.has(part):
                one(part, parts[part])

    def left(part: str) -> None:
        with stage.claim(part, wait=True):
            if not stage.has(part):
                one(part, parts[part])

    def named(part: str) -> str:
        return label(parts[part])

    todo = [part for part in parts if not stage.has(part)]
    seconds, late = patience.seconds, {} if late is None else late
    while True:
        each(stage.name, todo, work, named)
        if elsewhere:  # another process had them in hand: they are done now, or it died and left them
            each(stage.name, elsewhere, left, named)
            elsewhere.clear()
        pause = patience.pause(late.values(), seconds)
        if pause is None:
            break
        log.info(
            "%s: waiting %.0f s for %s", stage.name, pause, "; ".join(sorted({str(f.site) for f in late.values()}))
        )
        patience.wait(pause)
        seconds -= max(pause, SHORTEST)
        now = patience.clock()
        todo = [part for part, fault in late.items() if fault.until is not None and fault.until <= now]
        for part in todo:
            del late[part]
    if late:
        first = min(late.values(), key=lambda fault: fault.until or 0)
        log.warning("%s: %d of %d put off, run the round again: %s", stage.name, len(late), len(parts), first)
    stage.close(_inputs(stage, [part for part in parts if part not in late]))


def _inputs(stage: StageFolder, parts: Iterable[str]) -> str:
    """What a stage is closed over."""
    return content_id("inputs", stage.name, sorted(parts))


def drop(item_id: str, stage: str, fault: Exception) -> Dropped:
    """A fault as a drop: its own reason slug, or its class in words."""
    reason = getattr(fault, "reason", None) or _slug(type(fault).__name__)
    return Dropped(item_id=item_id, stage=stage, reason=reason, detail=str(fault))


def _slug(name: str) -> str:
    return "".join(f"-{char.lower()}" if char.isupper() else char for char in name).strip("-")
