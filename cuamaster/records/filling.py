"""Parameters in conditions and other templates: which are there, filling them in, and finding them in a ground fact.

Placeholders are `{name}`. Where a string is more than text, the value is escaped for it: shell-quoted in a command (see
`cuamaster.records.templates`), regex-escaped in a pattern. Braces that hold no parameter name (`{2}`, `{}`) stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from cuamaster.records.condition import CONDITION, CommandOutput, Condition, FileText
from cuamaster.records.templates import fill_command, fill_text

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def names_in(value: Any) -> frozenset[str]:
    """Parameter names in any JSON-like value (strings, lists, mappings)."""
    if isinstance(value, str):
        return frozenset(PLACEHOLDER.findall(value))
    if isinstance(value, Mapping):
        return frozenset().union(*(names_in(item) for item in value.values()))
    if isinstance(value, (list, tuple)):
        return frozenset().union(*(names_in(item) for item in value))
    return frozenset()


@lru_cache(maxsize=1 << 16)
def placeholders(condition: Condition) -> frozenset[str]:
    """Parameter names in a condition."""
    return names_in(condition.model_dump(mode="json"))


def _fill_condition(data: Any, arguments: Mapping[str, str]) -> Any:
    if isinstance(data, Mapping):
        return {key: _fill_field(data, key, item, arguments) for key, item in data.items()}
    if isinstance(data, (list, tuple)):
        return [_fill_condition(item, arguments) for item in data]
    return fill_text(data, arguments) if isinstance(data, str) else data


def _fill_field(data: Mapping[str, Any], key: str, value: Any, arguments: Mapping[str, str]) -> Any:
    if not isinstance(value, str):
        return _fill_condition(value, arguments)
    if data.get("kind") == "command.output" and key == "command":
        return fill_command(value, arguments)
    if key == "text" and data.get("match") == "regex":
        return fill_text(value, {name: re.escape(argument) for name, argument in arguments.items()})
    return fill_text(value, arguments)


def substitute(condition: Condition, arguments: Mapping[str, str]) -> Condition:
    """The condition with its parameters filled in; raises InvalidInput naming a parameter that has no value."""
    names = placeholders(condition)
    return (
        _substituted(condition, tuple((name, arguments[name]) for name in names if name in arguments))
        if names
        else condition
    )


@lru_cache(maxsize=1 << 16)
def _substituted(condition: Condition, arguments: tuple[tuple[str, str], ...]) -> Condition:
    return CONDITION.validate_python(_fill_condition(condition.model_dump(mode="json"), dict(arguments)))


def unify(pattern: Condition, fact: Condition, bound: Mapping[str, str]) -> dict[str, str] | None:
    """Arguments (`bound` and more) under which `pattern` speaks of the same things as the ground `fact`; None if there are none.

    Only the texts are matched up: whether the fact then implies the filled pattern is for `implies` to say.
    """
    left, right = pattern.model_dump(mode="json"), fact.model_dump(mode="json")
    if isinstance(fact, (FileText, CommandOutput)) and fact.match == "equals":
        right["text"] = fact.text.removesuffix("\n")  # a final newline does not count, so it is no part of an argument
    found: dict[str, str] = dict(bound)
    return found if _unify(left, right, found) else None


def _unify(pattern: Any, fact: Any, found: dict[str, str]) -> bool:
    if isinstance(pattern, str) and isinstance(fact, str):
        return _unify_text(pattern, fact, found)
    if isinstance(pattern, Mapping) and isinstance(fact, Mapping):
        if pattern.get("kind") != fact.get("kind"):
            return False
        return all(_unify(item, fact.get(key), found) for key, item in pattern.items() if names_in(item))
    if isinstance(pattern, list) and isinstance(fact, list):
        return len(pattern) == len(fact) and all(_unify(p, f, found) for p, f in zip(pattern, fact, strict=True))
    return not names_in(pattern)


def _unify_text(pattern: str, fact: str, found: dict[str, str]) -> bool:
    regex, seen = "", set[str]()
    for index, piece in enumerate(PLACEHOLDER.split(pattern)):
        if index % 2 == 0:
            regex += re.escape(piece)
        elif piece in found:
            regex += re.escape(found[piece])
        elif piece in seen:
            regex += f"(?P={piece})"
        else:
            seen.add(piece)
            # a slash is never part of a file's own name, so ~/{folder}/{filename} has one reading
            regex += f"(?P<{piece}>[^/]+)" if "/" in pattern else f"(?P<{piece}>.+)"
    match = re.fullmatch(regex, fact, re.DOTALL)
    if match is None:
        return False
    found.update(match.groupdict())
    return True
