"""Arguments of Qwen's `computer_use` and of the tools beside it, to and from actions; shared by all models that learnt it.

Sources: QwenLM/Qwen2.5-VL cookbooks/utils/agent_function_call.py, QwenLM/Qwen3-VL cookbooks/computer_use.ipynb, and the
variants of X-PLUG/MobileAgent (Mobile-Agent-v3.5/computer_use/utils.py) and meituan/EvoCUA (mm_agents/evocua/prompts.py).
`scroll` is up for a positive number. A drag names its end only and begins at the pointer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.answers import Call
from cuamaster.dialects.coordinates import Point
from cuamaster.dialects.dialect import Writer
from cuamaster.dialects.key_names import join_chord, split_chord
from cuamaster.dialects.lenient_json import NotJson, read_json
from cuamaster.dialects.turn import Turn, need, notches
from cuamaster.errors import InvalidAction

PIXELS_PER_NOTCH = 100
"""The policies of this project are told so (`qwen_schema`); other runners hand the number to pyautogui as notches."""
_CLICKS = {
    "left_click": ("left", 1),
    "click": ("left", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
}
_CLICK_NAMES = {value: name for name, value in _CLICKS.items() if name != "click"}
Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Habits:
    """Where the models differ. `scale`: the `pixels` of one notch; `chords`: `text` of a click or scroll names held keys."""

    scale: float = PIXELS_PER_NOTCH
    chords: bool = False


def encode(action: CUAAction, writer: Writer, *, habits: Habits = Habits()) -> list[dict[str, Any]]:
    """The calls ({"name", "arguments"}) of one action in the dialect's own words."""
    args = action.args
    place = writer.place(action)
    point = {"coordinate": place} if place else {}
    modifiers = {"text": join_chord(args["modifiers"])} if args.get("modifiers") else {}
    match action.type:
        case "shell.exec":
            return [{"name": "shell_exec", "arguments": dict(args)}]
        case "tool.call":
            data = action.to_dict()["args"]
            return [{"name": "tool_call", "arguments": {"name": data["name"], "arguments": data.get("arguments", {})}}]
        case "mouse.click":
            return [_use(_CLICK_NAMES[args.get("button", "left"), args.get("count", 1)], **point, **modifiers)]
        case "mouse.drag":
            start, end = (writer.pair(point) for point in args["path"])
            return [_use("mouse_move", coordinate=start), _use("left_click_drag", coordinate=end)]
        case "mouse.scroll":
            name, way = ("scroll", -args["dy"]) if args.get("dy") else ("hscroll", args["dx"])
            return [_use(name, **point, pixels=way * habits.scale, **modifiers)]
        case "finish":
            answer = args.get("answer")
            if answer and args["status"] == "success":
                return [_use("answer", text=answer)]
            return [_use("terminate", status=args["status"], **({"text": answer} if answer else {}))]
        case "keyboard.press":
            return [_use("key", keys=list(args["keys"]))]
        case "keyboard.down" | "keyboard.up":
            return [_use("key_down" if action.type.endswith("down") else "key_up", keys=[args["key"]])]
        case "keyboard.type":
            return [_use("type", text=args["text"])]
        case "wait":
            return [_use("wait", time=args["seconds"])]
        case _:
            names = {"mouse.move": "mouse_move", "mouse.down": "left_mouse_down", "mouse.up": "left_mouse_up"}
            return [_use(names[action.type], **point)]


def decode(call: Call, turn: Turn, *, habits: Habits = Habits()) -> None:
    """One call; raises InvalidAction naming the field at fault."""
    arguments = call.arguments
    if call.name == "shell_exec":
        turn.add("shell.exec", **arguments)
    elif call.name == "tool_call":
        turn.add("tool.call", **arguments)
    elif call.name != "computer_use":
        raise InvalidAction(
            f"unknown function {call.name!r}", field="name", hint="computer_use, shell_exec or tool_call"
        )
    else:
        kind = arguments.get("action")
        decoder = _DECODERS.get(kind) if isinstance(kind, str) else None
        if decoder is None:
            raise InvalidAction(f"unknown action {kind!r}", field="action", hint=f"one of {', '.join(_DECODERS)}")
        decoder(arguments, turn, habits)


def _use(action: str, **arguments: Any) -> dict[str, Any]:
    return {"name": "computer_use", "arguments": {"action": action, **arguments}}


def _at(arguments: Arguments, turn: Turn) -> Point | None:
    if arguments.get("coordinate") is None and arguments.get("x") is not None:
        return turn.point(arguments["x"], need(arguments, "y"))
    return None if arguments.get("coordinate") is None else turn.pair(arguments["coordinate"])


def _modifiers(arguments: Arguments, habits: Habits) -> list[str]:
    return split_chord(arguments["text"], "text") if habits.chords and arguments.get("text") else []


def _click(arguments: Arguments, turn: Turn, habits: Habits) -> None:
    button, count = _CLICKS[arguments["action"]]
    turn.click(_at(arguments, turn) or turn.here("coordinate"), button, count, _modifiers(arguments, habits))


def _move(arguments: Arguments, turn: Turn, _: Habits) -> None:
    x, y = _at(arguments, turn) or turn.pair(need(arguments, "coordinate"))
    turn.add("mouse.move", x=x, y=y)


def _drag(arguments: Arguments, turn: Turn, _: Habits) -> None:
    at = _at(arguments, turn) or turn.pair(need(arguments, "coordinate"))
    # GUI-Owl 1 names both ends, and others do it in the words of other models' tools: never in silence another drag
    ends = {name: turn.pair(arguments[name], name) for name in _ENDS if arguments.get(name) is not None}
    if "start_coordinate" in ends:
        turn.drag([ends["start_coordinate"], ends.get("end_coordinate", at)])
    elif ends:
        turn.drag([at, *ends.values()])
    else:
        turn.drag_to(at, "coordinate")


_ENDS = ("start_coordinate", "coordinate2", "end_coordinate")


def _button(name: str) -> Callable[[Arguments, Turn, Habits], None]:
    def decoder(arguments: Arguments, turn: Turn, _: Habits) -> None:
        turn.button(name, _at(arguments, turn))

    return decoder


def _scroll(axis: str, sign: int) -> Callable[[Arguments, Turn, Habits], None]:
    def decoder(arguments: Arguments, turn: Turn, habits: Habits) -> None:
        way = sign * notches(need(arguments, "pixels"), habits.scale, "pixels")
        turn.scroll(**{axis: way}, at=_at(arguments, turn), modifiers=_modifiers(arguments, habits))

    return decoder


def _key(arguments: Arguments, turn: Turn, __: Habits) -> None:
    keys = need(arguments, "keys", "text")
    if isinstance(keys, str) and keys.lstrip().startswith("["):  # a list, in quotes
        with contextlib.suppress(NotJson):
            keys, _ = read_json(keys)
    turn.press(keys)


def _held(kind: str) -> Callable[[Arguments, Turn, Habits], None]:
    def decoder(arguments: Arguments, turn: Turn, _: Habits) -> None:
        keys = need(arguments, "keys")
        if not isinstance(keys, list) or not keys:
            raise InvalidAction(f"keys must be a list of keys, got {keys!r}", field="keys")
        named = list(enumerate(keys))
        # several keys are released in reverse order (EvoCUA's tool description)
        for index, key in reversed(named) if kind == "up" else named:
            turn.held_key(kind, key, f"keys[{index}]")

    return decoder


def _type(arguments: Arguments, turn: Turn, _: Habits) -> None:
    text = need(arguments, "text")
    if arguments.get("clear") in (1, "1", True):  # GUI-Owl 1: overwrite what is there
        turn.add("keyboard.press", keys=["ctrl", "a"])
        if text == "":
            turn.add("keyboard.press", keys=["backspace"])
    if text != "" or not arguments.get("clear"):
        turn.add("keyboard.type", text=text)
    if arguments.get("enter") in (1, "1", True):
        turn.add("keyboard.press", keys=["enter"])


_DECODERS: dict[str, Callable[[Arguments, Turn, Habits], None]] = {
    **dict.fromkeys(_CLICKS, _click),
    "mouse_move": _move,
    "left_click_drag": _drag,
    "drag": _drag,
    "left_mouse_down": _button("down"),
    "left_mouse_up": _button("up"),
    "scroll": _scroll("dy", -1),
    "hscroll": _scroll("dx", 1),
    "type": _type,
    "key": _key,
    "key_down": _held("down"),
    "key_up": _held("up"),
    "wait": lambda arguments, turn, _: turn.wait(need(arguments, "time")),
    "terminate": lambda arguments, turn, _: turn.finish(need(arguments, "status"), arguments.get("text")),
    "answer": lambda arguments, turn, _: turn.finish("success", need(arguments, "text")),
    # asking a person for help: nobody is there to answer
    "interact": lambda arguments, turn, _: turn.finish("infeasible", arguments.get("text")),
    "call_user": lambda arguments, turn, _: turn.finish("infeasible", arguments.get("question")),
}
