"""What earlier rounds' searches brought: where each query stopped, and how many of its candidates are worth keeping."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cuamaster.records.search import Searched
from cuamaster.records.taxonomy import Taxonomy

PRIOR = 0.25
"""Share of candidates kept where nothing is known."""
WEIGHT = 20
"""Candidates that a prior counts for: a query is believed over its action word and site, and those over all, from about so many on."""
CURIOSITY = 0.1
"""How far an application's seldom asked queries are preferred to its often asked ones of the same yield."""


@dataclass
class _Sum:
    asks: int = 0
    candidates: int = 0
    kept: int = 0
    reached: int = 0
    exhausted: bool = False

    def add(self, row: Searched) -> None:
        self.asks += 1
        self.candidates += row.candidates
        self.kept += min(row.kept, row.candidates)
        self.reached = max(self.reached, row.offset + row.limit)
        self.exhausted |= row.exhausted

    def rate(self, prior: float) -> float:
        return (self.kept + WEIGHT * prior) / (self.candidates + WEIGHT)


_NOTHING = _Sum()


@dataclass
class SearchMemory:
    """Built from the rows of earlier rounds and the tasks kept of each application (application id -> number)."""

    taxonomy: Taxonomy
    rows: Iterable[Searched] = ()
    tasks: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._all = _Sum()
        self._queries: dict[tuple[str, str, str], _Sum] = {}
        self._words: dict[tuple[str, str], _Sum] = {}
        self._sites: dict[tuple[str, str], _Sum] = {}
        self._asks: Counter[str] = Counter()
        names = {app.id: app for app in self.taxonomy.apps}
        for row in self.rows:
            self._queries.setdefault((row.provider, row.app, row.text), _Sum()).add(row)
            for provider in (row.provider, ""):  # "": all sites together
                self._sites.setdefault((provider, row.language), _Sum()).add(row)
            self._asks[row.app] += 1
            self._all.add(row)
            app = names.get(row.app)  # an application that left the taxonomy still says how good its words are
            spellings = app.search_names(row.language) if app else ()
            self._words.setdefault((row.language, shape(row.text, spellings)), _Sum()).add(row)

    def reached(self, provider: str, app: str, text: str) -> int:
        """Results of a query that were seen: where the next request goes on."""
        return self._query(provider, app, text).reached

    def exhausted(self, provider: str, app: str, text: str) -> bool:
        """Nothing lies behind what was seen."""
        return self._query(provider, app, text).exhausted

    def expected(self, provider: str, app: str, text: str, language: str, word: str) -> float:
        """Share of the next candidates that will be kept: from the query at this site; where that is young from its action word anywhere, by
        as much more or less as the site keeps than all sites do in this language; else from all."""
        every = self._all.rate(PRIOR)
        words = self._words.get((language, word), _NOTHING).rate(every)
        here, anywhere = (self._sites.get((name, language), _NOTHING).rate(every) for name in (provider, ""))
        return self._query(provider, app, text).rate(min(1.0, words * here / anywhere))

    def curiosity(self, provider: str, app: str, text: str) -> float:
        """What an application's less asked queries are worth beyond what they are expected to bring."""
        asks = self._query(provider, app, text).asks
        return CURIOSITY * math.sqrt(math.log1p(self._asks[app]) / (1 + asks))

    def _query(self, provider: str, app: str, text: str) -> _Sum:
        return self._queries.get((provider, app, text), _NOTHING)


def shape(text: str, names: Iterable[str]) -> str:
    """A query without its application's name: "GIMP tutorial" is "{app} tutorial"."""
    for name in sorted(names, key=len, reverse=True):
        if name in text:
            return text.replace(name, "{app}", 1)
    return text
