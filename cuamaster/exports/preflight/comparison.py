"""What only the whole dataset shows: repeated ids, equal and similar rows, origins in two splits, classes that dominate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from cuamaster.exports.datafiles import Row
from cuamaster.exports.preflight.balance import Balance
from cuamaster.exports.preflight.pictures import pictures_in
from cuamaster.exports.preflight.problem import Rules
from cuamaster.exports.preflight.repeats import Place, Repeats
from cuamaster.exports.preflight.texts import instruction_of, words_of

LONGEST = 20_000
"""Characters of an instruction that are read as words."""
_SAID = (
    "messages", "conversation", "conversations", "prompt", "completion", "chosen", "rejected", "traj", "actions", "element", "bbox",
)  # fmt: skip
"""Columns that tell one foreign row from another."""
_TOLD = 100_000


class Comparison:
    """Takes rows one by one and tells in the end; a context, since what it must remember lies on disk."""

    def __init__(self, rules: Rules, root: Path) -> None:
        """`root`: the dataset's folder, below which pictures lie."""
        self._rules, self._root, self._balance = rules, root, Balance(rules.dominance)

    def __enter__(self) -> Comparison:
        with ExitStack() as stack:
            self._ids, self._same, self._like, self._origins = (stack.enter_context(Repeats()) for _ in range(4))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *fault: object) -> None:
        self._stack.close()

    def add(self, row: Row) -> None:
        """Put down what tells this row from others."""
        file, values = row.file, row.values
        self._balance.add(file.config, values)
        if not row.id.startswith("row "):
            self._ids.add(f"{file.config} {row.id}", file=file.name, row=row.id, number=row.number)
        if self._rules.wants("duplicate", "similar"):
            deeds = json.dumps([_asked(instruction_of(values)), _deeds(values)], default=str)
            shown = [hashlib.sha256(item["bytes"] or b"").hexdigest() for item in pictures_in(values, self._root)[0]]
            self._same.add(f"{file.config} {deeds} {shown}", file=file.name, row=row.id, number=row.number)
            self._like.add(f"{file.config} {deeds}", file=file.name, row=row.id, number=row.number)
        if self._rules.wants("split-leak"):
            split = str(values.get("split") or file.split)
            for origin in _origins(values):
                self._origins.add(f"{file.kind} {origin}", file=file.name, row=row.id, number=row.number, tag=split)

    def told(self) -> Iterator[tuple[str, str, Place | None]]:
        """(check, detail, row): every row but the first of those that share something."""
        for group in self._ids.groups():
            yield from (("repeated", f"{_named(group[0])} has the same id", place) for place in group[1:])
        same: set[tuple[str, int]] = set()
        for group in self._same.groups():
            for place in group[1:]:
                if len(same) < _TOLD:  # beyond that a pair may be told twice, as duplicate and as similar
                    same.add((place.file, place.number))
                yield "duplicate", f"{_named(group[0])} is the same", place
        for group in self._like.groups():
            for place in group[1:]:
                if (place.file, place.number) not in same:
                    yield "similar", f"{_named(group[0])} has the same instruction and actions", place
        for group in self._origins.groups():
            for place in {place.tag: place for place in reversed(group) if place.tag != group[0].tag}.values():
                told = f"in {place.tag}, but its origin is in {group[0].tag} too, by {_named(group[0])}"
                yield "split-leak", told, place
        yield from (("balance", told, None) for told in self._balance.told())


def _asked(instruction: str) -> list[Any]:
    """An instruction without case, punctuation and blanks, where it is no longer than instructions are."""
    return [words_of(instruction[:LONGEST]), instruction[LONGEST:]]


def _deeds(values: Mapping[str, Any]) -> Any:
    """What a row does, apart from what it says of itself: its actions, or all its turns, or the task's verifier and setup."""
    steps = values.get("steps_json")
    if isinstance(steps, str):
        return [[item["action"] for item in step["actions"]] for step in json.loads(steps)]
    if "verifier_json" in values:
        return [values["verifier_json"], values.get("setup_json")]
    return [values.get(name) for name in _SAID]


def _origins(values: Mapping[str, Any]) -> Iterator[str]:
    for name in ("video_id", "task_id"):
        if values.get(name):
            yield f"{name} {values[name]}"


def _named(place: Place) -> str:
    return f"{place.row} of {place.file}"
