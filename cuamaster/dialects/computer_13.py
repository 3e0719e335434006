"""OSWorld's computer_13: one JSON object an action, in fences; screen pixels, scrolls in notches (dy > 0 is up).

Source: xlang-ai/OSWorld, desktop_env/actions.py (ACTION_SPACE), desktop_env/controllers/python.py (execute_action) and
mm_agents/prompts.py. WAIT is two seconds, FAIL says that the task cannot be done. A drag begins at the pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.answers import Call, Found, beyond_reasoning, fences, json_values
from cuamaster.dialects.api_items import dumps
from cuamaster.dialects.coordinates import Space
from cuamaster.dialects.dialect import Dialect, Writer, no_call
from cuamaster.dialects.key_names import PYAUTOGUI
from cuamaster.dialects.pyautogui_read import OSWORLD_PAUSE
from cuamaster.dialects.turn import Turn, need
from cuamaster.dialects.vocabulary import EVERY_BUTTON, EVERY_CLICK, Vocabulary
from cuamaster.errors import InvalidAction

_WORDS = ("WAIT", "FAIL", "DONE")


def find(text: str) -> Found:
    """Calls of the objects with an action_type, and the bare words WAIT, FAIL and DONE, in order. Raises Unfound."""
    return beyond_reasoning(text, _find)


def _find(text: str, start: int) -> Found:
    calls: list[Call] = []
    words = [(block.strip(), offset) for block, offset in fences(text, start)] or [(text[start:].strip(), start)]
    calls += [Call(word, {}, offset) for word, offset in words if word in _WORDS]
    if not calls or len(calls) < len(words):
        for value, offset in json_values(text, start):
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict) and "action_type" in item:
                    inner = item.get("parameters")
                    calls.append(
                        Call(str(item["action_type"]), dict(inner if isinstance(inner, dict) else item), offset)
                    )
    if not calls:
        raise no_call("action_type", start)
    calls.sort(key=lambda call: call.offset)
    return Found(text[start : text.find("```", start)].strip() if "```" in text[start:] else "", tuple(calls))


def decode(call: Call, turn: Turn) -> None:
    """One action; raises InvalidAction naming the field at fault."""
    args = call.arguments
    button = args.get("button") or args.get("click_type") or "left"
    button = button.lower() if isinstance(button, str) else button
    match call.name.upper():
        case "CLICK":
            turn.click(turn.perhaps_at(args) or turn.here("x"), button, args.get("num_clicks") or 1)
        case "RIGHT_CLICK":
            turn.click(turn.perhaps_at(args) or turn.here("x"), "right")
        case "DOUBLE_CLICK":
            turn.click(turn.perhaps_at(args) or turn.here("x"), "left", 2)
        case "MOVE_TO":
            x, y = turn.point(need(args, "x"), need(args, "y"))
            turn.add("mouse.move", x=x, y=y)
        case "DRAG_TO":
            turn.drag_to(turn.point(need(args, "x"), need(args, "y")), "x")
        case "MOUSE_DOWN" | "MOUSE_UP" as kind:
            turn.button(kind.removeprefix("MOUSE_").lower(), None, button)
        case "SCROLL":
            dx, dy = args.get("dx") or 0, args.get("dy") or 0
            if not dx and not dy:
                raise InvalidAction("dx or dy must be a number other than 0", field="dy")
            turn.scroll(dx, -dy if isinstance(dy, (int, float)) and not isinstance(dy, bool) else dy)
        case "TYPING":
            turn.add("keyboard.type", text=need(args, "text"))
        case "PRESS":
            turn.press([need(args, "key")], "key")
        case "HOTKEY":
            turn.press(need(args, "keys"))
        case "KEY_DOWN" | "KEY_UP" as kind:
            turn.held_key(kind.removeprefix("KEY_").lower(), need(args, "key"))
        case "WAIT":
            turn.wait(OSWORLD_PAUSE)
        case "DONE" | "FAIL" as word:
            turn.finish("success" if word == "DONE" else "infeasible")
        case _:
            raise InvalidAction(f"unknown action_type {call.name!r}", field="action_type")


def encode(action: CUAAction, writer: Writer) -> list[dict[str, Any]]:
    """One action as one or two objects."""
    args = action.args
    at = writer.xy(action)
    held = {"button": args.get("button", "left")}
    match action.type:
        case "mouse.click":
            if (args.get("button", "left"), args.get("count", 1)) == ("right", 1):
                return [_do("RIGHT_CLICK", **at)]
            if (args.get("button", "left"), args.get("count", 1)) == ("left", 2):
                return [_do("DOUBLE_CLICK", **at)]
            return [_do("CLICK", **held, **at, num_clicks=args.get("count", 1))]
        case "mouse.move":
            return [_do("MOVE_TO", **at)]
        case "mouse.drag":
            (x, y), (to_x, to_y) = (writer.pair(point) for point in args["path"])
            return [_do("MOVE_TO", x=x, y=y), _do("DRAG_TO", x=to_x, y=to_y)]
        case "mouse.scroll":
            return [_do("SCROLL", dx=int(args.get("dx", 0)), dy=-int(args.get("dy", 0)))]
        case "mouse.down" | "mouse.up":
            return [_do(action.type.replace(".", "_").upper(), **held)]
        case "keyboard.type":
            return [_do("TYPING", text=args["text"])]
        case "keyboard.press":
            names = [PYAUTOGUI.say(key) for key in args["keys"]]
            return [_do("PRESS", key=names[0]) if len(names) == 1 else _do("HOTKEY", keys=names)]
        case "keyboard.down" | "keyboard.up":
            return [_do("KEY_DOWN" if action.type.endswith("down") else "KEY_UP", key=PYAUTOGUI.say(args["key"]))]
        case "wait":
            return [_do("WAIT")]
        case _:
            return [_do("DONE" if args["status"] == "success" else "FAIL")]


def _do(action_type: str, **parameters: Any) -> dict[str, Any]:
    return {"action_type": action_type, **parameters}


def write(thought: str, actions: Sequence[dict[str, Any]]) -> str:
    """A fence for each action."""
    blocks = [f"```json\n{dumps(action)}\n```" for action in actions]
    return "\n".join([thought.replace("```", ""), *blocks] if thought else blocks)


COMPUTER_13 = Dialect(
    name="osworld-computer-13",
    title="OSWorld computer_13",
    source="xlang-ai/OSWorld, desktop_env/actions.py and desktop_env/controllers/python.py",
    space=Space("pixels"),
    says=Vocabulary(
        clicks=EVERY_CLICK,
        scroll="both axes",
        scroll_point="none",
        down=EVERY_BUTTON,
        held_keys=True,
        keys=PYAUTOGUI,
        wait=OSWORLD_PAUSE,
        statuses={"success": False, "infeasible": False},
    ),
    find=find,
    decode=decode,
    encode=encode,
    write=write,
)
