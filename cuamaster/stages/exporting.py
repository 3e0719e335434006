"""Stage 9: the union of all rounds' verified trajectories and certified tasks -> sft, unproven and rl Parquet with a card."""

from __future__ import annotations

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
from cuamaster.stages.importing import TASKS, TRAJECTORIES, imported_tasks, imported_trajectories
from cuamaster.tables import RoundFolder, Workspace, write_atomic

log = logging.getLogger(__name__)
MANIFEST = "manifest.json"
GIVEN = "given-tasks"
"""The stage that keeps tasks which were not made in this round but read from an export."""


def export(workspace: Workspace, store: Store, settings: Settings) -> list[ExportFile]:
    """Write the datasets under `workspace/exports`, check them, and return what was written.

    Nothing is written again while the stages that feed it are as they were. What the check refuses never replaces what is
    there: it stays beside it for a look. Raises IntegrityError naming the faults.
    """
    folders = [folder for number in workspace.rounds() if (folder := workspace.round(number)).stages()]
    inputs = content_id("export", [_digests(folder) for folder in folders], settings.mode)
    done = exported(workspace, inputs)
    if done is not None:
        return done
    rounds = [round_data(folder) for folder in folders]
    draft = workspace.exports / "draft"
    report = write_sft(rounds, store, draft)
    files = [report.sft, report.unproven, write_rl(rounds, draft, mode=settings.mode)]
    problems = preflight(draft)
    if problems:
        told = "; ".join(str(problem) for problem in problems[:5])
        raise IntegrityError(f"{draft}: {len(problems)} faults found before release: {told}")
    write_card(draft)
    manifest = Exported(inputs=inputs, files=tuple(files), dropped=report.dropped)
    with storing(workspace.exports):
        (workspace.exports / MANIFEST).unlink(missing_ok=True)  # until the new one is there, nothing counts as exported
        for path in sorted(draft.iterdir()):
            path.replace(workspace.exports / path.name)
        draft.rmdir()
    write_atomic(workspace.exports / MANIFEST, manifest.model_dump_json(indent=2).encode())
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
    """What one round made, read from its stages."""
    return RoundData(
        round=folder.number,
        tasks=tasks_of(folder),
        certificates=folder.stage("certify").kept(Certificate),
        episodes=folder.stage("collect").kept(Episode),
        trajectories=[*folder.stage("reconstruct").kept(Trajectory), *imported_trajectories(folder)],
    )


def made_in(folder: RoundFolder) -> list[Task]:
    """Seed tasks and composed tasks of a round, certified or not."""
    return [*folder.stage("seed-tasks").kept(Task), *folder.stage("compose").kept(Task)]


def tasks_of(folder: RoundFolder) -> list[Task]:
    """Every task that the round's episodes may be of: its own, and those that were given to it from a file or imported."""
    given = folder.stage(GIVEN).kept(Task)
    return list({task.id: task for task in [*made_in(folder), *given, *imported_tasks(folder)]}.values())


def _digests(folder: RoundFolder) -> list[str]:
    names = ("reconstruct", "seed-tasks", "compose", GIVEN, TASKS, TRAJECTORIES, "certify", "collect")
    manifests = [folder.stage(name).manifest() for name in names]
    return [manifest.digest() if manifest else "" for manifest in manifests]
