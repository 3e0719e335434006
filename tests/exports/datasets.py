"""A workspace whose closed stages hold what a round made."""

from __future__ import annotations

from cuamaster.exports.samples import RoundData
from cuamaster.records.record import Record
from cuamaster.tables import Workspace, record_id


def keep(workspace: Workspace, data: RoundData) -> None:
    """Write a round's stages and close them, as the stages themselves would."""
    seeds = [task for task in data.tasks if task.strategy == "seed"]
    composed = [task for task in data.tasks if task.strategy != "seed"]
    stages: dict[str, list[Record]] = {
        "reconstruct": list(data.trajectories), "seed-tasks": list(seeds), "compose": list(composed),
        "certify": list(data.certificates), "collect": list(data.episodes),
    }  # fmt: skip
    for name, records in stages.items():
        stage = workspace.round(data.round).stage(name)
        for record in records:
            stage.write(record_id(record), [record])
        stage.close(f"{name}-{len(records)}")
