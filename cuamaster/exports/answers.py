"""What the model says in rows of any trainer's shape, answer by answer, and in which dialect, as far as the row tells it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cuamaster.dialects import qwen
from cuamaster.dialects.coordinates import Screen
from cuamaster.dialects.dialect import Dialect
from cuamaster.dialects.pyautogui_code import AGENTNET
from cuamaster.dialects.tool_calls import OPEN
from cuamaster.exports.preflight.texts import spoken_text

_TALKS = ("completion", "messages", "conversation", "conversations")
_RESOLUTION = re.compile(r"screen's resolution is (\d{2,5})x(\d{2,5})")
"""How Qwen's cookbooks tell the unit of coordinates in the description of `computer_use`; 1000x1000 stands for thousandths."""


@dataclass(frozen=True)
class Answer:
    """One answer; without a `dialect` nothing in the row says how it is to be read."""

    text: str
    dialect: Dialect | None
    screen: Screen
    """What places are counted on; the pointer is somewhere."""


def answers(row: Mapping[str, Any], *columns: str) -> Iterator[Answer]:
    """The answers of the first of the `columns` that the row has, by default what is learnt of a trajectory; AgentNet's steps."""
    steps = row.get("traj")
    if isinstance(steps, list) and not columns:
        for step in steps:
            value = step.get("value") if isinstance(step, Mapping) else None
            code = value.get("code") if isinstance(value, Mapping) else None
            yield Answer(code if isinstance(code, str) else "", AGENTNET, _screen(1000, 1000))
        return
    turns = next((_turns(row[name]) for name in columns or _TALKS if row.get(name)), [])
    told = [turn for name in ("prompt", *_TALKS) for turn in _turns(row.get(name))[:1] if _role(turn) == "system"]
    size = next((found for turn in told if (found := _RESOLUTION.search(_said(turn)))), None)
    width, height = (int(size[1]), int(size[2])) if size else (1000, 1000)
    for turn in turns:
        if _role(turn) in ("assistant", "gpt"):
            text = _said(turn)
            yield Answer(text, _qwen(text, (width, height)) if size else None, _screen(width, height))


def _qwen(text: str, size: tuple[int, int]) -> Dialect | None:
    if OPEN not in text:
        return None
    if size != (1000, 1000):
        return qwen.QWEN25_VL
    return qwen.QWEN3_5 if "<function=" in text else qwen.QWEN3_VL


def _screen(width: int, height: int) -> Screen:
    return Screen(width, height, cursor=(0, 0))


def _turns(value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    return [turn for turn in value if isinstance(turn, Mapping)] if isinstance(value, list) else []


def _role(turn: Mapping[str, Any]) -> Any:
    return turn.get("role") or turn.get("from")


def _said(turn: Mapping[str, Any]) -> str:
    """The words of a turn, calls that lie beside them written as they are in the text."""
    words = spoken_text(turn.get("content") if "content" in turn else turn.get("value"))
    calls = turn.get("tool_calls")
    functions = (
        [call.get("function", call) for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    )
    return "\n".join([words, *(f"{OPEN}\n{json.dumps(function)}\n</tool_call>" for function in functions)]).strip()
