"""Export: the union of all rounds' verified trajectories and certified tasks -> sft, unproven and rl Parquet with a card."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path

from pydantic import ValidationError

from cuamaster.errors import IntegrityError, storing
from cuamaster.exports.card import write_card
from cuamaster.exports.preflight import preflight
from cuamaster.exports.rl import write_rl
from cuamaster.exports.samples import RoundData
from cuamaster.exports.sft import write_sft
from cuamaster.exports.writer import ExportFile
from cuamaster.ports import Store
from cuamaster.records.episode import Dropped, Episode
from cuamaster.records.record import Record, content_id
from cuamaster.records.task import Certificate, Task
from cuamaster.records.trajectory import Trajectory
from cuamaster.settings import Settings
from cuamaster.stages.importing import TASKS as IMPORTED_TASKS
from cuamaster.stages.importing import TRAJECTORIES as IMPORTED_TRAJECTORIES
from cuamaster.stages.importing import imported_tasks
from cuamaster.tables import RoundFolder, Rows, Workspace, alone, publish, restore, write_atomic

log = logging.getLogger(__name__)
MANIFEST = "manifest.json"
DRAFT = "exports-draft"
GIVEN = "given-tasks"
"""The stage that keeps tasks which were not made in this round but read from an export."""
TASKS = ("seed-tasks", "compose", GIVEN, IMPORTED_TASKS)
"""The stages whose tasks a round's episodes may be of."""
TRAJECTORIES = ("reconstruct", IMPORTED_TRAJECTORIES)
FEEDING = (*TRAJECTORIES, *TASKS, "certify", "collect")
"""The stages that exports are made of."""


def export(workspace: Workspace, store: Store, settings: Settings) -> list[ExportFile]:
    """Write the datasets under `workspace/exports`, check them, and return what was written.

    Nothing is written again while the stages that feed it are as they were. What the check refuses never replaces what is
    there: it stays beside it, in `exports-draft`, for a look. Raises IntegrityError naming the faults; FolderBusy.
    """
    with alone(workspace.exports):
        restore(workspace.exports)
        folders = [folder for number in workspace.rounds() if (folder := workspace.round(number)).stages()]
        inputs = content_id("export", [_digests(folder) for folder in folders], settings.mode)
        done = exported(workspace, inputs)
        if done is not None:
            return done
        draft = workspace.exports.with_name(DRAFT)
        try:
            return _replaced(workspace, store, settings, draft, inputs, [round_data(folder) for folder in folders])
        finally:
            with contextlib.suppress(OSError):  # there, and empty, when an error came before the first file
                draft.rmdir()


def _replaced(
    workspace: Workspace, store: Store, settings: Settings, draft: Path, inputs: str, rounds: list[RoundData]
) -> list[ExportFile]:
    report = write_sft(rounds, store, draft)
    files = [report.sft, report.unproven, write_rl(rounds, draft, mode=settings.mode)]
    problems = preflight(draft)
    if problems:
        told = "; ".join(str(problem) for problem in problems[:5])
        raise IntegrityError(f"{draft}: {len(problems)} faults found before release: {told}")
    write_card(draft)
    manifest = Exported(inputs=inputs, files=tuple(files), dropped=report.dropped)
    write_atomic(draft / MANIFEST, manifest.model_dump_json(indent=2).encode())
    with storing(draft):
        for path in workspace.exports.glob("*"):
            if not (draft / path.name).exists():  # what somebody put there is not ours to lose
                path.rename(draft / path.name)
    publish(draft, workspace.exports)
    return files


class Exported(Record):
    """The manifest of the exports: what they were made of, the files, and what could not be written."""

    inputs: str
    files: tuple[ExportFile, ...]
    dropped: tuple[Dropped, ...]


def exported(workspace: Workspace, inputs: str = "") -> list[ExportFile] | None:
    """The files of the last export, or None if there is none (or none of these `inputs`)."""
    path = workspace.exports / MANIFEST
    try:
        manifest = Exported.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as exc:  # everything here can be made again from the rounds
        log.warning("%s is damaged, so nothing counts as exported: %s", path, exc)
        return None
    there = all(_size(workspace.exports / file.name) == file.bytes for file in manifest.files)
    return list(manifest.files) if there and inputs in ("", manifest.inputs) else None


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


def round_data(folder: RoundFolder) -> RoundData:
    """What one round made, read from its stages as it is looked at."""

    def files(*names: str) -> list[Path]:
        return [path for name in names for path in folder.stage(name).files("kept")]

    return RoundData(
        round=folder.number,
        tasks=Rows(files(*TASKS), Task),
        certificates=Rows(files("certify"), Certificate),
        episodes=Rows(files("collect"), Episode),
        trajectories=Rows(files(*TRAJECTORIES), Trajectory),
    )


def made_in(folder: RoundFolder) -> list[Task]:
    """Seed tasks and composed tasks of a round, certified or not."""
    return [*folder.stage("seed-tasks").kept(Task), *folder.stage("compose").kept(Task)]


def tasks_of(folder: RoundFolder) -> list[Task]:
    """Every task that the round's episodes may be of: its own, and those that were given to it from a file or imported."""
    given = folder.stage(GIVEN).kept(Task)
    return list({task.id: task for task in [*made_in(folder), *given, *imported_tasks(folder)]}.values())


def _digests(folder: RoundFolder) -> list[str]:
    manifests = [folder.stage(name).manifest() for name in FEEDING]
    return [manifest.digest() if manifest else "" for manifest in manifests]
