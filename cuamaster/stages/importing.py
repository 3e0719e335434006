"""Brings other people's datasets into a round: what an importer found, kept and dropped, in two stages beside the round's own."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import Field

from cuamaster.errors import InvalidInput
from cuamaster.importers.agentnet import read_agentnet
from cuamaster.importers.cua_lite import read_cua_lite
from cuamaster.importers.found import NOT_MAPPED, Found, Skip, named
from cuamaster.importers.osworld import TASK_PREFIX, read_osworld
from cuamaster.ports import Store
from cuamaster.records.record import Record, content_id
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Trajectory
from cuamaster.tables import RoundFolder, StageFolder

log = logging.getLogger(__name__)
TASKS = "import-tasks"
TRAJECTORIES = "import-trajectories"


class Imported(Record):
    """The result of one import."""

    records: int = Field(description="records of the source that were looked at")
    tasks: int
    trajectories: int
    dropped: int = Field(description="records of which nothing was kept")
    already: int = Field(description="records that an earlier import had finished; they stay as they are")
    reasons: tuple[tuple[str, str, int], ...] = Field(
        description="(reason, name, number of records): why records were dropped; `not-mapped`: what of kept ones has no place here"
    )


def import_agentnet(
    folder: RoundFolder, path: Path, store: Store, *, images: Path | None = None, license_name: str | None = None
) -> Imported:
    """Trajectories of an AgentNet JSONL file."""
    _is_folder(images, "--images")
    return _import(
        folder, "", lambda skip: read_agentnet(path, store, images=images, license_name=license_name, skip=skip)
    )


def import_osworld(
    folder: RoundFolder, paths: Sequence[Path], store: Store, *, image: str, files: Path | None = None
) -> Imported:
    """OSWorld's tasks for a guest image, and the trajectories of its result folders.

    Tasks are read again when `files` is given: what was not there before may be there now.
    """
    _is_folder(files, "--files")
    given = f"{image} {files.resolve()}" if files else image
    return _import(folder, given, lambda skip: read_osworld(paths, store, image=image, files=files, skip=skip))


def import_cua_lite(
    folder: RoundFolder, path: Path, store: Store, *, images: Path | None = None, license_name: str | None = None
) -> Imported:
    """Trajectories of cua-lite's Parquet files."""
    _is_folder(images, "--images")
    return _import(
        folder, "", lambda skip: read_cua_lite(path, store, images=images, license_name=license_name, skip=skip)
    )


def _is_folder(path: Path | None, option: str) -> None:
    if path is not None and not path.is_dir():
        raise InvalidInput(f"{option} {path}: no such folder")


def _import(folder: RoundFolder, given: str, read: Callable[[Skip], Iterator[Found]]) -> Imported:
    """Write every record as soon as it is read: an interrupted import goes on where it stopped, and imports add up."""
    stages = {name: folder.stage(name) for name in (TASKS, TRAJECTORIES)}

    def place(item: str) -> tuple[StageFolder, str]:
        stage = stages[TASKS if item.startswith(TASK_PREFIX) else TRAJECTORIES]
        return stage, content_id("part", stage.name, item, given)

    def done(item: str) -> bool:
        stage, part = place(item)
        return stage.has(part)

    records = tasks = trajectories = empty = already = 0
    names: Counter[tuple[str, str]] = Counter()
    for found in read(done):
        records += 1
        stage, part = place(found.id)
        if found.skipped or stage.has(part):
            already += 1
            continue
        tasks += sum(isinstance(record, Task) for record in found.kept)
        trajectories += sum(isinstance(record, Trajectory) for record in found.kept)
        empty += not found.kept
        names.update(named(found.dropped))
        stage.write(part, found.kept, found.dropped)
        log.debug("%s: %s", found.id, "kept" if found.kept else "dropped")
    for stage in stages.values():
        if stage.items():
            stage.close(content_id("inputs", stage.name, stage.items()))
    counts = sorted(names.items(), key=lambda pair: (pair[0][0] == NOT_MAPPED, -pair[1], pair[0]))
    return Imported(
        records=records, tasks=tasks, trajectories=trajectories, dropped=empty, already=already,
        reasons=tuple((reason, name, count) for (reason, name), count in counts),
    )  # fmt: skip


def imported_tasks(folder: RoundFolder) -> list[Task]:
    """The tasks that were imported into a round."""
    return list({task.id: task for task in folder.stage(TASKS).kept(Task)}.values())


def imported_trajectories(folder: RoundFolder) -> list[Trajectory]:
    """The trajectories that were imported into a round."""
    return folder.stage(TRAJECTORIES).kept(Trajectory)
