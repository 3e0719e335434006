"""rl.parquet: released tasks with their verifier, environment and difficulty, and back again; no answer is in the prompt."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from cuamaster.exports.paths import on_vm
from cuamaster.exports.sample import RoundData
from cuamaster.exports.splits import lineage_keys, split_of
from cuamaster.exports.writer import ExportFile, write_rows
from cuamaster.records.episode import Episode
from cuamaster.records.primitive import Mode
from cuamaster.records.record import canonical_json
from cuamaster.records.task import Certificate, Task
from cuamaster.records.trajectory import Lineage, Observation
from cuamaster.tables import Shelf

GROUP_SIZE = 8
"""Rollouts a task in one GRPO group (CUA-Master: 8 trajectories a task)."""
_ANY = Observation(screenshot="", width=1, height=1)


def write_rl(rounds: Sequence[RoundData], folder: Path, *, mode: Mode = "mixed", seeds: bool = False) -> ExportFile:
    """Write composed tasks whose certificate is released, newest certificate first; `seeds`: those mined from videos too. Raises StoreFull."""
    rows = (rl_row(item, index=index, mode=mode) for index, item in enumerate(released(rounds, seeds=seeds)))
    return write_rows(folder / "rl.parquet", schema(RL), rows)


@dataclass(frozen=True)
class Released:
    """A task that may be trained on, and what the rounds know of it."""

    task: Task
    certificate: Certificate
    round: int
    lineage: tuple[Lineage, ...]
    attempts: int = 0
    """First attempts on real guests, without injected faults, that were judged."""
    passed: int = 0

    @property
    def success_rate(self) -> float | None:
        """Share of the attempts that passed; None when there were none."""
        return self.passed / self.attempts if self.attempts else None


def released(rounds: Sequence[RoundData], *, seeds: bool = False, policy: str = "") -> Iterator[Released]:
    """The tasks that a certificate releases, once each, in the order of the rounds.

    `seeds`: those mined from videos too; `policy`: count only attempts of policies whose name begins so.
    """
    attempts: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    sources: dict[str, Lineage] = {}
    written: set[str] = set()
    with Shelf(Certificate) as certificates:
        for data in rounds:
            sources.update(sources_of(data.trajectories))
            for certificate in data.certificates:
                certificates.put(certificate.task_id, certificate)
            for episode in data.episodes:
                first = first_attempt(episode) if episode.policy.startswith(policy) else None
                if first is not None:
                    attempts[episode.task_id] += 1
                    passed[episode.task_id] += first
        for data in rounds:
            for task in data.tasks:
                found = certificates.get(task.id)
                if found is None or not found.released or task.id in written or (task.strategy == "seed" and not seeds):
                    continue
                written.add(task.id)
                yield Released(
                    task, found, data.round, completed(task.lineage, sources), attempts[task.id], passed[task.id]
                )


def first_attempt(episode: Episode) -> bool | None:
    """Whether the first attempt passed; None for one that says nothing about the policy: faults injected, or no real guest."""
    if episode.outcome not in ("passed", "failed") or episode.injected_faults or not on_vm(episode):
        return None
    return episode.first_attempt_passed


def rl_row(item: Released, *, index: int, mode: Mode) -> dict[str, Any]:
    """One row in the columns of `columns.RL`."""
    task, certificate = item.task, item.certificate
    lineage = lineage_columns(item.lineage)
    data = task.model_dump(mode="json")
    plan, verifier = data.pop("plan"), canonical_json(data["verifier"])
    environment, split = task.environment, split_of(lineage_keys(item.lineage, task))
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
        "base_success_rate": item.success_rate,
        "split": split,
        "round": item.round,
        "lineage_ids": lineage_ids(task.lineage),
        "lineage_json": lineage["lineage_json"],
        "license": lineage["license"],
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


def read_rl(path: Path) -> list[Task]:
    """The tasks of a file that `write_rl` wrote, plan included; raises InvalidInput naming the row and what is wrong with it."""
    columns = ["task_id", "task_json", "oracle_json", "verifier_sha256", "action_space_version"]
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


def task_of(row: Mapping[str, Any], where: str) -> Task:
    """The task of one row; raises InvalidInput when it does not parse, IntegrityError when it is not the one that was released."""
    task = _task(row, row["oracle_json"], where)
    if task.id != row["task_id"]:
        raise _changed(row, where)
    return task


def task_to_learn(row: Mapping[str, Any], where: str) -> Task:
    """The task of a row that a trainer reads, which does not hold the plan; raises as `task_of` does."""
    missing = [name for name in ("task_id", "task_json", "verifier_sha256", "action_space_version") if name not in row]
    if missing:
        raise InvalidInput(f"{where}: no column {', '.join(missing)}", hint="write the dataset with `cuamaster export`")
    return _task(row, "[]", where)


def _task(row: Mapping[str, Any], plan: str, where: str) -> Task:
    version = row["action_space_version"]
    if version != ACTION_SPACE_VERSION:
        raise InvalidInput(
            f"{where}: for version {version} of the action space, this one knows {ACTION_SPACE_VERSION}",
            hint="read it with the version of cuamaster that wrote it",
        )
    try:
        task = Task.model_validate({**json.loads(row["task_json"]), "plan": json.loads(plan)})
    except (ValidationError, json.JSONDecodeError, TypeError) as exc:
        raise InvalidInput(f"{where}: not a task: {exc}") from exc
    verifier = canonical_json(task.verifier.model_dump(mode="json"))
    if hashlib.sha256(verifier.encode()).hexdigest() != row["verifier_sha256"]:
        raise _changed(row, where)
    return task


def _changed(row: Mapping[str, Any], where: str) -> IntegrityError:
    return IntegrityError(
        f"{where}: task {row['task_id']} was changed after its release", hint="certify it again as a new task"
    )
