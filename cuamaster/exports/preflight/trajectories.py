"""A row of sft or unproven says one thing only once: steps, messages, string turns, tools and pictures agree."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from cuamaster.action_space import COORD_MAX, CUAAction
from cuamaster.dialects import qwen
from cuamaster.errors import InvalidAction
from cuamaster.exports.preflight.pictures import Found, Pictures, check_pictures
from cuamaster.exports.sft import conversation
from cuamaster.records.trajectory import Step


def check_trajectory(row: Mapping[str, Any], proofs: set[str], pictures: Pictures) -> Found:
    """Faults of a row in the columns of `columns.SFT`; `proofs`: those that belong in its file."""
    if row["proof"] not in proofs:
        yield "proof", f"proof {row['proof']!r} does not belong in this file"
    try:
        plain = json.loads(row["steps_json"])
        messages = json.loads(row["messages"])
    except json.JSONDecodeError as exc:
        yield "steps", str(exc)
        return
    yield from outside(plain)
    try:
        steps = [Step.model_validate(step) for step in plain]
    except (ValidationError, TypeError) as exc:
        yield "steps", str(exc)
        return
    if any(step.observation.feedback for step in steps):
        yield "hint", "a step carries feedback"
    if messages != qwen.render_steps(steps, instruction=row["instruction"], mode=row["mode"]):
        yield "messages", "not what the dialect renders for these steps and this instruction"
    try:
        turns = conversation(messages)
    except (KeyError, TypeError):
        yield "messages", "not role and content parts"
        return
    if row["conversation"] != turns:
        yield "conversation", "not the same turns as messages"
    if json.loads(row["tools_json"]) != qwen.tools(row["mode"]):
        yield "tools", "not the dialect's tools for this mode"
    yield from _answers(messages, steps)
    yield from _shown(row["images"], messages, steps, pictures)
    yield from check_pictures(row["images"], pictures)


def outside(steps: Any) -> Found:
    """Coordinates of plain steps that are no point of the picture: below 0, above 1000, or no number."""
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        for item in _of(step, "actions", list):
            args = _of(_of(item, "action", dict), "args", dict)
            points = [(name, args[name]) for name in ("x", "y") if name in args]
            points += [
                ("path", value) for point in _of(args, "path", list) if isinstance(point, list) for value in point
            ]
            for name, value in points:
                if not isinstance(value, (int, float)) or not 0 <= value <= COORD_MAX:
                    yield "coordinates", f"step {index}: {name} is {value!r}, coordinates are 0-1000"


def _of(value: Any, name: str, kind: type) -> Any:
    """An entry of plain JSON if it is there and of that kind, else an empty one."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, kind) else kind()


def _answers(messages: Sequence[Mapping[str, Any]], steps: Sequence[Step]) -> Found:
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


def _told(actions: Sequence[CUAAction]) -> str:
    return "; ".join(action.to_json() for action in actions)


def _shown(
    images: Sequence[Mapping[str, Any]],
    messages: Sequence[Mapping[str, Any]],
    steps: Sequence[Step],
    pictures: Pictures,
) -> Found:
    """One picture for each placeholder, the one its step names, of the size its step says."""
    places = sum(part["type"] == "image" for message in messages for part in message["content"])
    if not places == len(images) == len(steps):
        yield "images", f"{places} placeholders, {len(images)} pictures, {len(steps)} steps"
    looked = pictures.look([image["bytes"] for image in images])
    for index, (image, seen, step) in enumerate(zip(images, looked, steps, strict=False)):
        named = step.observation
        if seen.digest != named.screenshot or image["path"] != f"{named.screenshot}.png":
            yield "images", f"picture {index} is not the one its step names"
        if not seen.fault and seen.size != (named.width, named.height):
            size = f"{seen.size[0]}x{seen.size[1]}"
            yield "images", f"picture {index} is {size}, its step says {named.width}x{named.height}"
