"""cua-bench's twelve actions, as it writes them: ClickAction(x=1, y=2); the form click(1, 2) and dictionaries are read too.

Source: cua_bench/types.py (fields and defaults) and its parser of action strings (repr_to_action, snake_case_to_action,
dict_to_action). Screen pixels; a scroll of 100 is one notch and happens at the pointer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.answers import Call, Found, beyond_reasoning, json_values
from cuamaster.dialects.coordinates import Space
from cuamaster.dialects.dialect import Dialect, Writer, direction, no_call
from cuamaster.dialects.function_calls import find_calls, quote
from cuamaster.dialects.turn import Turn, need, notches
from cuamaster.dialects.vocabulary import Vocabulary
from cuamaster.errors import InvalidAction

AMOUNT_PER_NOTCH = 100
_FIELDS = {
    "ClickAction": ("x", "y"),
    "RightClickAction": ("x", "y"),
    "DoubleClickAction": ("x", "y"),
    "MiddleClickAction": ("x", "y"),
    "DragAction": ("from_x", "from_y", "to_x", "to_y", "duration"),
    "MoveToAction": ("x", "y", "duration"),
    "ScrollAction": ("direction", "amount"),
    "TypeAction": ("text",),
    "KeyAction": ("key",),
    "HotkeyAction": ("keys",),
    "WaitAction": ("seconds",),
    "DoneAction": (),
}
_CLICKS = {
    ("left", 1): "ClickAction", ("right", 1): "RightClickAction",
    ("left", 2): "DoubleClickAction", ("middle", 1): "MiddleClickAction",
}  # fmt: skip


def _plain(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Action")).lower()


_NAMES = {name: name for name in _FIELDS} | {_plain(name): name for name in _FIELDS}


def find(text: str) -> Found:
    """Calls by class name, by plain name, or as dictionaries with a type. Raises Unfound."""
    return beyond_reasoning(text, _find)


def _find(text: str, start: int) -> Found:
    calls = [
        Call(_NAMES[name], dict(zip(_FIELDS[_NAMES[name]], values, strict=False)) | keywords, at)
        for name, values, keywords, at in find_calls(text, start, len(text), tuple(_NAMES))
    ]
    if not calls:
        for value, offset in json_values(text, start):
            for item in value if isinstance(value, list) else [value]:
                kind = item.get("type", item.get("action_type")) if isinstance(item, dict) else None
                if isinstance(kind, str):
                    calls.append(Call(_NAMES.get(kind, kind), {k: v for k, v in item.items() if k != "type"}, offset))
    if not calls:
        raise no_call("action", start)
    return Found(text[start : calls[0].offset].strip(), tuple(calls))


def decode(call: Call, turn: Turn) -> None:
    """One action; raises InvalidAction naming the field at fault."""
    args = call.arguments
    clicks = {name: how for how, name in _CLICKS.items()}
    if call.name in clicks:
        turn.click(turn.at(args), *clicks[call.name])
        return
    match call.name:
        case "DragAction":
            ends = [("from_x", "from_y"), ("to_x", "to_y")]
            turn.drag([turn.point(need(args, x), need(args, y), (x, y)) for x, y in ends])
        case "MoveToAction":
            x, y = turn.at(args)
            turn.add("mouse.move", x=x, y=y)
        case "ScrollAction":
            amount = notches(args.get("amount", AMOUNT_PER_NOTCH), AMOUNT_PER_NOTCH, "amount")
            turn.scroll_towards(args.get("direction", "up"), amount)
        case "TypeAction":
            turn.add("keyboard.type", text=need(args, "text"))
        case "KeyAction":
            turn.press([need(args, "key")], "key")
        case "HotkeyAction":
            turn.press(need(args, "keys"))
        case "WaitAction":
            turn.wait(args.get("seconds", 1.0))
        case "DoneAction":
            turn.finish("success")
        case _:
            raise InvalidAction(f"unknown action {call.name!r}", field="type", hint=f"one of {', '.join(_FIELDS)}")


def encode(action: CUAAction, writer: Writer) -> list[dict[str, Any]]:
    """One action as one object's repr."""
    args = action.args
    at = writer.xy(action)
    match action.type:
        case "mouse.click":
            return [_do(_CLICKS[args.get("button", "left"), args.get("count", 1)], **at)]
        case "mouse.move":
            return [_do("MoveToAction", **at)]
        case "mouse.drag":
            (x, y), (to_x, to_y) = (writer.pair(point) for point in args["path"])
            return [_do("DragAction", from_x=x, from_y=y, to_x=to_x, to_y=to_y)]
        case "mouse.scroll":
            towards, amount = direction(action)
            return [_do("ScrollAction", direction=towards, amount=amount * AMOUNT_PER_NOTCH)]
        case "keyboard.type":
            return [_do("TypeAction", text=args["text"])]
        case "keyboard.press":
            keys = list(args["keys"])
            return [_do("KeyAction", key=keys[0]) if len(keys) == 1 else _do("HotkeyAction", keys=keys)]
        case "wait":
            return [_do("WaitAction", seconds=args["seconds"])]
        case _:
            return [_do("DoneAction")]


def _do(name: str, **fields: Any) -> dict[str, Any]:
    return {"code": f"{name}({', '.join(f'{field}={_literal(value)}' for field, value in fields.items())})"}


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return quote(value) if isinstance(value, str) else repr(value)


def write(thought: str, actions: Sequence[dict[str, Any]]) -> str:
    """An action a line."""
    lines = [action["code"] for action in actions]
    return "\n".join([thought.replace("(", "["), *lines] if thought else lines)


CUA_BENCH = Dialect(
    name="cua-bench",
    title="cua-bench actions",
    source="cua_bench/types.py and its parser of action strings",
    space=Space("pixels"),
    says=Vocabulary(
        clicks=frozenset(_CLICKS),
        scroll_point="none",
        statuses={"success": False},
    ),
    find=find,
    decode=decode,
    encode=encode,
    write=write,
)
