"""Stage 9: the union of all rounds' verified trajectories and certified tasks -> sft, unproven and rl Parquet with a card."""

from __future__ import annotations

import json

from cuamaster.errors import IntegrityError
from cuamaster.exports.card import write_card
from cuamaster.exports.preflight import preflight
from cuamaster.exports.rl import write_rl
from cuamaster.exports.samples import RoundData
from cuamaster.exports.sft import write_sft
from cuamaster.exports.writer import ExportFile
from cuamaster.ports import Store
from cuamaster.records.episode import Episode
from cuamaster.records.record import content_id
from cuamaster.records.task import Certificate, Task
from cuamaster.records.trajectory import Trajectory
from cuamaster.settings import Settings
from cuamaster.tables import RoundFolder, Workspace, write_atomic

MANIFEST = "manifest.json"


def export(workspace: Workspace, store: Store, settings: Settings) -> list[ExportFile]:
    """Write the datasets under `workspace/exports`, check them, and return what was written.

    Nothing is written again while the stages that feed it are as they were. Raises IntegrityError when the check finds a fault.
    """
    folders = [workspace.round(number) for number in workspace.rounds()]
    inputs = content_id("export", [_digests(folder) for folder in folders], settings.mode)
    path = workspace.exports / MANIFEST
    if path.exists():
        manifest = json.loads(path.read_bytes())
        files = [ExportFile.model_validate(entry) for entry in manifest["files"]]
        if manifest["inputs"] == inputs and all((workspace.exports / file.name).exists() for file in files):
            return files
    rounds = [round_data(folder) for folder in folders]
    report = write_sft(rounds, store, workspace.exports)
    files = [report.sft, report.unproven, write_rl(rounds, workspace.exports, mode=settings.mode)]
    problems = preflight(workspace.exports)
    if problems:
        told = "; ".join(str(problem) for problem in problems[:5])
        raise IntegrityError(f"{workspace.exports}: {len(problems)} faults found before release: {told}")
    write_card(workspace.exports)
    dropped = [item.model_dump(mode="json") for item in report.dropped]
    entries = [file.model_dump(mode="json") for file in files]
    write_atomic(path, json.dumps({"inputs": inputs, "files": entries, "dropped": dropped}, indent=2).encode())
    return files


def round_data(folder: RoundFolder) -> RoundData:
    """What one round made, read from its stages."""
    return RoundData(
        round=folder.number,
        tasks=tasks_of(folder),
        certificates=folder.stage("certify").kept(Certificate),
        episodes=folder.stage("collect").kept(Episode),
        trajectories=folder.stage("reconstruct").kept(Trajectory),
    )


def tasks_of(folder: RoundFolder) -> list[Task]:
    """Seed tasks and composed tasks of a round, certified or not."""
    return [*folder.stage("seed-tasks").kept(Task), *folder.stage("compose").kept(Task)]


def _digests(folder: RoundFolder) -> list[str]:
    names = ("reconstruct", "seed-tasks", "compose", "certify", "collect")
    manifests = [folder.stage(name).manifest() for name in names]
    return [manifest.digest() if manifest else "" for manifest in manifests]
