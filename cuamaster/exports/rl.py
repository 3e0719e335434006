"""rl.parquet: released tasks with their verifier, environment and difficulty, and back again; no answer is in the prompt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from cuamaster.action_space import ACTION_SPACE_VERSION
from cuamaster.dialects import qwen
from cuamaster.errors import IntegrityError, InvalidInput
from cuamaster.exports.columns import RL, schema
from cuamaster.exports.lineage import completed, lineage_columns, lineage_ids, sources_of
from cuamaster.exports.samples import RoundData, on_vm
from cuamaster.exports.writer import ExportFile, write_rows
from cuamaster.records.episode import Episode
from cuamaster.records.primitive import Mode
from cuamaster.records.record import canonical_json
from cuamaster.records.task import Certificate, Task
from cuamaster.records.trajectory import Observation

GROUP_SIZE = 8
"""Rollouts a task in one GRPO group (CUA-Master: 8 trajectories a task)."""
VALIDATION_PERCENT = 5
_ANY = Observation(screenshot="", width=1, height=1)


def write_rl(rounds: Sequence[RoundData], folder: Path, *, mode: Mode = "mixed", seeds: bool = False) -> ExportFile:
    """Write composed tasks whose certificate is released, newest certificate first; `seeds`: those mined from videos too. Raises StoreFull."""
    return write_rows(folder / "rl.parquet", schema(RL), _rows(rounds, mode, seeds))


def _rows(rounds: Sequence[RoundData], mode: Mode, seeds: bool) -> Iterator[dict[str, Any]]:
    certificates = {certificate.task_id: certificate for data in rounds for certificate in data.certificates}
    episodes: dict[str, list[Episode]] = {}
    for data in rounds:
        for episode in data.episodes:
            episodes.setdefault(episode.task_id, []).append(episode)
    written: set[str] = set()
    sources = sources_of(trajectory for data in rounds for trajectory in data.trajectories)
    for data in rounds:
        for task in data.tasks:
            certificate = certificates.get(task.id)
            if (
                certificate is None
                or not certificate.released
                or task.id in written
                or (task.strategy == "seed" and not seeds)
            ):
                continue
            row = rl_row(task, certificate, index=len(written), round_number=data.round, mode=mode)
            written.add(task.id)
            lineage = lineage_columns(completed(task.lineage, sources))
            row.update({name: lineage[name] for name in ("lineage_json", "license")})
            yield {**row, "base_success_rate": success_rate(episodes.get(task.id, []))}


def rl_row(task: Task, certificate: Certificate, *, index: int, round_number: int, mode: Mode) -> dict[str, Any]:
    """What one task says of itself in the columns of `columns.RL`; success rate and lineage come from its rounds."""
    data = task.model_dump(mode="json")
    plan, verifier = data.pop("plan"), canonical_json(data["verifier"])
    environment, split = task.environment, split_of(task)
    width, height = environment.screen
    return {
        "task_id": task.id,
        "instruction": task.instruction,
        "prompt": prompt_of(task, mode),
        "mode": mode,
        "images": [],
        "data_source": "cuamaster",
        "ability": "computer-use",
        "agent_name": "cuamaster_desktop",
        "reward_model": {"style": "rule", "ground_truth": verifier},
        "extra_info": {"index": index, "split": split, "task_id": task.id, "K": task.k, "N": task.n},
        "env_class": "cuamaster",
        "reward_spec": {"method": "rule", "ground_truth": verifier},
        "env_id": environment.image,
        "env_image_digest": certificate.image_digest,
        "os": "linux",
        "snapshot_id": f"{environment.image}@{certificate.image_digest}",
        "setup_json": canonical_json(data["environment"]["setup"]),
        "verifier_json": verifier,
        "verifier_sha256": hashlib.sha256(verifier.encode()).hexdigest(),
        "task_json": canonical_json(data),
        "oracle_json": canonical_json(plan),
        "certificate_json": certificate.to_json(),
        "action_space_version": ACTION_SPACE_VERSION,
        "K": task.k,
        "N": task.n,
        "apps": list(task.apps),
        "domain": task.domain,
        "strategy": task.strategy,
        "capabilities": list(environment.capabilities),
        "screen_w": width,
        "screen_h": height,
        "max_steps": task.max_steps,
        "timeout_s": task.timeout_s,
        "seed": task.seed,
        "group_size_hint": GROUP_SIZE,
        "split": split,
        "round": round_number,
        "lineage_ids": lineage_ids(task.lineage),
    }


def prompt_of(task: Task, mode: Mode) -> list[dict[str, str]]:
    """System and first user turn as the dialect renders them, without the picture: the environment gives that at reset."""
    messages = qwen.render_steps([], instruction=task.instruction, mode=mode, current=_ANY)
    return [
        {
            "role": message["role"],
            "content": "\n".join(part["text"] for part in message["content"] if part["type"] == "text"),
        }
        for message in messages
    ]


def split_of(task: Task) -> str:
    """train or validation, the same for all tasks that combine the same primitives."""
    family = canonical_json(sorted(use.primitive.id for use in task.plan))
    bucket = int(hashlib.sha256(family.encode()).hexdigest(), 16) % 100
    return "validation" if bucket < VALIDATION_PERCENT else "train"


def success_rate(episodes: Sequence[Episode]) -> float | None:
    """Share of first attempts on real guests that passed, without injected faults; None when there were none."""
    first = [
        episode.first_attempt_passed
        for episode in episodes
        if episode.outcome in ("passed", "failed") and not episode.injected_faults and on_vm(episode)
    ]
    judged = [passed for passed in first if passed is not None]
    return sum(judged) / len(judged) if judged else None


def read_rl(path: Path) -> list[Task]:
    """The tasks of a file that `write_rl` wrote, plan included; raises InvalidInput naming the row and what is wrong with it."""
    columns = ["task_id", "task_json", "oracle_json", "verifier_sha256"]
    try:
        with pq.ParquetFile(path) as file:
            missing = [name for name in columns if name not in file.schema_arrow.names]
            if missing:
                raise InvalidInput(
                    f"{path}: no column {', '.join(missing)}", hint="give an rl.parquet of `cuamaster export`"
                )
            rows = [row for batch in file.iter_batches(columns=columns) for row in batch.to_pylist()]
    except FileNotFoundError as exc:
        raise InvalidInput(f"{path}: no such file") from exc
    except (pa.ArrowException, UnicodeDecodeError, OSError) as exc:
        raise InvalidInput(f"{path}: damaged, or not a Parquet file: {exc}") from exc
    return [task_of(row, f"{path}, row {number}") for number, row in enumerate(rows)]


def task_of(row: dict[str, Any], where: str) -> Task:
    """The task of one row; raises InvalidInput when it does not parse, IntegrityError when it is not the one that was released."""
    try:
        task = Task.model_validate({**json.loads(row["task_json"]), "plan": json.loads(row["oracle_json"])})
    except (ValidationError, json.JSONDecodeError, TypeError) as exc:
        raise InvalidInput(f"{where}: not a task: {exc}") from exc
    verifier = hashlib.sha256(canonical_json(task.verifier.model_dump(mode="json")).encode()).hexdigest()
    if task.id != row["task_id"] or verifier != row["verifier_sha256"]:
        raise IntegrityError(
            f"{where}: task {row['task_id']} was changed after its release", hint="certify it again as a new task"
        )
    return task
