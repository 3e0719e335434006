"""Feedback after a divergence: words about what was observed, checked for leaks of the goal's values and the right action."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from cuamaster.errors import InvalidInput
from cuamaster.ports import Desktop, ScreenReader
from cuamaster.propagation.collection.acting import known_state
from cuamaster.propagation.collection.progress import effects_of
from cuamaster.records.condition import Condition
from cuamaster.records.episode import Node
from cuamaster.records.filling import substitute
from cuamaster.records.parts import leaves
from cuamaster.records.task import PrimitiveUse, Task
from cuamaster.records.templates import fill_template
from cuamaster.records.verdict import Check
from cuamaster.records.wording import describe

_NO_SECRETS = {
    "kind", "match", "type", "active", "row", "column", "number", "start", "whole", "precision", "ignore_case", "ignore_blanks",
    "status",
}  # fmt: skip
_NO_WORD = re.compile(r"[\W_]+")
_RUN = 3
_BLIND = "The goal was not reached, and the last part of the attempt was undone."
_MUTE = "Undone."


def write_feedback(task: Task, failed: Sequence[Check], notes: Sequence[str], observations: Sequence[str]) -> str:
    """The most telling of several wordings that leaks nothing; `notes` are observed facts in full sentences."""
    missed = "; ".join(dict.fromkeys(describe(check.condition, reveal=False) for check in failed))
    result = f"This should have come true and did not: {missed}." if missed else "The goal was not reached."
    for words in (" ".join([result, *notes]), result, " ".join([_BLIND, *notes])):
        if not leaks(words, task, observations):
            return words
    return _BLIND if not leaks(_BLIND, task, observations) else _MUTE


def censored(feedback: str, task: Task, observations: Sequence[str]) -> tuple[str, int]:
    """(what may be said to the policy, how many secrets were in `feedback`): itself, or a hint that tells nothing."""
    found = len(leaks(feedback, task, observations))
    if not found:
        return feedback, 0
    return (_BLIND if not leaks(_BLIND, task, observations) else _MUTE), found


def seen_texts(path: Sequence[Node], desktop: Desktop, reader: ScreenReader) -> list[str]:
    """Every text that the policy has met: titles and answers on its path, the windows and the screen as they are now.

    Raises DesktopFault when the desktop cannot be looked at.
    """
    texts = [text for node in path for text in (node.observation.active_window, node.observation.response, node.answer)]
    windows = (f"{window.app} {window.title}" for window in known_state(desktop).windows)
    return [*texts, *windows, *(box.text for box in reader.read(desktop.screenshot().image))]


def leaks(feedback: str, task: Task, observations: Sequence[str]) -> list[str]:
    """Secrets of the task found in `feedback` that neither the instruction nor any observed text holds.

    Secrets are the values that the verifier and the plan's effects expect, the arguments, names of files in paths, and the
    labels, texts, keys and commands of the oracle's actions. Case, spacing and punctuation do not count; a secret is found as
    whole words, one of more than three words also by any three of them in a row.
    """
    said = _plain(feedback)
    known = _plain(" ".join([task.instruction, *observations]))
    return [secret for secret in dict.fromkeys(_secrets(task)) if _tells(said, known, secret)]


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
                if name == "path":
                    yield from _names(value)


def _names(path: str) -> Iterator[str]:
    """A file is told by its bare name as well, with its ending or without."""
    name = path.rstrip("/").rsplit("/", 1)[-1]
    yield from (name, name.rsplit(".", 1)[0])


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
    """The words alone, between blanks; a text without any word stays as it is."""
    words = " ".join(_NO_WORD.sub(" ", text.casefold()).split()) or " ".join(text.split())
    return f" {words} "


def _tells(said: str, known: str, secret: str) -> bool:
    wanted = _plain(secret)
    if not wanted.strip():
        return False
    if wanted in said and wanted not in known:
        return True
    words = wanted.split()
    runs = (f" {' '.join(words[i : i + _RUN])} " for i in range(len(words) - _RUN + 1)) if len(words) > _RUN else ()
    return any(run in said and run not in known for run in runs)
