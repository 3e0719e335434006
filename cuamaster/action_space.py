"""The action space shared by policies, recordings and exports: CUAAction(type, args), coordinates normalized to 0-1000.

Categories: `gui` (mouse, keyboard), `cli` (shell.exec), `tool` (tool.call), `control` (wait, finish). A coordinate of 0
is the first pixel, 1000 the end of the screen, clamped to the last pixel by `to_pixel`. Source: CUA-Master, "unified action space".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from cuamaster.errors import InvalidAction

ActionCategory = Literal["gui", "cli", "tool", "control"]
ACTION_SPACE_VERSION = "1"
COORD_MAX = 1000.0
MAX_SCROLL_NOTCHES = 100
MAX_WAIT_SECONDS = 300.0
MAX_SHELL_SECONDS = 3600.0
BUTTONS = ("left", "right", "middle", "back", "forward")
FINISH_STATUSES = ("success", "failure", "infeasible")

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_NAMED_KEYS = (
    "enter", "tab", "space", "backspace", "delete", "insert", "escape", "home", "end", "pageup", "pagedown",
    "up", "down", "left", "right", "shift", "ctrl", "alt", "super", "menu", "capslock", "numlock", "scrolllock",
    "printscreen", "pause",
)  # fmt: skip
_PUNCTUATION = "-=[]\\;'`,./"
_SHIFTED = '!@#$%^&*()_+{}|:"~<>?'
_KEYPAD = tuple(f"kp{n}" for n in range(10)) + ("kpenter", "kpplus", "kpminus", "kpmultiply", "kpdivide", "kpdecimal")
KEYS: frozenset[str] = frozenset(
    [*_LETTERS, *_NAMED_KEYS, *(f"f{n}" for n in range(1, 25)), *_PUNCTUATION, *_SHIFTED, *_KEYPAD]
)
"""Canonical key names: printable ASCII stands for itself (lower case), everything else is named."""

MODIFIERS = ("shift", "ctrl", "alt", "super")
KEY_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "return": "enter", "ret": "enter", "linefeed": "enter", "esc": "escape", "del": "delete", "ins": "insert",
        "bksp": "backspace", "back_space": "backspace", "spacebar": "space", " ": "space", "\n": "enter", "\t": "tab",
        "control": "ctrl", "control_l": "ctrl", "control_r": "ctrl", "ctrl_l": "ctrl", "ctrl_r": "ctrl",
        "ctrlleft": "ctrl", "ctrlright": "ctrl", "alt_l": "alt", "alt_r": "alt", "altleft": "alt", "altright": "alt",
        "option": "alt", "altgr": "alt", "shift_l": "shift", "shift_r": "shift", "shiftleft": "shift",
        "shiftright": "shift", "win": "super", "windows": "super", "command": "super", "cmd": "super", "meta": "super",
        "super_l": "super", "super_r": "super", "winleft": "super", "winright": "super", "page_up": "pageup",
        "pgup": "pageup", "prior": "pageup", "page_down": "pagedown", "pgdn": "pagedown", "pgdown": "pagedown",
        "next": "pagedown", "arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right",
        "uparrow": "up", "downarrow": "down", "leftarrow": "left", "rightarrow": "right", "caps_lock": "capslock",
        "caps": "capslock", "num_lock": "numlock", "scroll_lock": "scrolllock", "print": "printscreen",
        "prtsc": "printscreen", "prtscr": "printscreen", "print_screen": "printscreen", "apps": "menu",
        "contextmenu": "menu", "break": "pause", "minus": "-", "equal": "=", "plus": "+", "bracketleft": "[",
        "bracketright": "]", "backslash": "\\", "semicolon": ";", "apostrophe": "'", "quote": "'", "grave": "`",
        "comma": ",", "period": ".", "dot": ".", "slash": "/", "asterisk": "*", "underscore": "_",
        **{f"kp_{n}": f"kp{n}" for n in range(10)}, **{f"num{n}": f"kp{n}" for n in range(10)},
        "kp_enter": "kpenter", "kp_add": "kpplus", "kp_subtract": "kpminus", "kp_multiply": "kpmultiply",
        "kp_divide": "kpdivide", "kp_decimal": "kpdecimal",
        # pyautogui's names of the keypad's operators
        "add": "kpplus", "subtract": "kpminus", "multiply": "kpmultiply", "divide": "kpdivide", "decimal": "kpdecimal",
        # X keysyms of punctuation
        "exclam": "!", "at": "@", "numbersign": "#", "dollar": "$", "percent": "%", "asciicircum": "^",
        "ampersand": "&", "parenleft": "(", "parenright": ")", "braceleft": "{", "braceright": "}", "bar": "|",
        "colon": ":", "quotedbl": '"', "asciitilde": "~", "less": "<", "greater": ">", "question": "?",
    }
)  # fmt: skip
"""The one table of foreign key names, matched case-insensitively, to canonical ones."""


def canonical_key(name: Any, field_name: str = "key") -> str:
    """Return the canonical name of one key; raises InvalidAction naming `field_name` for anything unknown."""
    if not isinstance(name, str) or not name:
        raise InvalidAction(f"{field_name} must be a key name, got {name!r}", field=field_name)
    lowered = name.lower()
    key = KEY_ALIASES.get(lowered, lowered)
    if key not in KEYS:
        raise InvalidAction(f"{field_name}: unknown key {name!r}", field=field_name, hint="see action_space.KEYS")
    return key


def _number(value: Any, name: str, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidAction(f"{name} must be a number, got {value!r}", field=name)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidAction(f"{name} must be finite, got {value!r}", field=name)
    if not low <= value <= high:
        raise InvalidAction(f"{name} must be between {low:g} and {high:g}, got {value!r}", field=name)


def _coord(value: Any, name: str) -> None:
    try:
        _number(value, name, 0, COORD_MAX)
    except InvalidAction as exc:
        raise InvalidAction(f"{exc.message}; coordinates are normalized to 0-1000", field=name) from None


def _notches(value: Any, name: str) -> None:
    _number(value, name, -MAX_SCROLL_NOTCHES, MAX_SCROLL_NOTCHES)
    if value != int(value):
        raise InvalidAction(f"{name} must be whole notches, got {value!r}", field=name)


def _offset(value: Any, name: str) -> None:
    _number(value, name, -COORD_MAX, COORD_MAX)


def _count(value: Any, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 3:
        raise InvalidAction(f"{name} must be 1, 2 or 3, got {value!r}", field=name)


def _choice(*allowed: str) -> Callable[[Any, str], None]:
    def check(value: Any, name: str) -> None:
        if not isinstance(value, str) or value not in allowed:
            raise InvalidAction(f"{name} must be one of {', '.join(allowed)}, got {value!r}", field=name)

    return check


def _text(value: Any, name: str) -> None:
    if not isinstance(value, str):
        raise InvalidAction(f"{name} must be a string, got {value!r}", field=name)


def _full_text(value: Any, name: str) -> None:
    _text(value, name)
    if not value or "\x00" in value:
        raise InvalidAction(f"{name} must be a non-empty string without NUL", field=name)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise InvalidAction(f"{name} must be a list, got {value!r}", field=name)
    return list(value)


def _modifiers(value: Any, name: str) -> None:
    for index, item in enumerate(_list(value, name)):
        if canonical_key(item, f"{name}[{index}]") not in MODIFIERS:
            raise InvalidAction(f"{name}[{index}] must be a modifier, got {item!r}", field=f"{name}[{index}]")


def _keys(value: Any, name: str) -> None:
    items = _list(value, name)
    if not items:
        raise InvalidAction(f"{name} must name at least one key", field=name)
    for index, item in enumerate(items):
        canonical_key(item, f"{name}[{index}]")


def _key(value: Any, name: str) -> None:
    canonical_key(value, name)


def _path(value: Any, name: str) -> None:
    points = _list(value, name)
    if len(points) < 2:
        raise InvalidAction(f"{name} needs at least two points", field=name)
    for index, point in enumerate(points):
        pair = _list(point, f"{name}[{index}]")
        if len(pair) != 2:
            raise InvalidAction(f"{name}[{index}] must be [x, y], got {point!r}", field=f"{name}[{index}]")
        _coord(pair[0], f"{name}[{index}].x")
        _coord(pair[1], f"{name}[{index}].y")


def _mapping(value: Any, name: str) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidAction(f"{name} must be an object with string keys, got {value!r}", field=name)
    try:
        json.dumps(_thaw(value), allow_nan=False)
    except (TypeError, ValueError) as exc:
        raise InvalidAction(f"{name} must be plain JSON: {exc}", field=name) from None


def _seconds(limit: float) -> Callable[[Any, str], None]:
    def check(value: Any, name: str) -> None:
        _number(value, name, 0, limit)

    return check


@dataclass(frozen=True)
class ArgSpec:
    """One argument: its check, whether it must be there, and its JSON Schema."""

    check: Callable[[Any, str], None]
    schema: Mapping[str, Any]
    required: bool = True


@dataclass(frozen=True)
class ActionSpec:
    """One action type: category, arguments, and a sentence for tool schemas."""

    category: ActionCategory
    doc: str
    args: Mapping[str, ArgSpec] = field(default_factory=dict)


def _opt(check: Callable[[Any, str], None], schema: Mapping[str, Any]) -> ArgSpec:
    return ArgSpec(check, schema, required=False)


_XY_SCHEMA = {"type": "number", "minimum": 0, "maximum": COORD_MAX}
_KEYS_SCHEMA = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_X = ArgSpec(_coord, _XY_SCHEMA)
_OPT_X = _opt(_coord, _XY_SCHEMA)
_BUTTON = _opt(_choice(*BUTTONS), {"enum": list(BUTTONS), "default": "left"})
_MODS = _opt(_modifiers, {"type": "array", "items": {"enum": list(MODIFIERS)}})
_NOTCH = _opt(_notches, {"type": "integer", "minimum": -MAX_SCROLL_NOTCHES, "maximum": MAX_SCROLL_NOTCHES})
_OFFSET = ArgSpec(_offset, {"type": "number", "minimum": -COORD_MAX, "maximum": COORD_MAX})
_STRING = {"type": "string"}

SPECS: Mapping[str, ActionSpec] = MappingProxyType(
    {
        "mouse.click": ActionSpec(
            "gui", "Click a button 1-3 times at a point.",
            {"x": _X, "y": _X, "button": _BUTTON, "modifiers": _MODS,
             "count": _opt(_count, {"type": "integer", "minimum": 1, "maximum": 3, "default": 1})},
        ),
        "mouse.move": ActionSpec("gui", "Move the pointer to a point.", {"x": _X, "y": _X}),
        "mouse.move_relative": ActionSpec("gui", "Move the pointer by an offset.", {"dx": _OFFSET, "dy": _OFFSET}),
        "mouse.drag": ActionSpec(
            "gui", "Press, move along a path of points, release.",
            {"path": ArgSpec(_path, {"type": "array", "minItems": 2,
                                     "items": {"type": "array", "items": _XY_SCHEMA, "minItems": 2, "maxItems": 2}}),
             "button": _BUTTON, "modifiers": _MODS},
        ),
        "mouse.scroll": ActionSpec(
            "gui", "Scroll by notches: dy > 0 moves the content view down, dx > 0 to the right.",
            {"x": _OPT_X, "y": _OPT_X, "dx": _NOTCH, "dy": _NOTCH, "modifiers": _MODS},
        ),
        "mouse.down": ActionSpec("gui", "Press and hold a button.", {"x": _OPT_X, "y": _OPT_X, "button": _BUTTON}),
        "mouse.up": ActionSpec("gui", "Release a button.", {"x": _OPT_X, "y": _OPT_X, "button": _BUTTON}),
        "keyboard.type": ActionSpec("gui", "Type text.", {"text": ArgSpec(_full_text, {"type": "string", "minLength": 1})}),
        "keyboard.press": ActionSpec("gui", "Press keys together (a hot key) and release.", {"keys": ArgSpec(_keys, _KEYS_SCHEMA)}),
        "keyboard.hold": ActionSpec(
            "gui", "Hold keys for some seconds.",
            {"keys": ArgSpec(_keys, _KEYS_SCHEMA),
             "seconds": ArgSpec(_seconds(MAX_WAIT_SECONDS), {"type": "number", "minimum": 0, "maximum": MAX_WAIT_SECONDS})},
        ),
        "keyboard.down": ActionSpec("gui", "Press and hold one key.", {"key": ArgSpec(_key, _STRING)}),
        "keyboard.up": ActionSpec("gui", "Release one key.", {"key": ArgSpec(_key, _STRING)}),
        "shell.exec": ActionSpec(
            "cli", "Run a command in the desktop user's shell; returns stdout, stderr and status.",
            {"command": ArgSpec(_full_text, {"type": "string", "minLength": 1}), "cwd": _opt(_full_text, _STRING),
             "timeout": _opt(_seconds(MAX_SHELL_SECONDS), {"type": "number", "minimum": 0, "maximum": MAX_SHELL_SECONDS})},
        ),
        "tool.call": ActionSpec(
            "tool", "Call a registered tool.",
            {"name": ArgSpec(_full_text, _STRING), "arguments": _opt(_mapping, {"type": "object"})},
        ),
        "wait": ActionSpec(
            "control", "Wait some seconds.",
            {"seconds": ArgSpec(_seconds(MAX_WAIT_SECONDS), {"type": "number", "minimum": 0, "maximum": MAX_WAIT_SECONDS})},
        ),
        "finish": ActionSpec(
            "control", "End the episode.",
            {"status": ArgSpec(_choice(*FINISH_STATUSES), {"enum": list(FINISH_STATUSES)}), "answer": _opt(_text, _STRING)},
        ),
    }
)  # fmt: skip
"""The whole action space: type -> specification."""


def validate_action(action_type: Any, args: Any) -> None:
    """Check a type and its arguments; raises InvalidAction naming the field at fault."""
    spec = SPECS.get(action_type) if isinstance(action_type, str) else None
    if spec is None:
        raise InvalidAction(
            f"type: unknown action type {action_type!r}", field="type", hint=f"one of {', '.join(SPECS)}"
        )
    if not isinstance(args, Mapping):
        raise InvalidAction(f"args must be an object, got {args!r}", field="args")
    for name in args:
        if name not in spec.args:
            raise InvalidAction(f"{action_type}: unknown argument {name!r}", field=str(name))
    for name, arg in spec.args.items():
        if name in args:
            arg.check(args[name], name)
        elif arg.required:
            raise InvalidAction(f"{action_type}: missing argument {name!r}", field=name)
    if ("x" in args) != ("y" in args):
        raise InvalidAction(f"{action_type}: x and y come together", field="y" if "x" in args else "x")
    if action_type == "mouse.scroll" and not args.get("dx") and not args.get("dy"):
        raise InvalidAction("mouse.scroll: dx or dy must be a non-zero number of notches", field="dy")


def _freeze(value: Any) -> Any:
    if isinstance(value, Mapping):
        return MappingProxyType({key: _freeze(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return tuple(_freeze(item) for item in value)
    return value


def _thaw(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_thaw(item) for item in value]
    return value


@dataclass(frozen=True)
class CUAAction:
    """One atomic action: a type of `SPECS` and its arguments. Frozen all the way down; call `validate` at the door."""

    type: str
    args: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.args, Mapping):
            object.__setattr__(self, "args", _freeze(self.args))

    def __hash__(self) -> int:
        return hash((self.type, tuple(sorted(self.args))))  # equal actions (5 and 5.0) must hash alike

    def __reduce__(self) -> tuple[Any, ...]:
        return CUAAction, (self.type, _thaw(self.args))

    @property
    def category(self) -> ActionCategory:
        """gui | cli | tool | control."""
        return SPECS[self.type].category

    def validate(self) -> None:
        """Raise InvalidAction, naming the field, unless this is a legal action."""
        validate_action(self.type, self.args)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data: {"type": ..., "args": {...}}."""
        return {"type": self.type, "args": _thaw(self.args)}

    def to_json(self) -> str:
        """Canonical JSON text (sorted keys), the form that is hashed and stored."""
        return json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: Any) -> CUAAction:
        """Build and validate from plain data; raises InvalidAction."""
        if not isinstance(data, Mapping) or set(data) - {"type", "args"} or "type" not in data:
            raise InvalidAction(f"an action is an object with type and args, got {data!r}", field="type")
        action = cls(data["type"], data.get("args", {}))
        action.validate()
        return action

    @classmethod
    def from_json(cls, text: str) -> CUAAction:
        """Parse and validate JSON text; raises InvalidAction."""
        try:
            data = json.loads(text)
        except json.JSONDecodeError as exc:
            raise InvalidAction(f"not JSON: {exc}", field="type") from None
        return cls.from_dict(data)


def to_pixel(value: float, size: int) -> int:
    """Normalized coordinate -> pixel index in 0..size-1 (1000 is the last pixel, not one past it)."""
    return min(size - 1, max(0, int(value * size / COORD_MAX)))


def from_pixel(pixel: float, size: int) -> float:
    """Pixel index -> the normalized coordinate of that pixel's centre; to_pixel(from_pixel(p)) == p."""
    return min(COORD_MAX, max(0.0, (pixel + 0.5) * COORD_MAX / size))


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of one action in its `to_dict` form."""
    variants = []
    for name, spec in SPECS.items():
        properties = {arg: dict(item.schema) for arg, item in spec.args.items()}
        args: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        required = [arg for arg, item in spec.args.items() if item.required]
        if required:
            args["required"] = required
        variants.append(
            {
                "type": "object",
                "description": spec.doc,
                "properties": {"type": {"const": name}, "args": args},
                "required": ["type", "args"],
                "additionalProperties": False,
            }
        )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "CUAAction", "oneOf": variants}
