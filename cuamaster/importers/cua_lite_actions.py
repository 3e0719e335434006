"""cua-lite's tool calls as actions: `computer` with a list of actions in 0-1000, the ways to finish, and tools of its environments.

Source: lite/core/tools/action_space/base.py and lite/core/tools/extra_tools.py in github.com/cua-lite/cua-lite. Amounts of a scroll
are notches. Actions that only look (`cursor_position`) have no counterpart and are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cuamaster.action_space import MAX_WAIT_SECONDS, CUAAction
from cuamaster.dialects.coordinates import Point, Screen, Space
from cuamaster.dialects.turn import Turn, key_list, need
from cuamaster.errors import InvalidAction

_SPACE = Space("grid", maximum=1000)
_NAMELESS = Screen(1000, 1000)
"""Coordinates are normalized, so the size of the screen does not matter."""
Arguments = Mapping[str, Any]


def actions_of(calls: Any, cursor: Point | None) -> tuple[list[CUAAction], Counter[str]]:
    """The actions of one assistant turn, and the names of what has no counterpart; raises InvalidAction."""
    if not isinstance(calls, list):
        raise InvalidAction(f"tool_calls must be a list, got {type(calls).__name__}", field="tool_calls")
    turn = Turn(_SPACE, Screen(_NAMELESS.width, _NAMELESS.height, cursor))
    names: Counter[str] = Counter()
    for call in calls:
        name, arguments = _function(call)
        if name == "computer":
            for child in _children(arguments):
                _computer(child, turn, names)
        else:
            _TOOLS.get(name, _tool(name))(arguments, turn)
    return turn.actions, names


def _function(call: Any) -> tuple[str, Arguments]:
    """(name, arguments) of `{id, type, function: {name, arguments}}`, or of the flat form of older rows."""
    function = call.get("function", call) if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise InvalidAction(f"no call with a name and arguments: {call!r:.200}", field="function")
    return name, arguments


def _children(arguments: Arguments) -> Sequence[Arguments]:
    actions = arguments.get("actions")
    if not isinstance(actions, list) or not all(isinstance(item, dict) for item in actions):
        raise InvalidAction("computer: actions must be a list of objects", field="actions")
    return actions


def _computer(child: Arguments, turn: Turn, names: Counter[str]) -> None:
    kind = child.get("action")
    if kind == "cursor_position":
        names["cursor_position"] += 1
        return
    decode = _ACTIONS.get(kind) if isinstance(kind, str) else None
    if decode is None:
        raise InvalidAction(f"computer: unknown action {kind!r}", field=f"computer:{kind}")
    decode(child, turn)


def _place(a: Arguments, turn: Turn) -> Point | None:
    return turn.pair(a["coordinate"]) if a.get("coordinate") is not None else None


def _click(a: Arguments, turn: Turn) -> None:
    turn.click(_place(a, turn) or turn.here("coordinate"), a.get("button", "left"), a.get("clicks", 1))


def _drag(a: Arguments, turn: Turn) -> None:
    end = turn.pair(need(a, "coordinate"))
    if a.get("start_coordinate") is not None:
        turn.drag([turn.pair(a["start_coordinate"], "start_coordinate"), end], a.get("button", "left"))
    else:
        turn.drag_to(end, "start_coordinate", a.get("button", "left"))


def _move(a: Arguments, turn: Turn) -> None:
    x, y = turn.pair(need(a, "coordinate"))
    turn.add("mouse.move", x=x, y=y)


def _type(a: Arguments, turn: Turn) -> None:
    turn.add("keyboard.type", text=need(a, "text"))
    if a.get("press_enter"):
        turn.add("keyboard.press", keys=["enter"])


def _each_key(kind: str) -> Callable[[Arguments, Turn], None]:
    def decode(a: Arguments, turn: Turn) -> None:
        for key in key_list(need(a, "keys")):
            turn.add(kind, key=key)

    return decode


def _wait(a: Arguments, turn: Turn) -> None:
    seconds = need(a, "duration")
    turn.wait(min(seconds, MAX_WAIT_SECONDS) if isinstance(seconds, (int, float)) else seconds)


_ACTIONS: Mapping[str, Callable[[Arguments, Turn], None]] = {
    "key": lambda a, turn: turn.press(need(a, "keys")),
    "key_down": _each_key("keyboard.down"),
    "key_up": _each_key("keyboard.up"),
    "type": _type,
    "hold_key": lambda a, turn: turn.add("keyboard.hold", keys=key_list(need(a, "keys")), seconds=need(a, "duration")),
    "mouse_move": _move,
    "click": _click,
    "drag": _drag,
    "mouse_down": lambda a, turn: turn.add("mouse.down", button=a.get("button")),
    "mouse_up": lambda a, turn: turn.add("mouse.up", button=a.get("button")),
    "scroll": lambda a, turn: turn.scroll_towards(need(a, "direction"), need(a, "amount"), _place(a, turn)),
    "wait": _wait,
    "screenshot": lambda _, turn: turn.wait(0),
}


def _terminate(a: Arguments, turn: Turn) -> None:
    turn.finish(need(a, "status"), a.get("reason"))


def _tool(name: str) -> Callable[[Arguments, Turn], None]:
    """A tool of cua-lite's environments (goto, open_app, ...): kept as a call of a tool with that name."""

    def decode(a: Arguments, turn: Turn) -> None:
        turn.add("tool.call", name=name, arguments=dict(a))

    return decode


_TOOLS: Mapping[str, Callable[[Arguments, Turn], None]] = {
    "terminate": _terminate,
    "response": lambda a, turn: turn.finish("success", need(a, "text")),
    "report_infeasible": lambda a, turn: turn.finish("infeasible", a.get("reason")),
    "bash": lambda a, turn: turn.add("shell.exec", command=need(a, "command")),
}
