"""Holds a mined instruction against what was done: names that were misheard are taken from the screen, or the steps are told instead."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

from cuamaster.records.trajectory import Action

_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")
_ALIKE = 60.0
"""Similarity, 0-100, from which a heard name is taken for a name on the screen ("report store", said of "reports", has 74)."""


def told(instruction: str, actions: Sequence[Action], thoughts: Sequence[str]) -> str:
    """The instruction with every quoted name as it was typed, clicked or pressed.

    A name that nothing done resembles makes the instruction unfit: then the steps themselves are told, in order.
    """
    names = [name for action in actions for name in _names(action)]
    plain = {_plain(name) for name in names}

    def repaired(match: re.Match[str]) -> str:
        said = match.group(1)
        if _plain(said) in plain or any(_plain(said) in name for name in plain):
            return match.group(0)
        best = max(names, key=lambda name: fuzz.ratio(_plain(said), _plain(name)), default="")
        return f'"{best}"' if fuzz.ratio(_plain(said), _plain(best)) >= _ALIKE else "\0"

    text = _QUOTED.sub(repaired, instruction)
    return text if "\0" not in text else _as_steps(instruction, thoughts)


def _names(action: Action) -> list[str]:
    typed = str(action.action.args.get("text", ""))
    label = action.target.text if action.target is not None else ""
    return [name for name in (typed, label) if name]


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s.]", " ", text.casefold()).split())


def _as_steps(instruction: str, thoughts: Sequence[str]) -> str:
    where = re.match(r"In [^,]+, ", instruction)
    steps = [thought.strip().rstrip(".") for thought in thoughts if thought.strip()]
    words = ", then ".join(step[:1].lower() + step[1:] for step in steps)
    return f"{where.group() if where else ''}{words}." if words else instruction
