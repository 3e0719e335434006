"""When two primitives mean the same: canonical ability names, and P, E and V compared up to the names of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cuamaster.records.filling import names_in
from cuamaster.records.primitive import Primitive
from cuamaster.records.record import canonical_json
from cuamaster.records.templates import fill_text

_SYNONYMS = {
    "create": ("create", "make", "new", "add"),
    "delete": ("delete", "remove", "erase", "trash"),
    "open": ("open", "launch", "start", "enter"),
    "save-as": ("save-as", "save-file-as", "save-document-as", "save-under"),
    "replace": ("replace", "find-and-replace", "find-replace", "search-and-replace", "substitute"),
    "rename": ("rename", "retitle"),
    "folder": ("folder", "directory", "dir", "map"),
    "file": ("file", "document"),
    "enable": ("enable", "turn-on", "switch-on", "activate", "show"),
    "disable": ("disable", "turn-off", "switch-off", "deactivate", "hide"),
    "type": ("type", "enter-text", "write", "input"),
    "close": ("close", "quit", "exit"),
    "compute": ("compute", "calculate", "evaluate"),
}
_PHRASES = sorted(
    ((tuple(phrase.split("-")), word) for word, phrases in _SYNONYMS.items() for phrase in phrases),
    key=lambda item: -len(item[0]),
)
_FILLERS = frozenset(("a", "an", "the", "to", "of", "in"))


def canonical_ability(ability: str) -> str:
    """`make-a-new-directory` and `create-folder` are both `create-folder`."""
    words = [word for word in ability.lower().replace("_", "-").split("-") if word and word not in _FILLERS]
    out: list[str] = []
    while words:
        for phrase, name in _PHRASES:
            if tuple(words[: len(phrase)]) == phrase:
                words = words[len(phrase) :]
                if not out or out[-1] != name:
                    out.append(name)
                break
        else:
            out.append(words.pop(0))
    return "-".join(out)


def meaning(primitive: Primitive) -> str:
    """Equal exactly for primitives of one meaning: application, canonical ability, and P, E, V up to parameter names.

    Conditions within P and E are sets. Parameters are numbered by first use in the effects, then V, then P, which tells
    apart all but contrived symmetric cases; those stay apart as variants.
    """
    effects = _ordered(primitive.effects)
    numbers: dict[str, str] = {}
    for name in _names([*effects, primitive.verifier.model_dump(mode="json"), *_ordered(primitive.preconditions)]):
        numbers.setdefault(name, f"{{p{len(numbers)}}}")
    parts = {
        "app": primitive.app,
        "ability": canonical_ability(primitive.ability),
        "requires": sorted(set(primitive.requires)),
        "effects": sorted(canonical_json(_renamed(item, numbers)) for item in effects),
        "verifier": _renamed(_sorted_parts(primitive.verifier.model_dump(mode="json")), numbers),
        "preconditions": sorted(canonical_json(_renamed(item, numbers)) for item in _ordered(primitive.preconditions)),
    }
    return canonical_json(parts)


def _ordered(conditions: Any) -> list[Any]:
    """Plain data of conditions in an order that does not depend on the parameters' names."""
    plain = [_sorted_parts(condition.model_dump(mode="json")) for condition in conditions]
    return sorted(plain, key=_shape)


def _shape(data: Any) -> str:
    return canonical_json(_renamed(data, dict.fromkeys(names_in(data), "{}")))


def _sorted_parts(data: Any) -> Any:
    if isinstance(data, dict):
        done = {key: _sorted_parts(value) for key, value in data.items()}
        if done.get("kind") in ("all", "any"):
            done["of"] = sorted(done["of"], key=_shape)
        return done
    return data


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        spans = sorted((value.find(f"{{{name}}}"), name) for name in names_in(value))
        yield from (name for _, name in spans)
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from _names(value[key])
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _names(item)


def _renamed(value: Any, numbers: dict[str, str]) -> Any:
    if isinstance(value, str):
        return fill_text(value, {name: numbers[name] for name in names_in(value)})
    if isinstance(value, dict):
        return {key: _renamed(item, numbers) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_renamed(item, numbers) for item in value]
    return value
