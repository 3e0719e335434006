"""Qwen `computer_use` (Qwen3-VL: integers 0-1000) to and from CUAAction: one rendering for the policy and for training data.

`render_steps` builds the messages that the policy sends and that an SFT row holds; `parse` reads an answer. Beside Qwen's own
actions there are `key_down`, `key_up`, `left_mouse_down` and `left_mouse_up` (as in EvoCUA), and the functions `shell_exec`
and `tool_call`. `lower` says what becomes of the rest of the action space: clicks with modifiers, held keys and drags along
a path are spelled out in several calls; relative moves, the back and forward buttons, repeated right or middle clicks and
drags with those buttons cannot be expressed and raise InvalidAction.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.qwen_calls import decode_call, encode, lower
from cuamaster.dialects.qwen_schema import tools
from cuamaster.errors import InvalidAction
from cuamaster.records.primitive import Mode
from cuamaster.records.trajectory import Observation, Step

__all__ = [
    "images_of",
    "lower",
    "parse",
    "render_answer",
    "render_calls",
    "render_steps",
    "split_answer",
    "system_prompt",
    "tools",
]

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_MAX_RESPONSE = 4000

_SYSTEM = """# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{tools}
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>

# Response format

Response format for every step:
1) Action: a short imperative describing what to do next.
2) One or more <tool_call>...</tool_call> blocks, each containing only the JSON: {{"name": <function-name>, "arguments": <args-json-object>}}.

Rules:
- Output exactly in the order: Action, <tool_call>.
- Be brief: one sentence for Action.
- Do not output anything else outside those parts.
- Put several calls in one step only if none of them needs to see the result of another.
- When the task is done or cannot be done, use action=terminate."""


def system_prompt(mode: Mode) -> str:
    """The system message for a rollout mode, tool schemas included."""
    return _SYSTEM.format(tools="\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools(mode)))


def render_calls(action: CUAAction) -> list[dict[str, Any]]:
    """The function calls ({"name", "arguments"}) of one action; raises InvalidAction for what Qwen cannot say."""
    return [call for part in lower(action) for call in encode(part)]


def render_answer(thought: str, actions: Sequence[CUAAction]) -> str:
    """The assistant's text for a batch; `parse` reads the same actions from it."""
    line = " ".join(thought.split()).replace(_OPEN, "<tool-call>")
    blocks = [
        f"{_OPEN}\n{json.dumps(call, ensure_ascii=False)}\n{_CLOSE}"
        for action in actions
        for call in render_calls(action)
    ]
    return "\n".join([f"Action: {line}", *blocks] if line else blocks)


def render_steps(
    steps: Sequence[Step],
    *,
    instruction: str,
    mode: Mode = "gui",
    current: Observation | None = None,
    hint: str = "",
    max_images: int | None = None,
) -> list[dict[str, Any]]:
    """System, then user and assistant turns; every content is a list of {"type": "text", "text"} and {"type": "image"} parts.

    `current` adds a last user turn to be answered, `hint` to that turn only (training rows never pass one); `max_images`
    keeps only the newest pictures. The k-th image part shows the k-th digest of `images_of` with the same arguments.
    """
    observations = [step.observation for step in steps] + ([current] if current else [])
    first_shown = 0 if max_images is None else len(observations) - max_images
    messages = [{"role": "system", "content": [_text(system_prompt(mode))]}]
    for index, observation in enumerate(observations):
        words = f"Instruction: {instruction}" if index == 0 else _response(observation)
        if hint and current is not None and index == len(steps):
            words += f"\n\nFeedback on an earlier attempt, which was undone: {hint}"
        shown: dict[str, Any] = {"type": "image"} if index >= first_shown else _text("(earlier screenshot left out)")
        messages.append({"role": "user", "content": [_text(words), shown]})
        if index < len(steps):
            step = steps[index]
            answer = render_answer(step.thought, [item.action for item in step.actions])
            messages.append({"role": "assistant", "content": [_text(answer)]})
    return messages


def images_of(steps: Sequence[Step], current: Observation | None = None, max_images: int | None = None) -> list[str]:
    """Screenshot digests in the order of the image parts of `render_steps`."""
    digests = [step.observation.screenshot for step in steps] + ([current.screenshot] if current else [])
    return digests if max_images is None else digests[max(0, len(digests) - max_images) :]


def split_answer(text: str) -> tuple[str, list[dict[str, Any]]]:
    """(thought, function calls) of an answer, reasoning in <think> left aside.

    Raises InvalidAction naming `tool_call` when a block is broken or cut off.
    """
    if "</think>" in text and text.find("</think>") < text.rfind(_OPEN):
        text = text.split("</think>", 1)[1]
    head, found, rest = text.partition(_OPEN)
    thought = head.strip().removeprefix("Action:").strip()
    calls: list[dict[str, Any]] = []
    decoder = json.JSONDecoder()
    while found:
        body = rest.lstrip()
        try:
            # Decoding stops at the end of the object, so typed text may hold anything, a closing tag included.
            call, end = decoder.raw_decode(body)
        except json.JSONDecodeError as exc:
            raise InvalidAction(
                f"tool call {len(calls) + 1} is not JSON or is cut off: {exc}", field="tool_call"
            ) from None
        if not isinstance(call, dict):
            raise InvalidAction(f"tool call {len(calls) + 1} must be an object, got {call!r}", field="tool_call")
        calls.append(call)
        after = body[end:].lstrip()
        if after and not after.startswith((_CLOSE, _OPEN)):
            raise InvalidAction(
                f"tool call {len(calls)} is followed by {after[:40]!r} instead of {_CLOSE}", field="tool_call"
            )
        _, found, rest = after.removeprefix(_CLOSE).partition(_OPEN)
    return thought, calls


def parse(text: str, cursor: tuple[float, float] | None = None) -> list[CUAAction]:
    """Actions of an answer; raises InvalidAction naming the field at fault.

    `cursor`: where the pointer is (0-1000), used by clicks without a point and by drags, which give only their end.
    """
    _, calls = split_answer(text)
    if not calls:
        raise InvalidAction(
            "the answer holds no <tool_call>", field="tool_call", hint="answer with at least one tool call"
        )
    return decode_calls(calls, cursor)


def decode_calls(calls: Sequence[dict[str, Any]], cursor: tuple[float, float] | None = None) -> list[CUAAction]:
    """Actions of function calls, in order; a move that only leads up to a drag becomes the drag's start."""
    actions: list[CUAAction] = []
    for call in calls:
        action = decode_call(call, cursor)
        action.validate()
        cursor = cursor_after(action, cursor)
        if action.type == "mouse.drag" and actions and actions[-1].type == "mouse.move":
            actions.pop()
        actions.append(action)
    return actions


def cursor_after(action: CUAAction, cursor: tuple[float, float] | None) -> tuple[float, float] | None:
    """Where the pointer is after an action."""
    if action.type == "mouse.drag":
        x, y = action.args["path"][-1]
        return x, y
    if action.type == "mouse.move_relative":
        return None
    return (action.args["x"], action.args["y"]) if "x" in action.args else cursor


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _response(observation: Observation) -> str:
    answer = observation.response
    if len(answer) > _MAX_RESPONSE:
        answer = f"{answer[: _MAX_RESPONSE // 2]}\n... {len(answer) - _MAX_RESPONSE} characters left out ...\n{answer[-_MAX_RESPONSE // 2 :]}"
    return f"<tool_response>\n{answer or 'Done.'}\n</tool_response>"
