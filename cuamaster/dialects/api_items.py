"""Answers of an API as JSON: output items, content blocks or parts, walked for calls and for words, whatever they are wrapped in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from cuamaster.dialects.answers import Call, Found, json_values
from cuamaster.dialects.dialect import no_call

Item = Mapping[str, Any]
CallsOf = Callable[[Item], list[tuple[str, dict[str, Any]]] | None]
FINISH = "finish"
"""Name of the call that words with no call after them stand for: the model is done and says so."""
_DEPTH = 20
_THINKING = ("reasoning", "thinking", "summary_text", "reasoning_text")


def find_items(text: str, calls_of: CallsOf) -> Found:
    """Calls as `calls_of` sees them in an object (None: look inside it), and the words as the thought.

    Words at the very end are no thought but the answer: the episode is over. Raises Unfound when there is nothing to do.
    """
    walk = _Walk(calls_of)
    for value, offset in json_values(text):
        walk.into(value, offset, 0)
    calls, words = walk.calls, walk.words
    if walk.ended:
        calls = [*calls, Call(FINISH, {"answer": words.pop()}, walk.at)]
    if not calls:
        raise no_call("call")
    return Found(" ".join(part.strip() for part in (*walk.thinking, *words) if part.strip()), tuple(calls))


class _Walk:
    def __init__(self, calls_of: CallsOf) -> None:
        self.calls: list[Call] = []
        self.words: list[str] = []
        self.thinking: list[str] = []
        self.ended = False
        self.at = 0
        self._calls_of = calls_of

    def into(self, value: Any, offset: int, depth: int) -> None:
        if depth > _DEPTH:
            return
        if isinstance(value, list):
            for item in value:
                self.into(item, offset, depth + 1)
        elif isinstance(value, dict):
            self._object(value, offset, depth)

    def _object(self, value: dict[str, Any], offset: int, depth: int) -> None:
        found = self._calls_of(value)
        if found is not None:
            self.calls += [Call(name, arguments, offset) for name, arguments in found]
            self.ended = False
            return
        words = value.get("text", value.get("thinking"))
        if isinstance(words, str):
            thought = value.get("type") in _THINKING or value.get("thought") is True
            (self.thinking if thought else self.words).append(words)
            self.ended, self.at = (self.ended, self.at) if thought else (True, offset)
        for item in value.values():
            self.into(item, offset, depth + 1)


def dumps(value: Any) -> str:
    """JSON on one line, with nothing in it that would end a Markdown fence."""
    return json.dumps(value, ensure_ascii=False).replace("```", "\\u0060``")
