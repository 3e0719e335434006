"""Where the calls are in a model's words: behind the reasoning, in tags, in Markdown fences, or bare in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cuamaster.dialects.lenient_json import NotJson, read_json

MAX_ANSWER = 400_000
"""Characters; a longer answer is refused before anything looks at it."""
_MAX_TRIES = 16
_FENCE = "```"
_INFO = re.compile(r"[ \t]*([\w+.-]*)[ \t]*\n?")
_OBJECT = re.compile(r"""[{\[](?=\s*["'“{\w])""")


@dataclass(frozen=True)
class Call:
    """One call as found: what is called, its arguments by name, and where it stands (characters from the begin)."""

    name: str
    arguments: dict[str, Any]
    offset: int = 0


@dataclass(frozen=True)
class Found:
    """What an answer holds: the words about the calls, and the calls in order."""

    thought: str
    calls: tuple[Call, ...]


class Unfound(ValueError):
    """The words hold no call, or a broken one; `offset` says where."""

    def __init__(self, message: str, offset: int, field: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.offset, self.field, self.hint = message, offset, field, hint


def beyond_reasoning(text: str, find: Callable[[str, int], Found]) -> Found:
    """`find` applied behind the reasoning, as far as there is some.

    An answer that opens with <think> is read behind its end. A lone </think> may also be typed text, so the whole is tried
    first. Raises Unfound.
    """
    end = text.find("</think>")
    behind = end + len("</think>")
    if end < 0:
        return find(text, 0)
    if text.lstrip().startswith("<think>"):
        return find(text, behind)
    try:
        return find(text, 0)
    except Unfound:
        return find(text, behind)


def fences(text: str, start: int = 0) -> Iterator[tuple[str, int]]:
    """Each fenced block's content and its offset; a block that is never closed goes to the end."""
    at = text.find(_FENCE, start)
    while at >= 0:
        info = _INFO.match(text, at + len(_FENCE))
        begin = info.end() if info and (info[0].endswith("\n") or info[1] in ("json", "python", "code")) else at + 3
        end = text.find(_FENCE, begin)
        yield text[begin : end if end >= 0 else len(text)], begin
        at = text.find(_FENCE, end + len(_FENCE)) if end >= 0 else -1


def between(text: str, start: int, opener: str, closer: str) -> Iterator[tuple[str, int]]:
    """Content and offset of each `opener`...`closer`; the last may be left open."""
    at = text.find(opener, start)
    while at >= 0:
        begin = at + len(opener)
        end = text.find(closer, begin)
        yield text[begin : end if end >= 0 else len(text)], begin
        at = text.find(opener, end) if end >= 0 else -1


def json_values(text: str, start: int = 0) -> list[tuple[Any, int]]:
    """Objects and arrays in the text with their offsets: those in fences, else those that stand free; broken ones are forgiven.

    Raises Unfound when one begins that looks like a call and cannot be read, and no other can.
    """
    found: list[tuple[Any, int]] = []
    fault: NotJson | None = None
    for block, offset in fences(text, start):
        if block.lstrip()[:1] in ("{", "["):
            values, failed = _scan(text, offset, offset + len(block))
            found, fault = found + values, fault or failed
    if not found:
        found, fault = _scan(text, start, len(text))
    if not found and fault is not None:
        raise Unfound(f"the JSON cannot be read: {fault}", fault.at, "json", "write each call as one JSON object")
    return found


def _scan(text: str, start: int, stop: int) -> tuple[list[tuple[Any, int]], NotJson | None]:
    found: list[tuple[Any, int]] = []
    fault, tries, at = None, 0, start
    while tries < _MAX_TRIES and (opening := _OBJECT.search(text, at, stop)) is not None:
        try:
            value, at = read_json(text, opening.start())
            if value:
                found.append((value, opening.start()))
        except NotJson as exc:
            fault, tries, at = exc, tries + 1, opening.start() + 1
    return found, fault
