"""OpenAI's computer tool: `computer_call` items of the Responses API with one `action` (preview) or a list of `actions`.

Source: openai-python, types/responses/response_computer_tool_call.py and computer_action.py; units and the pause of a `wait`
(no duration: two seconds) as in openai/openai-cua-sample-app. Screen pixels; scroll_y > 0 moves the view down, in pixels.
A `screenshot` is a wait of no time. Words with no call after them end the episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.answers import Call, Found
from cuamaster.dialects.api_items import FINISH, Item, dumps, find_items
from cuamaster.dialects.coordinates import Point, Space
from cuamaster.dialects.dialect import Dialect, Writer
from cuamaster.dialects.key_names import CAPITALS
from cuamaster.dialects.turn import Turn, key_list, need, notches
from cuamaster.dialects.vocabulary import Vocabulary
from cuamaster.errors import InvalidAction

PIXELS_PER_NOTCH = 100
WAIT_SECONDS = 2.0
_BUTTONS = {"wheel": "middle"}
_KINDS = frozenset({"click", "double_click", "drag", "keypress", "move", "screenshot", "scroll", "type", "wait"})


def find(text: str) -> Found:
    """The actions of all computer calls in order. Raises Unfound."""
    return find_items(text, _calls_of)


def _calls_of(item: Item) -> list[tuple[str, dict[str, Any]]] | None:
    if item.get("type") == "computer_call":
        given = item.get("actions") or item.get("action")
        actions = given if isinstance(given, list) else [given]
        return [(str(action.get("type")), action) if isinstance(action, dict) else ("", {}) for action in actions]
    if isinstance(item.get("type"), str) and item["type"] in _KINDS:
        return [(str(item["type"]), dict(item))]
    return None


def decode(call: Call, turn: Turn) -> None:
    """One action; raises InvalidAction naming the field at fault."""
    args = call.arguments
    held = key_list(args["keys"]) if args.get("keys") and call.name != "keypress" else []
    match call.name:
        case "click":
            button = args.get("button") or "left"
            turn.click(turn.at(args), _BUTTONS.get(button, button) if isinstance(button, str) else button, 1, held)
        case "double_click":
            turn.click(turn.at(args), "left", 2, held)
        case "drag":
            path = need(args, "path")
            if not isinstance(path, list):
                raise InvalidAction(f"path must be a list of points, got {path!r}", field="path")
            turn.drag([_place(point, index, turn) for index, point in enumerate(path)], "left", held)
        case "keypress":
            turn.press(need(args, "keys"))
        case "move":
            x, y = turn.at(args)
            turn.add("mouse.move", x=x, y=y)
        case "screenshot":
            turn.wait(0)
        case "scroll":
            ways = {
                axis: args.get(f"scroll_{letter}", args.get(f"scroll{letter.upper()}")) or 0 for axis, letter in _AXES
            }
            ways = {axis: notches(way, PIXELS_PER_NOTCH, f"scroll_{axis[1]}") for axis, way in ways.items() if way}
            if not ways:
                raise InvalidAction("a scroll of no pixels is none", field="scroll_y")
            turn.scroll(**ways, at=turn.at(args), modifiers=held)
        case "type":
            turn.add("keyboard.type", text=need(args, "text"))
        case "wait":
            turn.wait(WAIT_SECONDS)
        case "finish":
            turn.finish("success", args.get("answer"))
        case _:
            raise InvalidAction(
                f"unknown action {call.name!r}", field="type", hint=f"one of {', '.join(sorted(_KINDS))}"
            )


_AXES = (("dx", "x"), ("dy", "y"))


def _place(point: Any, index: int, turn: Turn) -> Point:
    names = (f"path[{index}].x", f"path[{index}].y")
    if isinstance(point, dict):
        return turn.point(point.get("x"), point.get("y"), names)
    if isinstance(point, list) and len(point) == 2:
        return turn.point(point[0], point[1], names)
    raise InvalidAction(f"path[{index}] must be a point, got {point!r}", field=f"path[{index}]")


def encode(action: CUAAction, writer: Writer) -> list[dict[str, Any]]:
    """One action as one object of the API."""
    args = action.args
    at = writer.xy(action)
    keys = {"keys": [CAPITALS.say(key) for key in args["modifiers"]]} if args.get("modifiers") else {}
    match action.type:
        case "mouse.click":
            if args.get("count", 1) == 2:
                return [{"type": "double_click", **at, **keys}]
            button = args.get("button", "left")
            return [{"type": "click", "button": "wheel" if button == "middle" else button, **at, **keys}]
        case "mouse.move":
            return [{"type": "move", **at}]
        case "mouse.drag":
            points = [writer.pair(point) for point in args["path"]]
            return [{"type": "drag", "path": [{"x": x, "y": y} for x, y in points], **keys}]
        case "mouse.scroll":
            ways = {f"scroll_{letter}": int(args.get(axis, 0)) * PIXELS_PER_NOTCH for axis, letter in _AXES}
            return [{"type": "scroll", **at, **ways, **keys}]
        case "keyboard.type":
            return [{"type": "type", "text": args["text"]}]
        case "keyboard.press":
            return [{"type": "keypress", "keys": [CAPITALS.say(key) for key in args["keys"]]}]
        case "wait":
            return [{"type": "screenshot" if args["seconds"] == 0 else "wait"}]
        case _:
            return [{"type": FINISH, "text": args.get("answer", "")}]


def write(thought: str, actions: Sequence[dict[str, Any]], *, batch: bool) -> str:
    """Output items of a response, as JSON; `batch`: all actions in one call."""
    items = [_message(thought, "msg_0")] if thought else []
    doing = [action for action in actions if action["type"] != FINISH]
    for number, group in enumerate([doing] if batch and doing else [[action] for action in doing]):
        done = {"actions": group} if batch else {"action": group[0]}
        items.append(
            {
                "type": "computer_call", "id": f"cu_{number}", "call_id": f"call_{number}", **done,
                "pending_safety_checks": [], "status": "completed",
            }
        )  # fmt: skip
    items += [_message(action["text"], "msg_1") for action in actions if action["type"] == FINISH]
    return dumps(items)


def _message(text: str, name: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": name, "role": "assistant", "status": "completed", "content": content}


_SAYS = Vocabulary(
    clicks=frozenset({("left", 1), ("left", 2), ("right", 1), ("middle", 1), ("back", 1), ("forward", 1)}),
    modifiers=frozenset({"mouse.click", "mouse.drag", "mouse.scroll"}),
    drag="path",
    scroll="both axes",
    scroll_point="required",
    keys=CAPITALS,
    wait=WAIT_SECONDS,
    look=True,
    statuses={"success": True},
)


def _dialect(name: str, title: str, batch: bool) -> Dialect:
    return Dialect(
        name=name,
        title=title,
        source="openai-python, types/responses/response_computer_tool_call.py; openai/openai-cua-sample-app",
        space=Space("pixels"),
        says=_SAYS,
        find=find,
        decode=decode,
        encode=encode,
        write=partial(write, batch=batch),
    )


OPENAI_SINGLE = _dialect("openai-computer-preview", "OpenAI computer_use_preview, one action a call", False)
OPENAI = _dialect("openai-computer", "OpenAI computer, a list of actions a call", True)
