"""Names of keys as dialects write them, and chords in one string; reading goes through the action space's one alias table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cuamaster.action_space import canonical_key
from cuamaster.errors import InvalidAction

_ARROWS = ("up", "down", "left", "right")


@dataclass(frozen=True)
class KeyNames:
    """What the canonical keys are called: `names` where it is another name; `upper`: all in capitals."""

    names: Mapping[str, str] = field(default_factory=dict)
    upper: bool = False

    def say(self, key: str) -> str:
        """The dialect's name of a canonical key."""
        name = self.names.get(key, key)
        return name.upper() if self.upper else name


CANONICAL = KeyNames()
CAPITALS = KeyNames({key: f"arrow{key}" for key in _ARROWS} | {"escape": "esc"}, upper=True)
"""OpenAI's computer tool: CTRL, ENTER, ARROWLEFT (openai-cua-sample-app, CUA_KEY_TO_PLAYWRIGHT_KEY)."""
BROWSER = KeyNames(
    {key: f"Arrow{key.capitalize()}" for key in _ARROWS}
    | {key: key.capitalize() for key in ("enter", "tab", "backspace", "delete", "insert", "escape", "home", "end")}
    | {"pageup": "PageUp", "pagedown": "PageDown", "ctrl": "Control", "shift": "Shift", "alt": "Alt", "super": "Meta"}
)
"""Playwright's names, as Gemini writes them: Control, ArrowDown, PageUp."""
PYAUTOGUI = KeyNames(
    {f"kp{n}": f"num{n}" for n in range(10)}
    | {"kpplus": "add", "kpminus": "subtract", "kpmultiply": "multiply", "kpdivide": "divide", "kpdecimal": "decimal"}
    # pyautogui.KEYBOARD_KEYS has no second Enter, and calls the menu key and the logo key its own way
    | {"kpenter": "enter", "super": "win", "menu": "apps", "escape": "esc"}
)
XDOTOOL = KeyNames(
    {key: key.capitalize() for key in ("tab", "delete", "insert", "escape", "home", "end", *_ARROWS, "menu", "pause")}
    | {f"f{n}": f"F{n}" for n in range(1, 25)}
    | {f"kp{n}": f"KP_{n}" for n in range(10)}
    | {
        "enter": "Return", "backspace": "BackSpace", "pageup": "Page_Up", "pagedown": "Page_Down",
        "super": "super", "capslock": "Caps_Lock", "numlock": "Num_Lock", "scrolllock": "Scroll_Lock",
        "printscreen": "Print", "kpenter": "KP_Enter", "kpplus": "KP_Add", "kpminus": "KP_Subtract",
        "kpmultiply": "KP_Multiply", "kpdivide": "KP_Divide", "kpdecimal": "KP_Decimal",
        "-": "minus", "=": "equal", "[": "bracketleft", "]": "bracketright", "\\": "backslash", ";": "semicolon",
        "'": "apostrophe", "`": "grave", ",": "comma", ".": "period", "/": "slash", "!": "exclam", "@": "at",
        "#": "numbersign", "$": "dollar", "%": "percent", "^": "asciicircum", "&": "ampersand", "*": "asterisk",
        "(": "parenleft", ")": "parenright", "_": "underscore", "+": "plus", "{": "braceleft", "}": "braceright",
        "|": "bar", ":": "colon", '"': "quotedbl", "~": "asciitilde", "<": "less", ">": "greater", "?": "question",
    }
)  # fmt: skip
"""X keysyms as `xdotool key` takes them (Anthropic's computer tool: "supports xdotool's key syntax")."""


def join_chord(keys: Sequence[str], separator: str = "+") -> str:
    """Names as one string, `ctrl+shift+t`; the separator's own key is spelled out."""
    spelled = {"+": "plus", " ": "space"}
    return separator.join(spelled[separator] if name == separator else name for name in keys)


def split_chord(text: Any, field_name: str, separators: str = "+") -> list[str]:
    """Canonical keys of a string such as `ctrl+c`; raises InvalidAction naming `field_name`.

    A separator with nothing before or after it is the key itself: `ctrl++`, `+`; a blank alone is the space bar.
    """
    if not isinstance(text, str) or not text:
        raise InvalidAction(f"{field_name} must name a key, got {text!r}", field=field_name)
    names: list[str] = []
    current = ""
    for character in text.strip():
        if character in separators and current:
            names.append(current)
            current = ""
        elif character != " ":
            current += character
    names += [current] if current else []
    if text.rstrip().endswith("+") and not current:
        names.append("+")
    return [canonical_key(name, field_name) for name in names or [" "]]
