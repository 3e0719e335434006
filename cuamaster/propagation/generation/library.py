"""The library of primitives: no evidence, no entry; one entry per meaning, variants that differ in P, E or V side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from cuamaster.errors import InvalidInput, UnknownName
from cuamaster.propagation.generation.canonical import meaning
from cuamaster.propagation.generation.yaml_primitives import read_primitives
from cuamaster.records.primitive import Evidence, Primitive

Added = Literal["added", "merged"]


class Library:
    """Primitives by meaning, in order of arrival."""

    def __init__(self, primitives: Iterable[Primitive] = ()) -> None:
        self._by_meaning: dict[str, Primitive] = {}
        for primitive in primitives:
            self.add(primitive)

    @classmethod
    def load(cls, folder: Path) -> Library:
        """All `*.yaml` of a folder; raises InvalidInput naming file, line and field, also for a primitive without evidence."""
        return cls(item.primitive for path in sorted(folder.glob("*.yaml")) for item in read_primitives(path))

    def add(self, primitive: Primitive) -> Added:
        """Add, or merge its evidence and new procedures into the entry of the same meaning; InvalidInput without evidence."""
        if not primitive.evidence:
            raise InvalidInput(
                f"primitive {primitive.app}.{primitive.ability} has no evidence",
                hint="a video with times, or a recorded demonstration",
            )
        key = meaning(primitive)
        known = self._by_meaning.get(key)
        if known is None:
            self._by_meaning[key] = primitive
            return "added"
        self._by_meaning[key] = known.model_copy(update={"evidence": _union(known.evidence, primitive.evidence)})
        return "merged"

    def knows(self, primitive: Primitive) -> bool:
        """Whether an entry of the same meaning is there."""
        return meaning(primitive) in self._by_meaning

    def get(self, primitive_id: str) -> Primitive:
        """By id; raises UnknownName."""
        for primitive in self:
            if primitive.id == primitive_id:
                return primitive
        raise UnknownName(f"no primitive {primitive_id!r}", hint="cuamaster primitives list")

    def of_app(self, app: str) -> list[Primitive]:
        """All of one application."""
        return [primitive for primitive in self if primitive.app == app]

    @property
    def apps(self) -> tuple[str, ...]:
        """Applications in order of arrival."""
        return tuple(dict.fromkeys(primitive.app for primitive in self))

    def __iter__(self) -> Iterator[Primitive]:
        return iter(self._by_meaning.values())

    def __len__(self) -> int:
        return len(self._by_meaning)


def _union(known: tuple[Evidence, ...], more: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys([*known, *more]))
