"""A task's instruction in natural words, from the instructions of its primitives."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from cuamaster.propagation.generation.plan import Plan
from cuamaster.records.templates import fill_text

_NEXT = ("Then", "After that,", "Next,")
_LAST = ("Finally,", "Then", "At the end,")


def instruct(plan: Plan, names: Mapping[str, str], rng: Random) -> str:
    """One paragraph; the application is named where it changes. `names`: application id -> name as users know it."""
    sentences: list[str] = []
    app = ""
    for index, use in enumerate(plan.uses):
        words = fill_text(use.primitive.instruction, use.arguments).rstrip(".")
        name = names.get(use.primitive.app, use.primitive.app.capitalize())
        if use.primitive.app != app and name.lower() not in words.lower():
            words = f"in {name}, {words[0].lower()}{words[1:]}"
        app = use.primitive.app
        sentences.append(_joined(words, index, len(plan.uses), rng))
    return " ".join(sentences)


def _joined(words: str, index: int, count: int, rng: Random) -> str:
    if index == 0:
        return f"{words[0].upper()}{words[1:]}."
    lead = rng.choice(_LAST if index == count - 1 and count > 2 else _NEXT)
    return f"{lead} {words[0].lower()}{words[1:]}."
