"""Gemini's computer use: function calls of its desktop environment; those of the older browser environment are read too.

Source: ai.google.dev/gemini-api/docs/computer-use, tables "ENVIRONMENT_DESKTOP" and "Gemini 2.5": places are the index of one of a
thousand equal parts (0-999, x / 1000 * width), a scroll is in pixels (300 unless said, at most 999), `wait` takes whole seconds.
Back and forward of the browser are its hot keys; opening a browser, a search or an address are no actions of a desktop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.answers import Call, Found
from cuamaster.dialects.api_items import FINISH, Item, dumps, find_items
from cuamaster.dialects.coordinates import Space
from cuamaster.dialects.dialect import Dialect, Writer, direction
from cuamaster.dialects.key_names import BROWSER
from cuamaster.dialects.turn import Turn, need, notches
from cuamaster.dialects.vocabulary import Vocabulary
from cuamaster.errors import InvalidAction

PIXELS_PER_NOTCH = 100
_CLICKS = {
    "click": ("left", 1), "double_click": ("left", 2), "triple_click": ("left", 3),
    "right_click": ("right", 1), "middle_click": ("middle", 1),
}  # fmt: skip
_NAMES = {value: name for name, value in _CLICKS.items()}
_CLICKS["click_at"] = ("left", 1)
_BROWSER = {"go_back": ["alt", "left"], "go_forward": ["alt", "right"]}
_PAGES = {"up": "pageup", "down": "pagedown"}


def find(text: str) -> Found:
    """The function calls in order. Raises Unfound."""
    return find_items(text, _calls_of)


def _calls_of(item: Item) -> list[tuple[str, dict[str, Any]]] | None:
    name, arguments = item.get("name"), item.get("args", item.get("arguments"))
    if not isinstance(name, str):
        return None
    return [(name, arguments if isinstance(arguments, dict) else {})]


def decode(call: Call, turn: Turn) -> None:
    """One function call; raises InvalidAction naming the field at fault."""
    name, args = call.name, call.arguments
    if name in _CLICKS:
        turn.click(turn.at(args), *_CLICKS[name])
        return
    match name:
        case "move" | "hover_at":
            x, y = turn.at(args)
            turn.add("mouse.move", x=x, y=y)
        case "mouse_down" | "mouse_up":
            at = turn.at(args) if args.get("x") is not None else None
            turn.button(name.removeprefix("mouse_"), at)
        case "drag_and_drop":
            names = [("start_x", "start_y"), ("end_x", "end_y")]
            if args.get("start_x") is None:
                names = [("x", "y"), ("destination_x", "destination_y")]
            turn.drag([turn.point(need(args, x), need(args, y), (x, y)) for x, y in names])
        case "scroll" | "scroll_at":
            pixels = args.get("magnitude_in_pixels", args.get("magnitude", 300 if name == "scroll" else 800))
            amount = notches(pixels, PIXELS_PER_NOTCH, "magnitude_in_pixels")
            turn.scroll_towards(need(args, "direction"), amount, turn.at(args) if args.get("x") is not None else None)
        case "scroll_document":
            direction = need(args, "direction")
            if direction in _PAGES:
                turn.press([_PAGES[direction]])
            else:
                turn.scroll_towards(direction, 8)
        case "type":
            turn.add("keyboard.type", text=need(args, "text"))
            if args.get("press_enter") is True:
                turn.press(["enter"])
        case "type_text_at":
            _type_at(args, turn)
        case "press_key":
            turn.press([need(args, "key")], "key")
        case "hotkey" | "key_combination":
            turn.press(need(args, "keys"))
        case "key_down" | "key_up":
            turn.held_key(name.removeprefix("key_"), need(args, "key"))
        case "wait":
            turn.wait(args.get("seconds", 1))
        case "wait_5_seconds":
            turn.wait(5)
        case "take_screenshot" | "screenshot":
            turn.wait(0)
        case "go_back" | "go_forward":
            turn.press(_BROWSER[name])
        case "finish":
            turn.finish("success", args.get("answer"))
        case _:
            raise InvalidAction(
                f"{name} is no action of a desktop", field="name", hint="use the functions of ENVIRONMENT_DESKTOP"
            )


def _type_at(args: Item, turn: Turn) -> None:
    turn.click(turn.at(args))
    if args.get("clear_before_typing", True) is True:
        turn.press(["ctrl", "a"])
        turn.press(["delete"])
    if need(args, "text") != "":
        turn.add("keyboard.type", text=args["text"])
    if args.get("press_enter", True) is True:
        turn.press(["enter"])


def encode(action: CUAAction, writer: Writer) -> list[dict[str, Any]]:
    """One action as one function call of the desktop environment."""
    args = action.args
    at = writer.xy(action)
    match action.type:
        case "mouse.click":
            return [_call(_NAMES[args.get("button", "left"), args.get("count", 1)], **at)]
        case "mouse.move":
            return [_call("move", **at)]
        case "mouse.drag":
            (x, y), (to_x, to_y) = (writer.pair(point) for point in args["path"])
            return [_call("drag_and_drop", start_x=x, start_y=y, end_x=to_x, end_y=to_y)]
        case "mouse.scroll":
            towards, amount = direction(action)
            pixels = amount * PIXELS_PER_NOTCH
            return [_call("scroll", **at, direction=towards, magnitude_in_pixels=pixels)]
        case "mouse.down" | "mouse.up":
            return [_call("mouse_down" if action.type.endswith("down") else "mouse_up", **at)]
        case "keyboard.type":
            return [_call("type", text=args["text"])]
        case "keyboard.press":
            names = [BROWSER.say(key) for key in args["keys"]]
            return [_call("press_key", key=names[0]) if len(names) == 1 else _call("hotkey", keys=names)]
        case "keyboard.down" | "keyboard.up":
            name = "key_down" if action.type.endswith("down") else "key_up"
            return [_call(name, key=BROWSER.say(args["key"]))]
        case "wait":
            return [_call("take_screenshot") if args["seconds"] == 0 else _call("wait", seconds=args["seconds"])]
        case _:
            return [_call(FINISH, text=args.get("answer", ""))]


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "args": arguments}


def write(thought: str, calls: Sequence[dict[str, Any]]) -> str:
    """Parts of a content, as JSON."""
    parts: list[dict[str, Any]] = [{"text": thought, "thought": True}] if thought else []
    parts += [{"text": call["args"]["text"]} if call["name"] == FINISH else {"functionCall": call} for call in calls]
    return dumps({"role": "model", "parts": parts})


GEMINI = Dialect(
    name="gemini",
    title="Gemini computer use (desktop)",
    source="ai.google.dev/gemini-api/docs/computer-use, Supported actions",
    space=Space("cells", maximum=999),
    says=Vocabulary(
        scroll_point="required",
        notches=(1, 9),
        down=frozenset({"left"}),
        down_point="required",
        held_keys=True,
        keys=BROWSER,
        wait="whole seconds",
        look=True,
        statuses={"success": True},
    ),
    find=find,
    decode=decode,
    encode=encode,
    write=write,
)
