"""One CUAAction to and from calls of Qwen's functions, integer 0-1000."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cuamaster.action_space import CUAAction, canonical_key
from cuamaster.errors import InvalidAction

PIXELS_PER_NOTCH = 100
_CLICKS = {
    "left_click": ("left", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
}
_CLICK_NAMES = {value: key for key, value in _CLICKS.items()}
Cursor = tuple[float, float] | None


def lower(action: CUAAction) -> list[CUAAction]:
    """The same effect in actions that Qwen can say, coordinates rounded; raises InvalidAction where there are none."""
    action.validate()
    args = dict(action.args)
    modifiers = [canonical_key(key) for key in args.pop("modifiers", ())]
    if modifiers:
        held = [CUAAction("keyboard.down", {"key": key}) for key in modifiers]
        freed = [CUAAction("keyboard.up", {"key": key}) for key in reversed(modifiers)]
        return [*held, *lower(CUAAction(action.type, args)), *freed]
    button = args.pop("button", "left")
    if "x" in args:
        args["x"], args["y"] = round(args["x"]), round(args["y"])
    if action.type == "mouse.click":
        count = args.pop("count", 1)
        if (button, count) not in _CLICK_NAMES:
            raise _unsayable(f"{count} clicks of the {button} button", "count" if count > 1 else "button")
        return [
            CUAAction(
                "mouse.click",
                {**args, **({"button": button} if button != "left" else {}), **({"count": count} if count > 1 else {})},
            )
        ]
    if action.type.startswith("mouse.") and button != "left":
        raise _unsayable(f"{action.type} with the {button} button", "button")
    if action.type == "mouse.move_relative":
        raise _unsayable("a relative move", "dx")
    if action.type == "mouse.drag":
        return _lower_drag([(round(x), round(y)) for x, y in args["path"]])
    if action.type == "mouse.scroll":
        point: dict[str, Any] = {key: args[key] for key in ("x", "y") if key in args}
        return [CUAAction("mouse.scroll", {**point, axis: int(args[axis])}) for axis in ("dy", "dx") if args.get(axis)]
    if action.type == "keyboard.press":
        return [CUAAction(action.type, {"keys": [canonical_key(key) for key in args["keys"]]})]
    if action.type in ("keyboard.down", "keyboard.up"):
        return [CUAAction(action.type, {"key": canonical_key(args["key"])})]
    if action.type == "keyboard.hold":
        keys = [canonical_key(key) for key in args["keys"]]
        return [
            *(CUAAction("keyboard.down", {"key": key}) for key in keys),
            CUAAction("wait", {"seconds": args["seconds"]}),
            *(CUAAction("keyboard.up", {"key": key}) for key in reversed(keys)),
        ]
    if action.type == "tool.call":
        args.setdefault("arguments", {})
    if not args.get("answer", True):
        del args["answer"]
    return [CUAAction(action.type, args)]


def _lower_drag(points: list[tuple[int, int]]) -> list[CUAAction]:
    if len(points) == 2:
        return [CUAAction("mouse.drag", {"path": [list(point) for point in points]})]
    first, *middle = points
    moves = [CUAAction("mouse.move", {"x": x, "y": y}) for x, y in middle]
    return [
        CUAAction("mouse.down", {"x": first[0], "y": first[1]}),
        *moves,
        CUAAction("mouse.up", {"x": points[-1][0], "y": points[-1][1]}),
    ]


def encode(action: CUAAction) -> list[dict[str, Any]]:
    """The calls of one lowered action."""
    args = action.args
    point = {"coordinate": [args["x"], args["y"]]} if "x" in args else {}
    if action.type == "shell.exec":
        return [{"name": "shell_exec", "arguments": dict(args)}]
    if action.type == "tool.call":
        data = action.to_dict()["args"]
        return [{"name": "tool_call", "arguments": {"name": data["name"], "arguments": data.get("arguments", {})}}]
    if action.type == "mouse.click":
        return [_use(_CLICK_NAMES[args.get("button", "left"), args.get("count", 1)], **point)]
    if action.type == "mouse.drag":
        start, end = args["path"]
        return [_use("mouse_move", coordinate=list(start)), _use("left_click_drag", coordinate=list(end))]
    if action.type == "mouse.scroll":
        if "dy" in args:
            return [_use("scroll", **point, pixels=-args["dy"] * PIXELS_PER_NOTCH)]
        return [_use("hscroll", **point, pixels=args["dx"] * PIXELS_PER_NOTCH)]
    if action.type == "finish":
        answer = args.get("answer")
        if answer and args["status"] == "success":
            return [_use("answer", text=answer)]
        return [_use("terminate", status=args["status"], **({"text": answer} if answer else {}))]
    simple = {
        "mouse.move": lambda: _use("mouse_move", **point),
        "mouse.down": lambda: _use("left_mouse_down", **point),
        "mouse.up": lambda: _use("left_mouse_up", **point),
        "keyboard.type": lambda: _use("type", text=args["text"]),
        "keyboard.press": lambda: _use("key", keys=list(args["keys"])),
        "keyboard.down": lambda: _use("key_down", keys=[args["key"]]),
        "keyboard.up": lambda: _use("key_up", keys=[args["key"]]),
        "wait": lambda: _use("wait", time=args["seconds"]),
    }
    return [simple[action.type]()]


def decode_call(call: Mapping[str, Any], cursor: Cursor) -> CUAAction:
    """One call as an action (not yet validated by the action space); raises InvalidAction naming the field."""
    name, arguments = call.get("name"), call.get("arguments")
    if not isinstance(arguments, Mapping):
        raise InvalidAction(f"arguments must be an object, got {arguments!r}", field="arguments")
    if name == "shell_exec":
        return CUAAction("shell.exec", dict(arguments))
    if name == "tool_call":
        return CUAAction("tool.call", dict(arguments))
    if name != "computer_use":
        raise InvalidAction(f"unknown function {name!r}", field="name", hint="computer_use, shell_exec or tool_call")
    kind = arguments.get("action")
    decoder = _DECODERS.get(kind) if isinstance(kind, str) else None
    if decoder is None:
        raise InvalidAction(f"unknown action {kind!r}", field="action", hint=f"one of {', '.join(_DECODERS)}")
    return decoder(arguments, cursor)


def _use(action: str, **arguments: Any) -> dict[str, Any]:
    return {"name": "computer_use", "arguments": {"action": action, **arguments}}


def _unsayable(what: str, field: str) -> InvalidAction:
    return InvalidAction(f"Qwen's computer_use has no way to say {what}", field=field)


def _need(arguments: Mapping[str, Any], field: str) -> Any:
    if arguments.get(field) is None:
        raise InvalidAction(f"{arguments['action']}: missing {field}", field=field)
    return arguments[field]


def _point(arguments: Mapping[str, Any], cursor: Cursor, *, required: bool) -> dict[str, Any]:
    pair = arguments.get("coordinate")
    if pair is None:
        if cursor is not None:
            return {"x": cursor[0], "y": cursor[1]} if required else {}
        if required:
            raise InvalidAction(f"{arguments['action']}: missing coordinate", field="coordinate")
        return {}
    if not isinstance(pair, list) or len(pair) != 2:
        raise InvalidAction(f"coordinate must be [x, y], got {pair!r}", field="coordinate")
    return {"x": pair[0], "y": pair[1]}


def _click(arguments: Mapping[str, Any], cursor: Cursor) -> CUAAction:
    button, count = _CLICKS[arguments["action"]]
    args = _point(arguments, cursor, required=True)
    return CUAAction(
        "mouse.click",
        {**args, **({"button": button} if button != "left" else {}), **({"count": count} if count > 1 else {})},
    )


def _drag(arguments: Mapping[str, Any], cursor: Cursor) -> CUAAction:
    end = _point(arguments, None, required=True)
    if cursor is None:
        raise InvalidAction(
            "left_click_drag starts at the cursor, and where that is is not known",
            field="coordinate",
            hint="mouse_move first",
        )
    return CUAAction("mouse.drag", {"path": [list(cursor), [end["x"], end["y"]]]})


def _scroll(axis: str, sign: int) -> Callable[[Mapping[str, Any], Cursor], CUAAction]:
    def decode(arguments: Mapping[str, Any], cursor: Cursor) -> CUAAction:
        pixels = _need(arguments, "pixels")
        if isinstance(pixels, bool) or not isinstance(pixels, (int, float)) or not abs(pixels) < 1e6 or not pixels:
            raise InvalidAction(f"pixels must be a number other than 0, got {pixels!r}", field="pixels")
        notches = max(1, round(abs(pixels) / PIXELS_PER_NOTCH)) * (1 if pixels > 0 else -1)
        return CUAAction("mouse.scroll", {**_point(arguments, cursor, required=False), axis: sign * notches})

    return decode


def _held(action_type: str) -> Callable[[Mapping[str, Any], Cursor], CUAAction]:
    def decode(arguments: Mapping[str, Any], cursor: Cursor) -> CUAAction:  # noqa: ARG001 (one signature for all decoders)
        keys = _need(arguments, "keys")
        if not isinstance(keys, list) or len(keys) != 1:
            raise InvalidAction(f"keys must name exactly one key, got {keys!r}", field="keys")
        return CUAAction(action_type, {"key": canonical_key(keys[0], "keys[0]")})

    return decode


def _press(arguments: Mapping[str, Any], cursor: Cursor) -> CUAAction:  # noqa: ARG001
    keys = _need(arguments, "keys")
    if not isinstance(keys, list):
        raise InvalidAction(f"keys must be a list, got {keys!r}", field="keys")
    return CUAAction(
        "keyboard.press", {"keys": [canonical_key(key, f"keys[{index}]") for index, key in enumerate(keys)]}
    )


def _terminate(arguments: Mapping[str, Any], cursor: Cursor) -> CUAAction:  # noqa: ARG001
    text = arguments.get("text")
    return CUAAction("finish", {"status": _need(arguments, "status"), **({"answer": text} if text else {})})


_DECODERS: dict[str, Callable[[Mapping[str, Any], Cursor], CUAAction]] = {
    **dict.fromkeys(_CLICKS, _click),
    "mouse_move": lambda arguments, _: CUAAction("mouse.move", _point(arguments, None, required=True)),
    "left_click_drag": _drag,
    "left_mouse_down": lambda arguments, cursor: CUAAction("mouse.down", _point(arguments, cursor, required=False)),
    "left_mouse_up": lambda arguments, cursor: CUAAction("mouse.up", _point(arguments, cursor, required=False)),
    "scroll": _scroll("dy", -1),
    "hscroll": _scroll("dx", 1),
    "type": lambda arguments, _: CUAAction("keyboard.type", {"text": _need(arguments, "text")}),
    "key": _press,
    "key_down": _held("keyboard.down"),
    "key_up": _held("keyboard.up"),
    "wait": lambda arguments, _: CUAAction("wait", {"seconds": _need(arguments, "time")}),
    "terminate": _terminate,
    "answer": lambda arguments, _: CUAAction("finish", {"status": "success", "answer": _need(arguments, "text")}),
}
