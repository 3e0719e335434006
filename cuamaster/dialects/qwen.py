"""Qwen's `computer_use`: Qwen2.5-VL (pixels of the resized picture), Qwen3-VL (0-1000) and Qwen3.5 (0-1000, XML), and the
conversation that the policy sends and training rows hold.

Sources: QwenLM/Qwen2.5-VL cookbooks/utils/agent_function_call.py and qwen-vl-utils vision_process.py (resize bounds);
QwenLM/Qwen3-VL cookbooks/computer_use.ipynb ("the screen's resolution is 1000x1000"); for Qwen3.5 its chat template and
xlang-ai/OSWorld mm_agents/qwen35vl_agent.py (`text` of a click or scroll: keys held meanwhile).

Qwen3-VL and Qwen3.5 are spoken with additions that `system_prompt` tells the model of: `key_down`, `key_up` (as in EvoCUA),
`left_mouse_down`, `left_mouse_up`, status `infeasible`, a `text` with `terminate`, and the functions `shell_exec` and `tool_call`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects import conversation, qwen_calls, tool_calls
from cuamaster.dialects.answers import Call
from cuamaster.dialects.conversation import images_of
from cuamaster.dialects.coordinates import Screen, SmartResize, Space
from cuamaster.dialects.dialect import Dialect, Writer
from cuamaster.dialects.lowering import cursor_after
from cuamaster.dialects.qwen_calls import Habits
from cuamaster.dialects.qwen_schema import Told
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
    "spoken_like_qwen",
    "system_prompt",
    "tools",
]

_GRID = Screen(1000, 1000)
"""Coordinates 0-1000 do not depend on the screen: any will do where the caller has none."""


def spoken_like_qwen(
    name: str, title: str, source: str, space: Space, says: Vocabulary, habits: Habits, *, xml: bool = False
) -> Dialect:
    """A dialect of `computer_use` calls."""
    return Dialect(
        name=name,
        title=title,
        source=source,
        space=space,
        says=says,
        find=tool_calls.find_xml if xml else tool_calls.find_json,
        decode=partial(qwen_calls.decode, habits=habits),
        encode=partial(qwen_calls.encode, habits=habits),
        write=tool_calls.write_xml if xml else tool_calls.write_json,
        prompt=Told(says, space, habits, xml).system_prompt,
    )


QWEN25_VL = spoken_like_qwen(
    "qwen2.5-vl",
    "Qwen2.5-VL computer_use",
    "QwenLM/Qwen2.5-VL, cookbooks/utils/agent_function_call.py",
    Space("pixels", resize=SmartResize(28, 3136, 12_845_056)),
    Vocabulary(clicks=LEFT_AND_SINGLES - {("left", 3)}, scroll="up and down"),
    Habits(),
)
_TAUGHT = Vocabulary(
    down=frozenset({"left"}), down_point="optional", held_keys=True, statuses=ALL_STATUSES, shell=True, tool=True
)
QWEN3_VL = spoken_like_qwen(
    "qwen3-vl",
    "Qwen3-VL computer_use",
    "QwenLM/Qwen3-VL, cookbooks/computer_use.ipynb",
    Space("grid", maximum=1000),
    _TAUGHT,
    Habits(),
)
QWEN3_5 = spoken_like_qwen(
    "qwen3.5",
    "Qwen3.5 computer_use (XML)",
    "Qwen3.5 chat_template.jinja; xlang-ai/OSWorld, mm_agents/qwen35vl_agent.py",
    Space("grid", maximum=1000),
    replace(_TAUGHT, modifiers=frozenset({"mouse.click", "mouse.scroll"}), forbidden=("</parameter>",)),
    Habits(chords=True),
    xml=True,
)


def system_prompt(mode: Mode) -> str:
    """Qwen3-VL's system message for a rollout mode, tool schemas included."""
    return conversation.system_prompt(QWEN3_VL, mode, _GRID)


def tools(mode: Mode) -> list[dict[str, Any]]:
    """Qwen3-VL's OpenAI-style function schemas: gui has no shell, cli no mouse and keyboard, mixed has all."""
    return Told(_TAUGHT, QWEN3_VL.space, Habits()).tools(mode, _GRID)


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
    """`conversation.render_steps` in Qwen3-VL's form."""
    return conversation.render_steps(
        QWEN3_VL, steps, instruction=instruction, mode=mode, current=current, hint=hint, max_images=max_images
    )


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
