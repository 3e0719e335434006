"""Class balance: which values of a column dominate it, counted in passing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

_COLUMNS = ("domain", "apps", "K", "N", "strategy", "mode")
_LEAST_ROWS = 20
"""Below this many rows shares say nothing."""
_MANY_CLASSES = 50_000
"""A column with more values than this is an id, not a class; counting stops."""


class Balance:
    """Counts classes by configuration; `dominance` is the share that is too much."""

    def __init__(self, dominance: float) -> None:
        self._dominance = dominance
        self._counts: dict[tuple[str, str], Counter[str]] = {}
        self._rows: Counter[str] = Counter()

    def add(self, config: str, values: Mapping[str, Any]) -> None:
        """Count one row; an application counts once a row."""
        self._rows[config] += 1
        for column in _COLUMNS:
            value = values.get(column)
            if value not in (None, "", []):
                counts = self._counts.setdefault((config, column), Counter())
                if len(counts) < _MANY_CLASSES:
                    counts.update(map(str, set(value) if isinstance(value, list) else [value]))

    def told(self) -> Iterator[str]:
        """One sentence for each column that one class dominates."""
        for (config, column), counts in self._counts.items():
            total = self._rows[config]
            name, most = counts.most_common(1)[0]
            if total >= _LEAST_ROWS and most > self._dominance * total and (len(counts) > 1 or column == "domain"):
                yield f"{config}: {column} is {name} in {most} of {total} rows ({most / total:.0%})"
