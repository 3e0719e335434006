"""The texts of a row, wherever they are: string columns, nested values, and JSON inside strings; read, or rewritten in place."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_NO_TEXT = {
    "images", "image", "bytes", "tools_json", "tools", "action_space_version", "dialect", "env_image_digest", "verifier_sha256", "snapshot_id",
    "screenshot", "evidence", "kind", "lineage_ids", "image_digest",
}  # fmt: skip
"""Columns and keys that hold no words of anybody: pictures, schemas, digests."""
_TWICE = {
    "sft": {"messages", "conversation"},
    "rl": {"prompt", "reward_model", "reward_spec", "extra_info"},
    "other": set(),
}
"""What our own exporters render from other columns of the same row."""
_DIGEST = re.compile(r"[0-9a-f]{32,64}|[a-z]+-[0-9a-f]{16}")


def texts_of(values: Mapping[str, Any], kind: str) -> Iterator[tuple[str, str]]:
    """(where, text) of every text that people wrote or saw, such as ("steps_json.2.thought", "Click ...")."""
    for column, value in values.items():
        if column not in _NO_TEXT and column not in _TWICE[kind]:
            yield from _walk(column, value)


def _walk(where: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        inner = _inner(value)
        if inner is not None:
            yield from _walk(where, inner)
        elif value and not _DIGEST.fullmatch(value) and not value.startswith("data:"):
            yield where, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _NO_TEXT:
                yield from _walk(f"{where}.{key}", item)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _walk(f"{where}.{index}", item)


def _inner(text: str) -> Any:
    """The value of a string that holds JSON, so that escapes do not glue words together; None if it is just a string."""
    if len(text) > 1 and text[0] + text[-1] in ("{}", "[]"):
        try:
            return json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            return None
    return None


def rewritten(value: Any, change: Callable[[str], str]) -> Any:
    """The same value with `change` applied to every text that `texts_of` would give; unchanged JSON keeps its bytes."""
    if isinstance(value, str):
        inner = _inner(value)
        if inner is None:
            return value if _DIGEST.fullmatch(value) or value.startswith("data:") else change(value)
        fresh = rewritten(inner, change)
        return value if fresh == inner else json.dumps(fresh, ensure_ascii=False)
    if isinstance(value, Mapping):
        return {key: item if key in _NO_TEXT else rewritten(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rewritten(item, change) for item in value]
    return value


def instruction_of(values: Mapping[str, Any]) -> str:
    """What the row asks for: its `instruction`, or the first user turn without our own preface; '' if there is none."""
    for name in ("instruction", "task", "query", "goal", "question", "natural_language_task"):
        if isinstance(values.get(name), str):
            return str(values[name])
    for name in ("messages", "prompt", "conversation", "conversations"):
        turns = values.get(name)
        if isinstance(turns, str):
            turns = _inner(turns)
        for turn in turns if isinstance(turns, list) else ():
            if isinstance(turn, Mapping) and (turn.get("role") or turn.get("from")) in ("user", "human"):
                said = turn.get("content") if "content" in turn else turn.get("value")
                return spoken_text(said).replace("<image>", "").strip().removeprefix("Instruction: ")
    return ""


def spoken_text(content: Any) -> str:
    """The words of a turn's content: a string, or the text parts of a list."""
    if isinstance(content, list):
        return "\n".join(
            part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        )
    return content if isinstance(content, str) else ""


_WORD = re.compile(r"[^\W_]+")
_UNPARTED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
"""Kana and Chinese characters: written without blanks, so each of them is a word of its own."""
_PARTED_WORD = re.compile(rf"[{_UNPARTED}]|(?:(?![{_UNPARTED}])[^\W_])+")
_HAS_UNPARTED = re.compile(f"[{_UNPARTED}]")


def words_of(text: str) -> list[str]:
    """Words for comparison: compatibility forms and case folded, punctuation left out."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return (_PARTED_WORD if _HAS_UNPARTED.search(folded) else _WORD).findall(folded)
