"""Candidates -> those worth fetching, slice by slice: sketch, drop duplicates, screen. Made for millions of rows; the same code does ten."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from cuamaster.catalog import Duplicates, Pairs, find_duplicates
from cuamaster.records.episode import Dropped
from cuamaster.records.record import content_id
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.records.video import Opinion, Reading, Video
from cuamaster.seeding.same import same_recordings
from cuamaster.seeding.screen import ScreenRules, judge
from cuamaster.seeding.sketch import sketch
from cuamaster.stages.running import Each, part_of, run_tables
from cuamaster.tables import (
    RoundFolder,
    Slice,
    StageFolder,
    cut,
    records_of,
    slices,
    table_from,
    table_of,
    temporary_name,
)

SKETCHED = (
    "id",
    "source",
    "source_id",
    "url",
    "title",
    "description",
    "uploader",
    "duration",
    "upload_date",
    "app",
    "query",
)
AT_ONCE = 4
"""Slices from which more than one process is worth its start."""


def sketch_all(folder: RoundFolder, each: Each, workers: int = 1) -> None:
    """`search` -> `sketch`: for each candidate the numbers by which duplicates are found."""
    found = slices(folder.stage("search"))
    _ahead(folder, "sketch", found, _sketched, workers)
    run_tables(folder.stage("sketch"), found, _sketched, key=_id, each=each, label=_label)


def drop_duplicates(folder: RoundFolder, each: Each) -> None:
    """`search`, `sketch` -> `discover`: each video once, the rest dropped with the name of what stays."""
    found = slices(folder.stage("search"))
    stage, sketches = folder.stage("discover"), folder.stage("sketch")
    decided = functools.cache(lambda: _duplicates(sketches))

    def sift(part: Slice) -> tuple[Any, Any]:
        table = part.table()
        gone = {
            row - part.first_row: (reason, first, key)
            for row, reason, first, key in decided().between(part.first_row, part.first_row + part.rows)
        }
        ids: list[Any] = table["id"].to_pylist()
        urls = table["url"].to_pylist()
        dropped = [
            Dropped(item_id=ids[row], stage=stage.name, reason=reason, detail=f"{urls[row]}: same as {first} {key!r}")
            for row, (reason, first, key) in gone.items()
        ]
        return cut(table, [row for row in range(part.rows) if row not in gone]), table_of(dropped, Dropped)

    given = content_id("candidates", [part.id for part in found])
    run_tables(stage, found, sift, key=_id, each=each, label=_label, given=given)


def screen_all(
    folder: RoundFolder,
    taxonomy: Taxonomy,
    rules: ScreenRules,
    each: Each,
    workers: int = 1,
    today: str | None = None,
    read: Mapping[str, Reading] | None = None,
    told: Mapping[str, Opinion] | None = None,
) -> None:
    """`discover` -> `screen`: those worth fetching by metadata and words, with the application they are about.

    `today` tells dates that cannot be; what was screened stays so on another day. `read`, `told`: what the second reader and a model
    said of borderline cases.
    """
    found = slices(folder.stage("discover"))
    said = (*(read or {}).values(), *(told or {}).values())
    given = repr(rules) + "".join(sorted(item.to_json() for item in said))
    work = functools.partial(_screened, taxonomy, rules, today, read, told)
    _ahead(folder, "screen", found, work, workers, given)
    run_tables(folder.stage("screen"), found, work, key=_id, each=each, label=_label, given=given)


def _sketched(part: Slice) -> tuple[Any, Any]:
    return table_from(sketch(part.columns(SKETCHED), first_row=part.first_row)), None


def _duplicates(sketches: StageFolder) -> Duplicates:
    def same(pairs: Pairs) -> Any:
        return same_recordings(**vars(pairs))

    mine = temporary_name().rsplit("-", 1)[0] + "-"  # swept when the stage closes again, should this process be killed
    with tempfile.TemporaryDirectory(dir=sketches.folder, prefix=mine) as scratch:
        return find_duplicates(sketches.files("kept"), same, scratch=Path(scratch))


def _screened(
    taxonomy: Taxonomy,
    rules: ScreenRules,
    today: str | None,
    read: Mapping[str, Reading] | None,
    told: Mapping[str, Opinion] | None,
    part: Slice,
) -> tuple[Any, Any]:
    table = part.table()
    verdicts = judge(records_of(table, Video), taxonomy, rules, today=today, read=read, told=told)
    kept = [row for row, verdict in enumerate(verdicts) if not verdict.reason]
    ids: list[Any] = table["id"].to_pylist()
    dropped = [
        Dropped(item_id=ids[row], stage="screen", reason=verdict.reason, detail=verdict.detail)
        for row, verdict in enumerate(verdicts)
        if verdict.reason
    ]
    return cut(table, kept, {"app": [verdicts[row].app for row in kept]}), table_of(dropped, Dropped)


def _ahead(
    folder: RoundFolder,
    name: str,
    found: Sequence[Slice],
    work: Callable[[Slice], tuple[Any, Any]],
    workers: int,
    given: str = "",
) -> None:
    """Other processes write parts of the stage; who runs it afterwards finds them done."""
    workers = min(workers or os.cpu_count() or 1, len(found) // AT_ONCE)
    stage = folder.stage(name)
    parts = [(part_of(stage, _id(part), given), part) for part in found]
    todo = [item for item in parts if not stage.has(item[0])]
    if workers < 2 or not todo:
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(stage.folder, work)) as pool:
        for _ in pool.map(_write, todo):
            pass


_mine: list[Callable[[str, Slice], None]] = []
"""What this worker process does with a slice; sent once, for a taxonomy takes a while to send and to compile."""


def _begin(folder: Path, work: Callable[[Slice], tuple[Any, Any]]) -> None:
    _mine[:] = [lambda part, item: StageFolder(folder).write_tables(part, *work(item))]


def _write(item: tuple[str, Slice]) -> None:
    _mine[0](*item)


def _id(part: Slice) -> str:
    return part.id


def _label(part: Slice) -> str:
    return f"candidates {part.first_row + 1}-{part.first_row + part.rows}"
