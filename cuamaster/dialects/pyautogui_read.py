"""Calls of pyautogui and of the modules around it as actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.answers import Call
from cuamaster.dialects.code_values import is_number
from cuamaster.dialects.coordinates import Point
from cuamaster.dialects.turn import Turn, key_list, need
from cuamaster.errors import InvalidAction

OSWORLD_PAUSE = 2.0
"""Seconds of OSWorld's WAIT (DesktopEnv.step, `pause`)."""
OPENCUA_WAIT = 20.0
"""Seconds of `computer.wait()`, as its description tells the model."""
SCALECUA_WAIT = 3.0


def decode(call: Call, turn: Turn, *, failure: str = "failure") -> None:
    """One call; `failure`: what FAIL means. Raises InvalidAction naming the field at fault."""
    name, args = call.name, call.arguments
    match name.removeprefix("computer."):
        case "click" | "leftClick" | "doubleClick" | "rightClick" | "middleClick" | "tripleClick" as kind:
            fixed = {"doubleClick": 2, "tripleClick": 3}.get(kind)
            button = {"rightClick": "right", "middleClick": "middle"}.get(kind) or args.get("button") or "left"
            _clicks(turn, turn.perhaps_at(args) or turn.here("x"), _button(button), fixed or args.get("clicks", 1))
        case "moveTo":
            x, y = turn.perhaps_at(args) or turn.here("x")
            turn.add("mouse.move", x=x, y=y)
        case "move" | "moveRel":
            dx, dy = _offset(args, turn)
            turn.add("mouse.move_relative", dx=dx, dy=dy)
        case "dragTo":
            turn.drag_to(turn.perhaps_at(args) or turn.here("x"), "x", _button(args.get("button") or "left"))
        case "drag" | "dragRel":
            (dx, dy), (x, y) = _offset(args, turn), turn.here("x")
            turn.drag(
                [(x, y), (min(1000, max(0, x + dx)), min(1000, max(0, y + dy)))], _button(args.get("button") or "left")
            )
        case "mouseDown" | "mouseUp" as kind:
            turn.button(
                kind.removeprefix("mouse").lower(), turn.perhaps_at(args), _button(args.get("button") or "left")
            )
        case "scroll" | "vscroll" | "hscroll" as kind:
            way = need(args, "clicks", "amount")
            if isinstance(way, float) and way == round(way):
                way = int(way)
            turn.scroll(**({"dx": way} if kind == "hscroll" else {"dy": _negative(way)}), at=turn.perhaps_at(args))
        case "write" | "typewrite":
            _write(turn, need(args, "message", "text", "msg"))
        case "press":
            _press(turn, need(args, "keys", "key"), args.get("presses", 1))
        case "hotkey":
            _hotkey(turn, need(args, "keys"))
        case "keyDown" | "keyUp" as kind:
            turn.held_key(kind.removeprefix("key").lower(), need(args, "key", "keys"))
        case "sleep":
            turn.wait(need(args, "seconds", "secs"))
        case "wait":
            turn.wait(args.get("seconds", OPENCUA_WAIT if name.startswith("computer.") else SCALECUA_WAIT))
        case "WAIT":
            turn.wait(OSWORLD_PAUSE)
        case "DONE" | "FAIL" as word:
            turn.finish("success" if word == "DONE" else failure)
        case "terminate":
            status = args.get("status", "success")
            turn.finish("failure" if status == "fail" else status, args.get("answer") or args.get("info"))
        case "response" | "answer":
            turn.finish("success", need(args, "answer", "text"))
        case "copy":
            turn.clipboard = need(args, "text")
        case _:
            raise InvalidAction(f"{name} is no action of a desktop", field="call")


def _offset(args: Mapping[str, Any], turn: Turn) -> Point:
    dx, dy = (args.get(name) or 0 for name in ("xOffset", "yOffset"))
    if not is_number(dx) or not is_number(dy):
        raise InvalidAction(f"offsets must be numbers, got {dx!r} and {dy!r}", field="xOffset")
    return turn.offset(dx, dy)


def _button(value: Any) -> Any:
    aliases = {"primary": "left", "secondary": "right", 1: "left", 2: "middle", 3: "right"}
    return aliases.get(value, value) if isinstance(value, (str, int)) else value


def _clicks(turn: Turn, at: Point, button: Any, count: Any) -> None:
    if isinstance(count, int) and not isinstance(count, bool) and 3 < count <= 30:
        turn.click(at, button, 3)  # more than a triple click has no meaning of its own
        _clicks(turn, at, button, count - 3)
    else:
        turn.click(at, button, count)


def _negative(way: Any) -> Any:
    return -way if is_number(way) else way


def _write(turn: Turn, message: Any) -> None:
    if isinstance(message, (list, tuple)):  # typewrite(['a', 'enter']): keys one after the other
        for key in key_list(message, "message"):
            turn.add("keyboard.press", keys=[key])
    elif message != "":
        turn.add("keyboard.type", text=message)


def _press(turn: Turn, keys: Any, presses: Any) -> None:
    if isinstance(presses, bool) or not isinstance(presses, int) or not 0 <= presses <= 200:
        raise InvalidAction(f"presses must be a number up to 200, got {presses!r}", field="presses")
    for _ in range(presses):
        for key in key_list(list(keys) if isinstance(keys, (list, tuple)) else [keys]):
            turn.add("keyboard.press", keys=[key])


def _hotkey(turn: Turn, keys: Sequence[Any]) -> None:
    named = key_list(keys)
    text, turn.clipboard = turn.clipboard, None
    if text is not None and set(named) in ({"ctrl", "v"}, {"super", "v"}):
        turn.actions.append(CUAAction("keyboard.type", {"text": text}))
        turn.actions[-1].validate()
        return
    turn.add("keyboard.press", keys=named)
