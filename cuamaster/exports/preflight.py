"""Checks of exported files before anybody trains on them: what is found is listed, row by row, never repaired silently."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from cuamaster.action_space import CUAAction
from cuamaster.dialects import qwen
from cuamaster.errors import IntegrityError, InvalidAction, InvalidInput
from cuamaster.exports.columns import RL, SFT, Columns, schema
from cuamaster.exports.rl import prompt_of, task_of
from cuamaster.exports.sft import conversation
from cuamaster.exports.writer import GROUP_BYTES
from cuamaster.records.reasoning import leaves
from cuamaster.records.record import Record
from cuamaster.records.trajectory import Step

MAX_GROUP_BYTES = 4 * GROUP_BYTES
"""A group closes with the row that fills it, so one huge row may stand above GROUP_BYTES, but not far."""
_NO_VALUES = {"kind", "match", "type", "active", "row", "column", "app"}


class Problem(Record):
    """Something wrong in one file; `row` is the row's id, '' for the file itself."""

    file: str
    row: str
    check: str
    detail: str


def preflight(folder: Path) -> list[Problem]:
    """All problems of the exported files that are in `folder`; [] means that they may be released."""
    checks: list[tuple[str, Columns, str, Callable[[dict[str, Any]], Iterator[tuple[str, str]]]]] = [
        ("sft.parquet", SFT, "id", lambda row: _sft(row, {"verified", "replayed"})),
        ("unproven.parquet", SFT, "id", lambda row: _sft(row, {"none"})),
        ("rl.parquet", RL, "task_id", _rl),
    ]
    problems: list[Problem] = []
    for name, columns, key, check in checks:
        if (folder / name).exists():
            problems += _file(folder / name, columns, key, check)
    return problems


def _file(
    path: Path, columns: Columns, key: str, check: Callable[[dict[str, Any]], Iterator[tuple[str, str]]]
) -> Iterator[Problem]:
    try:
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.equals(schema(columns), check_metadata=True):
                yield Problem(
                    file=path.name,
                    row="",
                    check="schema",
                    detail="columns, types or features are not the documented ones",
                )
                return
            for index in range(file.num_row_groups):
                group = file.metadata.row_group(index)
                if group.total_byte_size > MAX_GROUP_BYTES and group.num_rows > 1:
                    yield Problem(
                        file=path.name,
                        row="",
                        check="row-group",
                        detail=f"group {index} has {group.total_byte_size} bytes",
                    )
            seen: set[str] = set()
            for row in _rows(file):
                if row[key] in seen:
                    yield Problem(
                        file=path.name, row=row[key], check="repeated", detail="an earlier row has the same id"
                    )
                seen.add(row[key])
                yield from (
                    Problem(file=path.name, row=row[key], check=name, detail=detail) for name, detail in check(row)
                )
    except (pa.ArrowInvalid, OSError) as exc:
        yield Problem(file=path.name, row="", check="readable", detail=str(exc))


def _rows(file: pq.ParquetFile) -> Iterator[dict[str, Any]]:
    """One row after the other, one row group in memory."""
    for group in range(file.num_row_groups):
        for batch in file.iter_batches(batch_size=1, row_groups=[group]):
            yield from batch.to_pylist()


def _sft(row: dict[str, Any], proofs: set[str]) -> Iterator[tuple[str, str]]:
    if row["proof"] not in proofs:
        yield "proof", f"proof {row['proof']!r} does not belong in this file"
    try:
        steps = [Step.model_validate(step) for step in json.loads(row["steps_json"])]
        messages = json.loads(row["messages"])
    except (ValidationError, json.JSONDecodeError, InvalidAction) as exc:
        yield "steps", str(exc)
        return
    if any(step.observation.feedback for step in steps):
        yield "hint", "a step carries feedback"
    if messages != qwen.render_steps(steps, instruction=row["instruction"], mode=row["mode"]):
        yield "messages", "not what the dialect renders for these steps and this instruction"
    if row["conversation"] != conversation(messages):
        yield "conversation", "not the same turns as messages"
    if json.loads(row["tools_json"]) != qwen.tools(row["mode"]):
        yield "tools", "not the dialect's tools for this mode"
    yield from _answers(messages, steps)
    yield from _pictures(row["images"], messages, steps)


def _answers(messages: list[dict[str, Any]], steps: list[Step]) -> Iterator[tuple[str, str]]:
    """Every answer, parsed as the policy would, is the step's batch; the last one and no other ends the task."""
    cursor: tuple[float, float] | None = None
    answers = [message["content"][0]["text"] for message in messages if message["role"] == "assistant"]
    for index, (text, step) in enumerate(zip(answers, steps, strict=False)):
        try:
            parsed = qwen.parse(text, cursor)
            expected = [part for item in step.actions for part in qwen.lower(item.action)]
        except InvalidAction as exc:
            yield "answer", f"step {index} cannot be parsed: {exc}"
            return
        if parsed != expected:
            yield "answer", f"step {index} is parsed as {_told(parsed)}, but was {_told(expected)}"
        for action in parsed:
            cursor = qwen.cursor_after(action, cursor)
        if (parsed[-1].type == "finish") != (index == len(steps) - 1):
            yield "finish", f"step {index} of {len(steps)} ends the task or fails to"


def _told(actions: list[CUAAction]) -> str:
    return "; ".join(action.to_json() for action in actions)


def _pictures(
    images: list[dict[str, Any]], messages: list[dict[str, Any]], steps: list[Step]
) -> Iterator[tuple[str, str]]:
    from PIL import Image, UnidentifiedImageError

    places = sum(part["type"] == "image" for message in messages for part in message["content"])
    if not places == len(images) == len(steps):
        yield "images", f"{places} placeholders, {len(images)} pictures, {len(steps)} steps"
    for index, (image, step) in enumerate(zip(images, steps, strict=False)):
        if (
            hashlib.sha256(image["bytes"]).hexdigest() != step.observation.screenshot
            or image["path"] != f"{step.observation.screenshot}.png"
        ):
            yield "images", f"picture {index} is not the one its step names"
        try:
            with Image.open(io.BytesIO(image["bytes"])) as picture:
                picture.load()
                size = picture.size
        except (UnidentifiedImageError, OSError, SyntaxError) as exc:
            yield "images", f"picture {index} does not decode: {exc}"
            continue
        if size != (step.observation.width, step.observation.height):
            yield (
                "images",
                f"picture {index} is {size[0]}x{size[1]}, its step says {step.observation.width}x{step.observation.height}",
            )


def _rl(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    try:
        task = task_of(row, "row")
    except (InvalidInput, IntegrityError) as exc:
        yield "task", str(exc)
        return
    if "plan" in json.loads(row["task_json"]):
        yield "oracle", "task_json holds the plan"
    if row["prompt"] != prompt_of(task, row["mode"]):
        yield "prompt", "not what the dialect renders for this instruction"
    told = "\n".join(turn["content"] for turn in row["prompt"] if turn["role"] != "system").replace(
        task.instruction, ""
    )
    for leaf in leaves(task.verifier):
        for name, value in leaf.model_dump().items():
            if name not in _NO_VALUES and isinstance(value, str) and len(value) > 2 and value in told:
                yield "prompt", f"holds the verifier's {name} {value!r}"
    for other, data in (("setup_json", task.environment.setup), ("verifier_json", task.verifier)):
        plain = (
            [item.model_dump(mode="json") for item in data] if isinstance(data, tuple) else data.model_dump(mode="json")
        )
        if json.loads(row[other]) != plain:
            yield "task", f"{other} is not the task's"
    if (row["K"], row["N"]) != (task.k, task.n):
        yield "difficulty", f"K, N are {row['K']}, {row['N']}, the plan has {task.k}, {task.n}"
    if json.loads(row["certificate_json"]).get("task_id") != task.id:
        yield "certificate", "is of another task"
