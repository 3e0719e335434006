"""UI-TARS: `Thought: ... Action: click(start_box='(10,20)')`; version 1 on 0-1000, version 1.5 in pixels of the resized picture.

Source: bytedance/UI-TARS, codes/ui_tars/prompt.py (COMPUTER_USE_DOUBAO) and action_parser.py: boxes of two or four numbers, also
as <|box_start|>(x,y)<|box_end|> or point='<point>x y</point>'; a scroll is five notches; wait() is five seconds; call_user()
says that the task cannot be done. Text ends with a line end where Enter is to be pressed. Its own parser cuts "it's done"
at the apostrophe, takes letters off the end with rstrip and fails on type(content="..."): here all of them are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.answers import Call, Found, beyond_reasoning
from cuamaster.dialects.coordinates import Point, Screen, SmartResize, Space
from cuamaster.dialects.dialect import Dialect, Writer, direction, no_call
from cuamaster.dialects.function_calls import find_calls, quote
from cuamaster.dialects.key_names import join_chord
from cuamaster.dialects.turn import Turn, need
from cuamaster.dialects.vocabulary import Vocabulary
from cuamaster.errors import InvalidAction
from cuamaster.records.primitive import Mode

NOTCHES = 5
WAIT_SECONDS = 5.0
_CLICKS = {
    "click": ("left", 1), "left_single": ("left", 1), "left_double": ("left", 2), "left_triple": ("left", 3),
    "right_single": ("right", 1), "middle_single": ("middle", 1),
}  # fmt: skip
_POINTS = ("start_box", "start_point", "point")
_ENDS = ("end_box", "end_point")
_FIRST = {"hotkey": "key", "press": "key", "release": "key", "type": "content", "finished": "content"}
_NAMES = (*_CLICKS, "drag", "select", "hover", "mouse_move", "scroll", "wait", "call_user", *_FIRST, "keydown", "keyup")
_ACTION = re.compile(r"^[ \t]*Action:[ \t]*", re.MULTILINE)
_CALL = re.compile(rf"(?:{'|'.join(_NAMES)})\s*\(")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def find(text: str) -> Found:
    """The calls behind the first `Action:` that a call follows, or anywhere when there is none. Raises Unfound."""
    return beyond_reasoning(text, _find)


def _find(text: str, start: int) -> Found:
    head = action_head(text, start, len(text), _CALL)
    calls = [
        Call(name, dict(zip((_FIRST.get(name, "start_box"),), values, strict=False)) | keywords, at)
        for name, values, keywords, at in find_calls(text, head.end() if head else start, len(text), _NAMES)
    ]
    if not calls:
        raise no_call("action", head.end() if head else start)
    thought = text[start : head.start() if head else calls[0].offset].strip()
    return Found(thought.removeprefix("Thought:").strip(), tuple(calls))


def action_head(text: str, start: int, stop: int, call: re.Pattern[str]) -> re.Match[str] | None:
    """The `Action:` behind which a call follows at once, else the last one: the thought may speak of an action too."""
    heads = list(_ACTION.finditer(text, start, stop))
    return next((head for head in heads if call.match(text, head.end())), heads[-1] if heads else None)


def box(value: Any, turn: Turn, field: str) -> Point:
    """A place of two numbers, or the middle of a box of four, given as text or as a list."""
    numbers = value
    if isinstance(value, str):
        numbers = [float(found) if "." in found else int(found) for found in _NUMBER.findall(value)]
    while isinstance(numbers, list) and len(numbers) == 1:
        numbers = numbers[0]
    if not isinstance(numbers, (list, tuple)) or len(numbers) not in (2, 4):
        raise InvalidAction(f"{field} must be a point or a box, got {str(value)[:60]!r}", field=field)
    corners = [turn.point(*numbers[at : at + 2]) for at in range(0, len(numbers), 2)]
    return (corners[0][0] + corners[-1][0]) / 2, (corners[0][1] + corners[-1][1]) / 2


def decode(call: Call, turn: Turn) -> None:
    """One call; raises InvalidAction naming the field at fault."""
    name, args = call.name, call.arguments
    at = next((box(args[field], turn, field) for field in _POINTS if args.get(field)), None)
    if name in _CLICKS:
        turn.click(at or turn.here("start_box"), *_CLICKS[name])
        return
    match name:
        case "drag" | "select":
            turn.drag([at or turn.here("start_box"), box(need(args, *_ENDS), turn, "end_box")])
        case "hover" | "mouse_move":
            x, y = at or turn.here("start_box")
            turn.add("mouse.move", x=x, y=y)
        case "scroll":
            turn.scroll_towards(need(args, "direction"), NOTCHES, at)
        case "hotkey":
            turn.press(need(args, "key", "hotkey"), "key", "+ ")
        case "press" | "keydown" | "release" | "keyup":
            turn.held_key("down" if name in ("press", "keydown") else "up", need(args, "key", "press"))
        case "type":
            turn.add("keyboard.type", text=need(args, "content"))
        case "wait":
            turn.wait(WAIT_SECONDS)
        case "call_user":
            turn.finish("infeasible", args.get("content"))
        case _:
            turn.finish("success", args.get("content"))


def encode(action: CUAAction, writer: Writer, *, points: bool) -> list[dict[str, Any]]:
    """One action as one call; `points`: version 1.5's way of writing a place."""
    args = action.args
    name, end = ("point", "end_point") if points else ("start_box", "end_box")
    first = "start_point" if points else "start_box"

    def place(pair: Sequence[float]) -> str:
        return f"'<point>{pair[0]} {pair[1]}</point>'" if points else f"'({pair[0]},{pair[1]})'"

    pair = writer.place(action)
    at = {name: place(pair)} if pair else {}
    match action.type:
        case "mouse.click":
            names = {value: key for key, value in _CLICKS.items() if key != "left_single"}
            return [_call(names[args.get("button", "left"), args.get("count", 1)], **at)]
        case "mouse.drag":
            begin, stop = (place(writer.pair(point)) for point in args["path"])
            return [_call("drag", **{first: begin, end: stop})]
        case "mouse.move":
            return [_call("hover", **at)]
        case "mouse.scroll":
            return [_call("scroll", **at, direction=quote(direction(action)[0]))]
        case "keyboard.press":
            return [_call("hotkey", key=quote(join_chord(args["keys"], " ")))]
        case "keyboard.down" | "keyboard.up":
            return [_call("press" if action.type.endswith("down") else "release", key=quote(args["key"]))]
        case "keyboard.type":
            return [_call("type", content=quote(args["text"]))]
        case "wait":
            return [_call("wait")]
        case _:
            if args["status"] == "infeasible":
                return [_call("call_user")]
            return [_call("finished", **({"content": quote(args["answer"])} if args.get("answer") else {}))]


def write(thought: str, calls: Sequence[dict[str, Any]]) -> str:
    """Thought and actions, a blank line between two of them."""
    actions = "\n\n".join(call["code"] for call in calls)
    return f"Thought: {thought}\nAction: {actions}"


def _call(name: str, **arguments: str) -> dict[str, Any]:
    return {"code": f"{name}({', '.join(f'{key}={value}' for key, value in arguments.items())})"}


def prompt(mode: Mode, screen: Screen, *, points: bool) -> str:  # noqa: ARG001  the same for every screen, and only in mode gui
    """The system message; `points` as in `encode`."""
    box, end = (
        ("point='<point>x1 y1</point>'", "end_point='<point>x2 y2</point>'")
        if points
        else ("start_box='(x1,y1)'", "end_box='(x2,y2)'")
    )
    start = box.replace("point=", "start_point=", 1) if points else box
    return _PROMPT.format(box=box, start=start, end=end)


_PROMPT = """You are a GUI agent. You are given a task, what was done so far, and screenshots. Do the next step of the task.

## Output Format
Thought: a short plan, and the next action with its target in one sentence
Action: one or more calls, a blank line between two of them

## Action Space
click({box})
left_double({box})
right_single({box})
drag({start}, {end})
hover({box})
hotkey(key='ctrl c') # keys in lower case, separated by a blank
press(key='shift') # presses and holds a key
release(key='shift')
type(content='xxx') # with \\', \\" and \\n as in Python; \\n at the end submits the input
scroll({box}, direction='down or up or right or left')
wait() # five seconds
finished(content='xxx') # the task is done; content answers it, if it is a question
call_user() # the task cannot be done"""
_SAYS = Vocabulary(
    clicks=frozenset({("left", 1), ("left", 2), ("right", 1)}),
    notches=(NOTCHES, NOTCHES),
    held_keys=True,
    wait=WAIT_SECONDS,
    statuses={"success": True, "infeasible": False},
)
UI_TARS = Dialect(
    name="ui-tars",
    title="UI-TARS 1",
    source="bytedance/UI-TARS, README_v1.md and codes/ui_tars/action_parser.py",
    space=Space("grid", maximum=1000),
    says=_SAYS,
    find=find,
    decode=decode,
    encode=partial(encode, points=False),
    write=write,
    prompt=partial(prompt, points=False),
)
UI_TARS_1_5 = Dialect(
    name="ui-tars-1.5",
    title="UI-TARS 1.5",
    source="bytedance/UI-TARS, codes/ui_tars/prompt.py and action_parser.py",
    space=Space("pixels", resize=SmartResize(28, 78_400, 12_845_056)),
    says=_SAYS,
    find=find,
    decode=decode,
    encode=partial(encode, points=True),
    write=write,
    prompt=partial(prompt, points=True),
)
