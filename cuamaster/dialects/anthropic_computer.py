"""Anthropic's computer tool, versions 20250124 and 20251124: `tool_use` blocks named `computer`.

Source: the tool's documentation (docs.claude.com, "Computer use tool") and its input schema as in @ai-sdk/anthropic
computer_20250124.ts. Pixels of the declared display: a larger screen is scaled down before it is declared, to at most 1568 a side
and 1.15 megapixels, the API's own bounds. Keys are X keysyms joined by +. A `screenshot` is a wait of no time; `zoom`
(20251124) and `cursor_position` only look and have no action here. Words with no call after them end the episode. Tools that are
named for the action itself, as in the later computer_toolset_20260801, are read too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.answers import Call, Found
from cuamaster.dialects.api_items import FINISH, Item, dumps, find_items
from cuamaster.dialects.coordinates import Limit, Space
from cuamaster.dialects.dialect import Dialect, Writer, direction
from cuamaster.dialects.key_names import XDOTOOL, join_chord, split_chord
from cuamaster.dialects.turn import Turn, need, notches, number
from cuamaster.dialects.vocabulary import Vocabulary
from cuamaster.errors import InvalidAction

_CLICKS = {
    "left_click": ("left", 1), "double_click": ("left", 2), "triple_click": ("left", 3),
    "right_click": ("right", 1), "middle_click": ("middle", 1),
}  # fmt: skip
_NAMES = {value: name for name, value in _CLICKS.items()}
_LOOKS = {"zoom": "ask for a screenshot", "cursor_position": "look at the screenshot"}
_MAX_REPEAT = 100


def find(text: str) -> Found:
    """The computer tool's calls in order. Raises Unfound."""
    return find_items(text, _calls_of)


def _calls_of(item: Item) -> list[tuple[str, dict[str, Any]]] | None:
    inside = item.get("input") if item.get("type") == "tool_use" or "name" in item else None
    if isinstance(inside, dict):
        name = item.get("name", "computer")
        return [(str(inside.get("action") if name == "computer" else name), inside)]
    return [(item["action"], dict(item))] if isinstance(item.get("action"), str) else None


def decode(call: Call, turn: Turn) -> None:
    """One call; raises InvalidAction naming the field at fault."""
    kind, args = call.name, call.arguments
    at = turn.pair(args["coordinate"]) if args.get("coordinate") is not None else None
    if kind in _CLICKS:
        turn.click(at or turn.here("coordinate"), *_CLICKS[kind], _held(args))
        return
    match kind:
        case "mouse_move":
            x, y = at or turn.pair(need(args, "coordinate"))
            turn.add("mouse.move", x=x, y=y)
        case "left_click_drag":
            end = at or turn.pair(need(args, "coordinate"))
            if args.get("start_coordinate") is None:
                turn.drag_to(end, "start_coordinate")
            else:
                turn.drag([turn.pair(args["start_coordinate"], "start_coordinate"), end], "left", _held(args))
        case "left_mouse_down" | "left_mouse_up":
            turn.button(kind.removeprefix("left_mouse_"), at)
        case "scroll":
            amount = notches(args.get("scroll_amount", 3), 1, "scroll_amount")
            turn.scroll_towards(need(args, "scroll_direction"), amount, at, _held(args))
        case "key":
            repeat = args.get("repeat", 1)
            if isinstance(repeat, bool) or not isinstance(repeat, int) or not 1 <= repeat <= _MAX_REPEAT:
                raise InvalidAction(f"repeat must be 1 to {_MAX_REPEAT}, got {repeat!r}", field="repeat")
            text = need(args, "text")
            for _ in range(repeat):
                # xdotool presses chords that are set apart by blanks one after the other
                for chord in (text.split() if isinstance(text, str) else []) or [text]:
                    turn.press(split_chord(chord, "text"), "text")
        case "hold_key":
            turn.add(
                "keyboard.hold", keys=split_chord(need(args, "text"), "text"), seconds=number(need(args, "duration"))
            )
        case "type":
            turn.add("keyboard.type", text=need(args, "text"))
        case "wait":
            turn.wait(need(args, "duration"))
        case "screenshot":
            turn.wait(0)
        case "finish":
            turn.finish("success", args.get("answer"))
        case _:
            raise InvalidAction(f"{kind} is no action of a desktop here", field="action", hint=_LOOKS.get(kind))


def _held(args: Item) -> list[str]:
    chord = args.get("text") or args.get("key")
    return split_chord(chord, "text") if chord else []


def encode(action: CUAAction, writer: Writer) -> list[dict[str, Any]]:
    """One action as the input of one call."""
    args = action.args
    place = writer.place(action)
    at: dict[str, Any] = {"coordinate": place} if place else {}
    held = {"text": _chord(args["modifiers"])} if args.get("modifiers") else {}
    match action.type:
        case "mouse.click":
            return [{"action": _NAMES[args.get("button", "left"), args.get("count", 1)], **at, **held}]
        case "mouse.move":
            return [{"action": "mouse_move", **at}]
        case "mouse.drag":
            start, end = (writer.pair(point) for point in args["path"])
            return [{"action": "left_click_drag", "start_coordinate": start, "coordinate": end}]
        case "mouse.scroll":
            towards, amount = direction(action)
            way = {"scroll_direction": towards, "scroll_amount": amount}
            return [{"action": "scroll", **at, **way, **held}]
        case "mouse.down" | "mouse.up":
            return [{"action": "left_mouse_down" if action.type.endswith("down") else "left_mouse_up"}]
        case "keyboard.type":
            return [{"action": "type", "text": args["text"]}]
        case "keyboard.press":
            return [{"action": "key", "text": _chord(args["keys"])}]
        case "keyboard.hold":
            return [{"action": "hold_key", "text": _chord(args["keys"]), "duration": args["seconds"]}]
        case "wait":
            return [
                {"action": "screenshot"} if args["seconds"] == 0 else {"action": "wait", "duration": args["seconds"]}
            ]
        case _:
            return [{"action": FINISH, "text": args.get("answer", "")}]


def _chord(keys: Sequence[str]) -> str:
    return join_chord([XDOTOOL.say(key) for key in keys])


def write(thought: str, inputs: Sequence[dict[str, Any]]) -> str:
    """Content blocks of a message, as JSON."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": thought}] if thought else []
    for count, values in enumerate(inputs):
        if values["action"] == FINISH:
            blocks.append({"type": "text", "text": values["text"]})
        else:
            blocks.append({"type": "tool_use", "id": f"toolu_{count}", "name": "computer", "input": values})
    return dumps(blocks)


_SAYS = Vocabulary(
    modifiers=frozenset({"mouse.click", "mouse.scroll"}),
    down=frozenset({"left"}),
    hold=True,
    keys=XDOTOOL,
    look=True,
    statuses={"success": True},
)


def _dialect(version: str) -> Dialect:
    return Dialect(
        name=f"anthropic-computer-{version}",
        title=f"Anthropic computer_{version}",
        source="docs.claude.com, Computer use tool; anthropics/anthropic-quickstarts, computer_use_demo/tools/computer.py",
        space=Space("pixels", resize=Limit(1568, 1_150_000)),
        says=_SAYS,
        find=find,
        decode=decode,
        encode=encode,
        write=write,
    )


ANTHROPIC_20250124 = _dialect("20250124")
ANTHROPIC_20251124 = _dialect("20251124")
