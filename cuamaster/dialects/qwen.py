"""Qwen's `computer_use`: Qwen2.5-VL (pixels of the resized picture), Qwen3-VL (0-1000) and Qwen3.5 (0-1000, XML), and the
conversation that the policy sends and training rows hold.

Sources: QwenLM/Qwen2.5-VL cookbooks/utils/agent_function_call.py and qwen-vl-utils vision_process.py (resize bounds);
QwenLM/Qwen3-VL cookbooks/computer_use.ipynb ("the screen's resolution is 1000x1000"); for Qwen3.5 its chat template and
xlang-ai/OSWorld mm_agents/qwen35vl_agent.py (`text` of a click or scroll: keys held meanwhile).

Qwen3-VL and Qwen3.5 are spoken with additions that `system_prompt` tells the model of: `key_down`, `key_up` (as in EvoCUA),
`left_mouse_down`, `left_mouse_up`, status `infeasible`, a `text` with `terminate`, and the functions `shell_exec` and `tool_call`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects import qwen_calls, tool_calls
from cuamaster.dialects.answers import Call
from cuamaster.dialects.coordinates import Screen, SmartResize, Space
from cuamaster.dialects.dialect import Dialect, Writer
from cuamaster.dialects.lowering import cursor_after
from cuamaster.dialects.qwen_schema import tools
from cuamaster.dialects.vocabulary import ALL_STATUSES, LEFT_AND_SINGLES, Vocabulary
from cuamaster.errors import InvalidAction
from cuamaster.records.primitive import Mode
from cuamaster.records.trajectory import Observation, Step

__all__ = [
    "QWEN3_5",
    "QWEN3_VL",
    "QWEN25_VL",
    "cursor_after",
    "decode_calls",
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

_MAX_RESPONSE = 4000
_GRID = Screen(1000, 1000)
"""Coordinates 0-1000 do not depend on the screen: any will do where the caller has none."""

QWEN25_VL = Dialect(
    name="qwen2.5-vl",
    title="Qwen2.5-VL computer_use",
    source="QwenLM/Qwen2.5-VL, cookbooks/utils/agent_function_call.py",
    space=Space("pixels", resize=SmartResize(28, 3136, 12_845_056)),
    says=Vocabulary(
        clicks=LEFT_AND_SINGLES - {("left", 3)},
        scroll="up and down",
        statuses={"success": False, "failure": False},
    ),
    find=tool_calls.find_json,
    decode=qwen_calls.decode,
    encode=qwen_calls.encode,
    write=tool_calls.write_json,
)
_TAUGHT = Vocabulary(
    down=frozenset({"left"}), down_point="optional", held_keys=True, statuses=ALL_STATUSES, shell=True, tool=True
)
QWEN3_VL = Dialect(
    name="qwen3-vl",
    title="Qwen3-VL computer_use",
    source="QwenLM/Qwen3-VL, cookbooks/computer_use.ipynb",
    space=Space("grid", maximum=1000),
    says=_TAUGHT,
    find=tool_calls.find_json,
    decode=qwen_calls.decode,
    encode=qwen_calls.encode,
    write=tool_calls.write_json,
)
_CHORDS = qwen_calls.Habits(chords=True)
QWEN3_5 = Dialect(
    name="qwen3.5",
    title="Qwen3.5 computer_use (XML)",
    source="Qwen3.5 chat_template.jinja; xlang-ai/OSWorld, mm_agents/qwen35vl_agent.py",
    space=Space("grid", maximum=1000),
    says=replace(_TAUGHT, modifiers=frozenset({"mouse.click", "mouse.scroll"}), forbidden=("</parameter>",)),
    find=tool_calls.find_xml,
    decode=partial(qwen_calls.decode, habits=_CHORDS),
    encode=partial(qwen_calls.encode, habits=_CHORDS),
    write=tool_calls.write_xml,
)

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


def lower(action: CUAAction) -> list[CUAAction]:
    """The same effect in actions that Qwen3-VL can say, coordinates rounded; raises Inexpressible where there are none."""
    return list(QWEN3_VL.express([action], _GRID).actions)


def render_calls(action: CUAAction) -> list[dict[str, Any]]:
    """The function calls ({"name", "arguments"}) of one action; raises Inexpressible for what Qwen3-VL cannot say."""
    return [call for part in lower(action) for call in qwen_calls.encode(part, Writer(QWEN3_VL.space, _GRID))]


def render_answer(thought: str, actions: Sequence[CUAAction]) -> str:
    """The assistant's text for a batch; `parse` reads the same actions from it."""
    return QWEN3_VL.render(actions, _GRID, thought=thought)


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
    """(thought, function calls) of an answer, reasoning in <think> left aside; no calls where there is no <tool_call>.

    Raises UnreadableAnswer naming `tool_call` when a block is broken or cut off.
    """
    if tool_calls.OPEN not in text:
        return text.rpartition("</think>")[2].strip().removeprefix("Action:").strip(), []
    found = QWEN3_VL.found(text)
    return found.thought, [{"name": call.name, "arguments": call.arguments} for call in found.calls]


def parse(text: str, cursor: tuple[float, float] | None = None) -> list[CUAAction]:
    """Actions of an answer of Qwen3-VL; raises UnreadableAnswer naming the field at fault.

    `cursor`: where the pointer is (0-1000), used by clicks without a point and by drags, which give only their end.
    """
    return QWEN3_VL.parse(text, Screen(_GRID.width, _GRID.height, cursor))


def decode_calls(calls: Sequence[dict[str, Any]], cursor: tuple[float, float] | None = None) -> list[CUAAction]:
    """Actions of function calls, in order; a move that only leads up to a drag becomes the drag's start."""
    named = [Call(str(call.get("name")), _arguments(call)) for call in calls]
    return QWEN3_VL.decode_calls(named, Screen(_GRID.width, _GRID.height, cursor))


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments")
    if not isinstance(arguments, dict):
        raise InvalidAction(f"arguments must be an object, got {arguments!r}", field="arguments")
    return arguments


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _response(observation: Observation) -> str:
    answer = observation.response
    if len(answer) > _MAX_RESPONSE:
        answer = f"{answer[: _MAX_RESPONSE // 2]}\n... {len(answer) - _MAX_RESPONSE} characters left out ...\n{answer[-_MAX_RESPONSE // 2 :]}"
    return f"<tool_response>\n{answer or 'Done.'}\n</tool_response>"
