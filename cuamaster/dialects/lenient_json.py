"""JSON as models write it: strict where it is JSON, forgiving about quotes, commas and Python literals, never about a cut-off.

Forgiven: 'single' or “typographic” quotes, keys without quotes, True/False/None, trailing commas, line ends inside strings,
numbers in parentheses, and a quote inside a string that was not escaped, as long as what follows it cannot follow the end of the string.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

_STRICT = json.JSONDecoder(strict=False)
_DEPTH = 40
_SPACE = re.compile(r"\s*")
_CLOSERS = {'"': '"', "'": "'", "“": "”", "`": "`"}
# What follows the quote that really ends a string: the next key or the end of the object; the next item; the colon.
_AFTER_VALUE = re.compile(r"""\s*(?:,\s*["'“]?[\w-]+["'”]?\s*:|,?\s*[}\]])""")
_AFTER_ITEM = re.compile(r"""\s*(?:,\s*["'“\d\[{tfnTFN-]|,?\s*\])""")
_AFTER_KEY = re.compile(r"\s*:")
_BARE_KEY = re.compile(r"[A-Za-z_][\w-]*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?(?![\w.])")
_TUPLE = re.compile(r"\(\s*(-?\d{1,9}(?:\.\d{1,9})?)\s*,\s*(-?\d{1,9}(?:\.\d{1,9})?)\s*\)")
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_WORD = re.compile(r"[A-Za-z]+")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class NotJson(ValueError):
    """No value can be read; `at` is where the reader stood."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


def read_json(text: str, at: int = 0) -> tuple[Any, int]:
    """The value that begins at `at` (after blanks) and where it ends; raises NotJson with the place of the fault."""
    start = _skip(text, at)
    try:
        return _STRICT.raw_decode(text, start)
    except (ValueError, RecursionError):
        value, end = _value(text, start, 0, _AFTER_VALUE)
        return value, end


def escaped(text: str, at: int) -> bool:
    """Whether an odd number of backslashes stands before the character at `at`."""
    start = at
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return (at - start) % 2 == 1


def unescape(text: str) -> str:
    """Backslash escapes of a string literal undone; one that means nothing stays as it is. Never changes other characters."""

    def one(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return _ESCAPED.get(found[2], found[2] if found[2] in "\\'\"/`\n" else found[0])

    # two halves of a surrogate pair become the one character they stand for; a half alone is left for validation
    joined = _ESCAPE.sub(one, text)
    return re.sub("[\ud800-\udbff][\udc00-\udfff]", lambda pair: _paired(pair[0]), joined)


def _paired(pair: str) -> str:
    return pair.encode("utf-16", "surrogatepass").decode("utf-16")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int, after: re.Pattern[str]) -> tuple[Any, int]:
    if depth > _DEPTH:
        _fail(f"more than {_DEPTH} values inside each other", at)
    if at >= len(text):
        _fail("it is cut off", at)
    character = text[at]
    if character == "{":
        return _object(text, at + 1, depth)
    if character == "[":
        return _array(text, at + 1, depth)
    if character in _CLOSERS:
        return _string(text, at, after)
    if (pair := _TUPLE.match(text, at)) is not None:
        return [float(number) if "." in number else int(number) for number in pair.groups()], pair.end()
    if (number := _NUMBER.match(text, at)) is not None:
        digits = number[0]
        return (int(digits) if digits.lstrip("+-").isdigit() and len(digits) < 400 else float(digits)), number.end()
    word = _WORD.match(text, at)
    if word is None or word[0].lower() not in _WORDS:
        _fail(f"no value begins with {text[at : at + 12]!r}", at)
    return _WORDS[word[0].lower()], word.end()


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while True:
        at = _skip(text, at)
        if at >= len(text):
            _fail("it is cut off", at)
        if text[at] == "}":
            return found, at + 1
        if text[at] in _CLOSERS:
            key, at = _string(text, at, _AFTER_KEY)
        elif (bare := _BARE_KEY.match(text, at)) is not None:
            key, at = bare[0], bare.end()
        else:
            _fail(f"no key begins with {text[at : at + 12]!r}", at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            _fail(f"the key {key[:40]!r} has no value", at)
        found[key], at = _value(text, _skip(text, at + 1), depth + 1, _AFTER_VALUE)
        at = _comma(text, at, "}")


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            return found, at + 1
        item, at = _value(text, at, depth + 1, _AFTER_ITEM)
        found.append(item)
        at = _comma(text, at, "]")


def _comma(text: str, at: int, closer: str) -> int:
    at = _skip(text, at)
    if at >= len(text):
        _fail("it is cut off", at)
    if text[at] == ",":
        return at + 1
    if text[at] != closer:
        _fail(f"a comma or {closer} is missing before {text[at : at + 12]!r}", at)
    return at


def _string(text: str, at: int, after: re.Pattern[str]) -> tuple[str, int]:
    closer = _CLOSERS[text[at]]
    end = at
    while True:
        end = text.find(closer, end + 1)
        if end < 0:
            _fail("a string is cut off", at)
        if not escaped(text, end) and after.match(text, end + 1):
            return unescape(text[at + 1 : end]), end + 1


def _fail(message: str, at: int) -> NoReturn:
    raise NotJson(message, at)
