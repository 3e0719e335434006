"""Calls such as click(start_box='(10,20)') as models write them: found in text, arguments read, quotes forgiven, nothing run."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from cuamaster.dialects.answers import Unfound
from cuamaster.dialects.lenient_json import NotJson, escaped, read_json, unescape

MAX_CALLS = 1000
_MAX_QUOTES = 2000
_KEYWORD = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*")
_BLANK = re.compile(r"[\s,]*")
_BARE = re.compile(r"[^,()\n]*")
# Behind the quote that really ends a string: the next keyword or argument, or the end of the call and of the line.
_NEXT = re.compile(r"""\s*,\s*(?:[A-Za-z_]\w*\s*=|["'\d\[(-])""")
_CLOSE = re.compile(r"\s*,?\s*\)")
_LAST = re.compile(r"\s*,?\s*\)\s*(?:[;\n`<]|$)")
_TUPLE = re.compile(r"\(\s*-?[\d.]+(?:\s*,\s*-?[\d.]+)*\s*\)")


def find_calls(
    text: str, start: int, stop: int, names: Sequence[str]
) -> list[tuple[str, list[Any], dict[str, Any], int]]:
    """(name, positional, keywords, offset) of each call of one of `names` between two offsets.

    Raises Unfound for a call that is broken or cut off.
    """
    pattern = _pattern(tuple(names))
    found: list[tuple[str, list[Any], dict[str, Any], int]] = []
    at = start
    while (opening := pattern.search(text, at, stop)) is not None:
        if len(found) >= MAX_CALLS:
            raise Unfound(f"more than {MAX_CALLS} calls", opening.start(), "call")
        positional, keywords, at = _arguments(text, opening.end(), stop, opening.start())
        found.append((opening[1], positional, keywords, opening.start()))
    return found


@functools.lru_cache(maxsize=16)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    # the longest name first: left_double_click is no left_double
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"(?<![\w.'\"])({either})\s*\(")


def quote(text: str) -> str:
    """A string literal that `find_calls` and Python read back, on one line."""
    for plain, written in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(plain, written)
    return f"'{text}'"


def _arguments(text: str, at: int, stop: int, opened: int) -> tuple[list[Any], dict[str, Any], int]:
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    while True:
        blank = _BLANK.match(text, at, stop)
        at = blank.end() if blank else at
        if at >= stop:
            raise Unfound("the call is cut off", opened, "call", "write the whole call, with its closing parenthesis")
        if text[at] == ")":
            return positional, keywords, at + 1
        keyword = _KEYWORD.match(text, at, stop)
        before = at
        value, at = _argument(text, keyword.end() if keyword else at, stop, opened)
        if keyword:
            keywords[keyword[1]] = value
        else:
            positional.append(value)
        if at <= before:
            raise Unfound(f"{text[at : at + 12]!r} is no argument", at, "call")


def _argument(text: str, at: int, stop: int, opened: int) -> tuple[Any, int]:
    character = text[at : at + 1]
    if character in ("'", '"'):
        return _string(text, at, stop, opened)
    if character in ("[", "{"):
        try:
            return read_json(text, at)
        except NotJson as exc:
            raise Unfound(f"a list cannot be read: {exc}", exc.at, "call") from None
    if (numbers := _TUPLE.match(text, at, stop)) is not None:
        return numbers[0], numbers.end()
    bare = _BARE.match(text, at, stop)
    word = bare[0].strip() if bare else ""
    try:
        value, end = read_json(word)
        value = value if end == len(word) else word
    except NotJson:
        value = word
    return value, at + len(bare[0] if bare else "")


def _string(text: str, at: int, stop: int, opened: int) -> tuple[str, int]:
    quote_mark = text[at]
    first, end = -1, at
    for _ in range(_MAX_QUOTES):
        end = text.find(quote_mark, end + 1, stop)
        if end < 0:
            break
        if escaped(text, end):
            continue
        # the first quote ends a well-written string; a later one must also end the call or the line, as the first did not
        if _NEXT.match(text, end + 1, stop) or (_CLOSE if first < 0 else _LAST).match(text, end + 1, stop):
            return unescape(text[at + 1 : end]), end + 1
        first = end if first < 0 else first
    # never closed: what stands before the last parenthesis of the line
    line_end = text.find("\n", at, stop)
    last = text.rfind(")", at, line_end if line_end >= 0 else stop)
    if last < 0:
        raise Unfound("a string in the call is cut off", opened, "call", "close the quote and the parenthesis")
    return unescape(text[at + 1 : last].rstrip(quote_mark)), last
