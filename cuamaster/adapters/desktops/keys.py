"""QEMU key codes of canonical key names and of ASCII text on a US keyboard."""

from __future__ import annotations

from collections.abc import Iterable

from cuamaster.action_space import canonical_key
from cuamaster.errors import InvalidAction

_PLAIN = {
    "-": "minus", "=": "equal", "[": "bracket_left", "]": "bracket_right", "\\": "backslash", ";": "semicolon",
    "'": "apostrophe", "`": "grave_accent", ",": "comma", ".": "dot", "/": "slash", " ": "spc", "\n": "ret", "\t": "tab",
}  # fmt: skip
_SHIFTED = dict(zip('!@#$%^&*()_+{}|:"~<>?', "1234567890-=[]\\;'`,./", strict=True))
_NAMED = {
    "enter": "ret", "space": "spc", "escape": "esc", "pageup": "pgup", "pagedown": "pgdn", "super": "meta_l",
    "menu": "compose", "capslock": "caps_lock", "numlock": "num_lock", "scrolllock": "scroll_lock", "printscreen": "print",
    "kpenter": "kp_enter", "kpplus": "kp_add", "kpminus": "kp_subtract", "kpmultiply": "kp_multiply", "kpdivide": "kp_divide",
    "kpdecimal": "kp_decimal", **{f"kp{n}": f"kp_{n}" for n in range(10)},
}  # fmt: skip

MODIFIER_CODES = ("shift", "shift_r", "ctrl", "ctrl_r", "alt", "alt_r", "meta_l", "meta_r")
"""Everything released after a start, a rollback and before the end."""


def key_codes(name: str) -> tuple[str, ...]:
    """Codes pressed together for one key: `a` -> (a,), `+` -> (shift, equal); raises InvalidAction for f13 and above."""
    key = canonical_key(name)
    if key in _SHIFTED:
        return ("shift", *key_codes(_SHIFTED[key]))
    if key in _PLAIN:
        return (_PLAIN[key],)
    if key.startswith("f") and key[1:].isdigit() and int(key[1:]) > 12:
        raise InvalidAction(f"key {key!r} is not on this desktop's keyboard", field="keys")
    return (_NAMED.get(key, key),)


def chord(names: Iterable[str]) -> tuple[str, ...]:
    """Codes of keys pressed together, modifiers a symbol needs included once, in the order to press them."""
    codes: dict[str, None] = {}
    for name in names:
        for code in key_codes(name):
            codes.setdefault(code)
    return tuple(codes)


def typeable(text: str) -> bool:
    """Whether every character is on the US keyboard."""
    return all(character in _PLAIN or " " < character <= "~" for character in text)


def character_codes(character: str) -> tuple[str, ...]:
    """Codes pressed together for one typeable character; capitals and symbols with shift."""
    if character in _SHIFTED:
        return ("shift", *character_codes(_SHIFTED[character]))
    if character in _PLAIN:
        return (_PLAIN[character],)
    return ("shift", character.lower()) if character.isupper() else (character,)
