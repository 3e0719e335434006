"""Actions in other datasets' words through our dialects, with the pointer followed from step to step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.computer_13 import COMPUTER_13
from cuamaster.dialects.coordinates import Point, Screen
from cuamaster.dialects.lowering import cursor_after
from cuamaster.dialects.pyautogui_code import AGENTNET, OSWORLD

Size = tuple[int, int]
"""Width and height of the screen in pixels."""


def code_actions(code: str, size: Size, cursor: Point | None = None, *, fractions: bool = False) -> list[CUAAction]:
    """The actions of pyautogui code, read and never run; places are pixels, or `fractions` of the screen as in AgentNet.

    Raises UnreadableAnswer.
    """
    return (AGENTNET if fractions else OSWORLD).parse(code, Screen(*size, cursor))


def computer_13_actions(action: Mapping[str, Any], size: Size, cursor: Point | None = None) -> list[CUAAction]:
    """One action of OSWorld's computer_13 space; raises UnreadableAnswer."""
    return COMPUTER_13.parse(json.dumps(dict(action), ensure_ascii=False), Screen(*size, cursor))


def cursor_of(actions: Sequence[CUAAction], cursor: Point | None) -> Point | None:
    """Where the pointer is after some actions."""
    for action in actions:
        cursor = cursor_after(action, cursor)
    return cursor
