"""Runs the items of a stage: what is done is skipped, what cannot be done is dropped with its reason, the rest stops the stage."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
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

ITEM_FAULTS = (MediaError, ModelAnswerError, ModelRefusal, SourceUnavailable, InvalidInput)
"""Faults of the item itself. Anything else (budget spent, disk full, endpoint down, no host) stops the stage and loses nothing."""


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
) -> None:
    """Run `work` on the items that have no part yet, then close the stage over exactly these items.

    Several processes may run the same stage: each item is in the hands of one of them. `key` names an item, `given` is whatever else decides its result: a part made with another `given` does not count. Parts of
    items that are not asked for any more are forgotten, unless the stage is to `accumulate`.
    """

    def one(part: str, item: T) -> None:
        try:
            kept, dropped = work(item)
        except ITEM_FAULTS as exc:
            log.warning("%s: %s dropped: %s", stage.name, label(item), exc)
            kept, dropped = (), (drop(key(item), stage.name, exc),)
        stage.write(part, kept, dropped)

    _run(stage, {part_of(stage, key(item), given): item for item in items}, one, each, label, accumulate)


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
) -> None:
    inputs = content_id("inputs", stage.name, sorted(parts))
    if stage.is_closed(inputs):
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

    each(stage.name, [part for part in parts if not stage.has(part)], work, named)
    if elsewhere:  # another process had them in hand: they are done now, or it died and left them
        each(stage.name, elsewhere, left, named)
    stage.close(inputs)


def drop(item_id: str, stage: str, fault: Exception) -> Dropped:
    """A fault as a drop: its own reason slug, or its class in words."""
    reason = getattr(fault, "reason", None) or _slug(type(fault).__name__)
    return Dropped(item_id=item_id, stage=stage, reason=reason, detail=str(fault))


def _slug(name: str) -> str:
    return "".join(f"-{char.lower()}" if char.isupper() else char for char in name).strip("-")
