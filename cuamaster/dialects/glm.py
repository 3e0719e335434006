"""GLM-4.5V and 4.6V as desktop agents: `Action: left_click(start_box='[x,y]', element_info='...')`, places 0-999.

Source: zai-org/GLM-V, examples/gui-agent/glm-45v/agent.md (call rules; "normalized to 0-999 range"); the same calls as JSON
objects as in hud-python, hud/tools/computer/glm.py; xlang-ai/OSWorld-V2, mm_agents/glm_eval_agent.py (`hold_keys`; a last key that is
named again is pressed again; WAIT, DONE and FAIL in any case and without parentheses; a box holds the only action, whatever the words
before it speak of). WAIT is five seconds, FAIL says that the task cannot be done.
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
from cuamaster.dialects.key_names import join_chord
from cuamaster.dialects.turn import Turn, key_list, need, notches
from cuamaster.dialects.ui_tars import action_head, box
from cuamaster.dialects.vocabulary import Vocabulary
from cuamaster.errors import InvalidAction

WAIT_SECONDS = 5.0
_STEPS = 5
_CLICKS = {
    "left_click": ("left", 1), "left_double_click": ("left", 2), "right_click": ("right", 1), "middle_click": ("middle", 1),
    "click": ("left", 1),
}  # fmt: skip
_FIRST = {"key": "keys", "type": "content"}
_WORDS = ("WAIT", "DONE", "FAIL")
_NAMES = (*_CLICKS, "hover", "left_drag", "scroll", "screenshot", *_FIRST, *_WORDS, *map(str.lower, _WORDS))
_CALL = re.compile(rf"(?:{'|'.join(_NAMES)})\b")
_BOX, _BOX_END = "<|begin_of_box|>", "<|end_of_box|>"
_BOXED = re.compile(rf"\s*({'|'.join(_WORDS)})\s*(?:{re.escape(_BOX_END)}|$)", re.IGNORECASE)
_LAST = re.compile(rf"\b({'|'.join(_WORDS)})[.!]?\s*$")


def find(text: str) -> Found:
    """The calls of the answer before its `Memory:`. Raises Unfound."""
    return beyond_reasoning(text, _find)


def _find(text: str, start: int) -> Found:
    stop = text.rfind("\nMemory:")
    stop = stop if stop >= start else len(text)
    words, begin = _begin(text, start, stop)
    calls = [
        Call(_name(name), dict(zip((_FIRST.get(name, "start_box"),), values, strict=False)) | keywords, at)
        for name, values, keywords, at in find_calls(text, begin, stop, _NAMES)
    ]
    if not calls and (word := (_BOXED.match if begin > words else _LAST.search)(text[begin:stop])) is not None:
        calls = [Call(_name(word[1].lower()), {}, begin + word.start(1))]
    if not calls:
        for value, offset in json_values(text, begin):
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict) and isinstance(item.get("action"), str):
                    calls.append(Call(_name(item["action"]), dict(item), offset))
    if not calls:
        raise no_call("action", begin)
    said = text[start : words if begin > words else calls[0].offset].strip().removesuffix("Action:")
    return Found(said.strip().removeprefix("Thought:").strip(), tuple(calls))


def _begin(text: str, start: int, stop: int) -> tuple[int, int]:
    """Where the words end and where the call may begin: in the box, behind `Action:`, or anywhere."""
    at = text.find(_BOX, start, stop)
    if at >= 0:
        return at, at + len(_BOX)
    head = action_head(text, start, stop, _CALL)
    return (head.start(), head.end()) if head else (start, start)


def _name(name: str) -> str:
    return name.upper() if name.upper() in _WORDS else name


def decode(call: Call, turn: Turn) -> None:
    """One call; raises InvalidAction naming the field at fault."""
    name, args = call.name, call.arguments
    at = box(args["start_box"], turn, "start_box") if args.get("start_box") is not None else None
    held = key_list(args["hold_keys"], "hold_keys") if args.get("hold_keys") else []
    if name in _CLICKS:
        turn.click(at or turn.here("start_box"), *_CLICKS[name], held)
        return
    match name:
        case "hover":
            x, y = at or turn.here("start_box")
            turn.add("mouse.move", x=x, y=y)
        case "left_drag":
            begin = at or turn.here("start_box")
            turn.drag([begin, box(need(args, "end_box"), turn, "end_box")], modifiers=held)
        case "scroll":
            turn.scroll_towards(need(args, "direction"), notches(args.get("step", _STEPS), 1, "step"), at, held)
        case "key":
            keys = key_list(need(args, "keys"))
            again = next((n for n, key in enumerate(reversed(keys)) if key != keys[-1]), len(keys))
            for _ in range(again):
                turn.press(keys[: len(keys) - again + 1])
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
            return [_call("scroll", **at, direction=quote(direction(action)[0]), step=str(direction(action)[1]))]
        case "keyboard.press":
            return [_call("key", keys=quote(join_chord(args["keys"])))]
        case "keyboard.type":
            return [_call("type", content=quote(args["text"]).replace("<|", "<\\u007c"))]  # no box begins in a text
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
    return f"Thought: {thought.replace('(', '[').replace('<|', '< |')}\nAction: {actions}\nMemory:\n[]"


GLM = Dialect(
    name="glm",
    title="GLM-4.5V, GLM-4.6V",
    source="zai-org/GLM-V, examples/gui-agent/glm-45v/agent.md; hud-python, hud/tools/computer/glm.py",
    space=Space("grid", maximum=999),
    says=Vocabulary(
        clicks=frozenset(_CLICKS.values()),
        scroll="up and down",
        scroll_point="required",
        key_again=True,
        wait=WAIT_SECONDS,
        look=True,
        statuses={"success": False, "infeasible": False},
    ),
    find=find,
    decode=decode,
    encode=encode,
    write=write,
)
