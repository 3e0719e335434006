"""Feedback after a divergence: words about what was observed, checked for leaks of the goal's values and the right action."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from cuamaster.errors import InvalidInput
from cuamaster.propagation.collection.progress import effects_of
from cuamaster.records.condition import Condition
from cuamaster.records.filling import substitute
from cuamaster.records.reasoning import leaves
from cuamaster.records.task import PrimitiveUse, Task
from cuamaster.records.templates import fill_template
from cuamaster.records.verdict import Check
from cuamaster.records.wording import describe

_NO_SECRETS = {
    "kind", "match", "type", "active", "row", "column", "number", "start", "whole", "precision", "ignore_case", "ignore_blanks",
    "status",
}  # fmt: skip


def write_feedback(task: Task, failed: Sequence[Check], notes: Sequence[str], observations: Sequence[str]) -> str:
    """The most telling of several wordings that leaks nothing; `notes` are observed facts in full sentences."""
    missed = "; ".join(dict.fromkeys(describe(check.condition, reveal=False) for check in failed))
    result = f"This should have come true and did not: {missed}." if missed else "The goal was not reached."
    blind = "The goal was not reached, and the last part of the attempt was undone."
    for words in (" ".join([result, *notes]), result, " ".join([blind, *notes]), blind):
        if not leaks(words, task, observations):
            return words
    return "Undone."


def leaks(feedback: str, task: Task, observations: Sequence[str]) -> list[str]:
    """Secrets of the task found in `feedback` that neither the instruction nor any observed text holds.

    Secrets are the values that the verifier and the plan's effects expect, the arguments, and the labels, texts, keys and
    commands of the oracle's actions. Case and spacing do not count; a secret is found only as whole words.
    """
    said = _plain(feedback)
    known = _plain(" ".join([task.instruction, *observations]))
    found = dict.fromkeys(secret for secret in _secrets(task) if _holds(said, secret) and not _holds(known, secret))
    return list(found)


def _secrets(task: Task) -> Iterator[str]:
    yield from _values([task.verifier])
    for use in task.plan:
        yield from use.arguments.values()
        yield from _values([*effects_of(use), substitute(use.primitive.verifier, use.arguments)])
        yield from _oracle(use)


def _values(conditions: Sequence[Condition]) -> Iterator[str]:
    for condition in conditions:
        for leaf in leaves(condition):
            for name, value in leaf.model_dump().items():
                yield from _expected(value) if name not in _NO_SECRETS else ()


def _expected(value: Any) -> Iterator[str]:
    if isinstance(value, tuple):  # the rows of a table: each cell is a secret of its own
        for item in value:
            yield from _expected(item)
    else:
        yield str(value)


def _oracle(use: PrimitiveUse) -> Iterator[str]:
    for procedure in use.primitive.procedures:
        for step in procedure.steps:
            try:
                template = fill_template(step, use.arguments)
            except InvalidInput:  # a plan that cannot be filled in has no action to leak
                continue
            for target in (template.target, template.to):
                if target is not None:
                    yield from (target.text, target.near)
            yield from _strings(template.args)
            keys = template.args.get("keys")
            if isinstance(keys, list):
                yield "+".join(map(str, keys))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _holds(plain: str, secret: str) -> bool:
    wanted = _plain(secret)
    if not wanted:
        return False
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", plain) is not None
