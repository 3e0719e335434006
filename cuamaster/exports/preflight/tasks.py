"""A row of rl is the task that was released: its hash, plan, prompt and certificate agree, and no answer is in the prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from cuamaster.errors import IntegrityError, InvalidInput
from cuamaster.exports.preflight.pictures import Found
from cuamaster.exports.rl import prompt_of, task_of
from cuamaster.records.parts import leaves
from cuamaster.records.task import Certificate, Task

_NO_VALUES = {"kind", "match", "type", "active", "row", "column", "app"}


def check_task(row: dict[str, Any]) -> Found:
    """Faults of a row in the columns of `columns.RL`."""
    try:
        task = task_of(row, "row")
    except (InvalidInput, IntegrityError) as exc:
        yield "task", str(exc)
        return
    if "plan" in json.loads(row["task_json"]):
        yield "oracle", "task_json holds the plan"
    if row["prompt"] != prompt_of(task, row["mode"]):
        yield "prompt", "not what the dialect renders for this instruction"
    yield from _told(row, task)
    for other, data in (("setup_json", task.environment.setup), ("verifier_json", task.verifier)):
        plain = (
            [item.model_dump(mode="json") for item in data] if isinstance(data, tuple) else data.model_dump(mode="json")
        )
        if json.loads(row[other]) != plain:
            yield "task", f"{other} is not the task's"
    if (row["K"], row["N"]) != (task.k, task.n):
        yield "difficulty", f"K, N are {row['K']}, {row['N']}, the plan has {task.k}, {task.n}"
    yield from _certified(row, task)


def _told(row: Mapping[str, Any], task: Task) -> Found:
    """Values of the verifier that the prompt gives away beside the instruction."""
    said = "\n".join(turn["content"] for turn in row["prompt"] if turn["role"] != "system").replace(
        task.instruction, ""
    )
    for leaf in leaves(task.verifier):
        for name, value in leaf.model_dump().items():
            if name not in _NO_VALUES and isinstance(value, str) and len(value) > 2 and value in said:
                yield "prompt", f"holds the verifier's {name} {value!r}"


def _certified(row: Mapping[str, Any], task: Task) -> Found:
    try:
        certificate = Certificate.model_validate_json(row["certificate_json"] or "{}")
    except ValidationError as exc:
        first = exc.errors()[0]
        yield "certificate", f"is none: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        return
    if certificate.task_id != task.id:
        yield "certificate", "is of another task"
    if not certificate.released:
        probes = ", ".join(f"{probe.name} {probe.verdict.status}" for probe in certificate.probes) or "no probes"
        yield "certificate", f"does not release the task: {probes}"
    if certificate.image_digest != row["env_image_digest"]:
        yield "certificate", "is from another image than the one the row names"
