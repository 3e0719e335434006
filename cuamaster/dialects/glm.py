"""GLM-4.5V and 4.6V as desktop agents: `Action: left_click(start_box='[x,y]', element_info='...')`, places 0-999.

Source: zai-org/GLM-V, examples/gui-agent/glm-45v/agent.md (call rules; "normalized to 0-999 range"); the same calls as JSON
objects as in hud-python, hud/tools/computer/glm.py. WAIT is five seconds, FAIL says that the task cannot be done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.answers import Call, Found, beyond_reasoning, json_values
from cuamaster.dialects.coordinates import Space
from cuamaster.dialects.dialect import Dialect, Writer, no_call
from cuamaster.dialects.function_calls import find_calls, quote
from cuamaster.dialects.key_names import join_chord
from cuamaster.dialects.turn import Turn, need, notches
from cuamaster.dialects.ui_tars import box
from cuamaster.dialects.vocabulary import Vocabulary
from cuamaster.errors import InvalidAction

WAIT_SECONDS = 5.0
_STEPS = 5
_CLICKS = {
    "left_click": ("left", 1), "left_double_click": ("left", 2), "right_click": ("right", 1), "middle_click": ("middle", 1),
    "click": ("left", 1),
}  # fmt: skip
_FIRST = {"key": "keys", "type": "content"}
_NAMES = (*_CLICKS, "hover", "left_drag", "scroll", "WAIT", "DONE", "FAIL", "screenshot", *_FIRST)


def find(text: str) -> Found:
    """The calls of the answer before its `Memory:`. Raises Unfound."""
    return beyond_reasoning(text, _find)


def _find(text: str, start: int) -> Found:
    stop = text.rfind("\nMemory:")
    stop = stop if stop >= start else len(text)
    calls = [
        Call(name, dict(zip((_FIRST.get(name, "start_box"),), values, strict=False)) | keywords, at)
        for name, values, keywords, at in find_calls(text, start, stop, _NAMES)
    ]
    if not calls:
        for value, offset in json_values(text, start):
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict) and isinstance(item.get("action"), str):
                    calls.append(Call(item["action"], dict(item), offset))
    if not calls:
        raise no_call("action", start)
    words = text[start : calls[0].offset].replace("<|begin_of_box|>", "").strip().removesuffix("Action:")
    return Found(words.strip().removeprefix("Thought:").strip(), tuple(calls))


def decode(call: Call, turn: Turn) -> None:
    """One call; raises InvalidAction naming the field at fault."""
    name, args = call.name, call.arguments
    at = box(args["start_box"], turn, "start_box") if args.get("start_box") is not None else None
    if name in _CLICKS:
        turn.click(at or turn.here("start_box"), *_CLICKS[name])
        return
    match name:
        case "hover":
            x, y = at or turn.here("start_box")
            turn.add("mouse.move", x=x, y=y)
        case "left_drag":
            turn.drag([at or turn.here("start_box"), box(need(args, "end_box"), turn, "end_box")])
        case "scroll":
            turn.scroll_towards(need(args, "direction"), notches(args.get("step", _STEPS), 1, "step"), at)
        case "key":
            turn.press(need(args, "keys"))
        case "type":
            turn.add("keyboard.type", text=need(args, "content"))
        case "WAIT":
            turn.wait(WAIT_SECONDS)
        case "screenshot":
            turn.wait(0)
        case "DONE" | "FAIL":
            turn.finish("success" if name == "DONE" else "infeasible")
        case _:
            raise InvalidAction(f"unknown action {name!r}", field="action", hint=f"one of {', '.join(_NAMES)}")


def encode(action: CUAAction, writer: Writer) -> list[dict[str, Any]]:
    """One action as one call."""
    args = action.args
    place = writer.place(action)
    at = {"start_box": _box(place)} if place else {}
    match action.type:
        case "mouse.click":
            names = {how: name for name, how in _CLICKS.items() if name != "click"}
            return [_call(names[args.get("button", "left"), args.get("count", 1)], **at)]
        case "mouse.move":
            return [_call("hover", **at)]
        case "mouse.drag":
            begin, end = (_box(writer.pair(point)) for point in args["path"])
            return [_call("left_drag", start_box=begin, end_box=end)]
        case "mouse.scroll":
            return [
                _call("scroll", **at, direction=quote("down" if args["dy"] > 0 else "up"), step=str(abs(args["dy"])))
            ]
        case "keyboard.press":
            return [_call("key", keys=quote(join_chord(args["keys"])))]
        case "keyboard.type":
            return [_call("type", content=quote(args["text"]))]
        case "wait":
            return [_call("screenshot" if args["seconds"] == 0 else "WAIT")]
        case _:
            return [_call("DONE" if args["status"] == "success" else "FAIL")]


def _box(pair: Sequence[float]) -> str:
    return f"'[{pair[0]},{pair[1]}]'"


def _call(name: str, **arguments: str) -> dict[str, Any]:
    return {"code": f"{name}({', '.join(f'{key}={value}' for key, value in arguments.items())})"}


def write(thought: str, calls: Sequence[dict[str, Any]]) -> str:
    """Thought, action, and an empty memory."""
    actions = "\n".join(call["code"] for call in calls)
    return f"Thought: {thought.replace('(', '[')}\nAction: {actions}\nMemory:\n[]"


GLM = Dialect(
    name="glm",
    title="GLM-4.5V, GLM-4.6V",
    source="zai-org/GLM-V, examples/gui-agent/glm-45v/agent.md; hud-python, hud/tools/computer/glm.py",
    space=Space("grid", maximum=999),
    says=Vocabulary(
        clicks=frozenset(_CLICKS.values()),
        scroll="up and down",
        scroll_point="required",
        wait=WAIT_SECONDS,
        look=True,
        statuses={"success": False, "infeasible": False},
    ),
    find=find,
    decode=decode,
    encode=encode,
    write=write,
)
