"""Plans a round's searches: which names, action words and languages, how far on, and for which application first."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cuamaster.records.episode import PlanCell, RoundPlan
from cuamaster.records.taxonomy import App, Taxonomy, language_code
from cuamaster.records.video import Query
from cuamaster.seeding.search_memory import SearchMemory

LISTINGS = ("local", "lists")
"""Providers without a search engine: folders, feeds, accounts and playlists are listed whole, and names only pick from them."""
HOMES = {"bilibili": ("zh",)}
"""Sites that speak few languages: in others they are asked after those that speak all."""
OVERSHOOT = 4
"""Candidates wanted of a listing for each video that is to survive the filters."""
LATER = 3
"""Action words that are tried with an application's usual names before its second and old names get their turn."""
PAGE = 20
"""Results of one request: what the sites' searches give at once."""


@dataclass(frozen=True)
class Planned:
    """A query with what it is expected to bring, and what its application has already."""

    query: Query
    expected: float
    """Videos expected to be kept; 0 for a listing, of which nothing is known."""
    tasks: int


@dataclass(frozen=True)
class SearchPlan:
    """The searches of a round, in the order in which they are asked, and the applications for which no request was left."""

    searches: tuple[Planned, ...]
    waiting: tuple[str, ...] = ()

    @property
    def queries(self) -> list[Query]:
        """What to ask."""
        return [planned.query for planned in self.searches]

    @property
    def requests(self) -> int:
        """How many of them go to a site."""
        return sum(planned.query.provider not in LISTINGS for planned in self.searches)

    @property
    def results(self) -> int:
        """How many results those ask for, at most, of each site that answers them."""
        return sum(planned.query.limit for planned in self.searches if planned.query.provider not in LISTINGS)


def plan_searches(
    taxonomy: Taxonomy,
    plan: RoundPlan,
    languages: Sequence[str],
    *,
    providers: Sequence[str] = LISTINGS[:1],
    memory: SearchMemory | None = None,
    requests: int | None = None,
) -> SearchPlan:
    """The plan's quotas of videos as queries: name x action word x language, and the words of weak abilities.

    Requests go first to the application with the fewest kept tasks, counting what its planned requests are expected to
    bring, until every quota is met or `requests` are spent. Within an application the query that is expected to keep most
    of its candidates comes first; one that was asked before goes on where it stopped, and one that has nothing more is not
    asked. The same arguments give the same plan. Raises UnknownName for an application that the taxonomy does not have, and
    for a language without words.
    """
    memory = memory or SearchMemory(taxonomy)
    languages = list(dict.fromkeys(map(language_code, languages)))
    cells = [(cell, taxonomy.app(cell.app)) for cell in plan.cells if cell.videos]
    searches: list[Planned] = []
    for name in LISTINGS:
        if name in providers:
            searches += [planned for cell, app in cells for planned in _listings(name, cell, app, languages, memory)]
    sites = [name for name in dict.fromkeys(providers) if name not in LISTINGS]
    if not sites:
        return SearchPlan(tuple(searches))
    open_cells = [
        _Cell(
            order,
            cell,
            _ranked(taxonomy, app, cell, _from(languages, order), _from(sites, order // len(languages)), memory),
            float(memory.tasks.get(app.id, 0)),
        )
        for order, (cell, app) in enumerate(cells)
    ]
    heapq.heapify(open_cells)
    spent = 0
    while open_cells and (requests is None or spent < requests):
        cell = heapq.heappop(open_cells)
        planned = cell.next(memory)
        if planned is not None:
            searches.append(planned)
            spent += 1
            heapq.heappush(open_cells, cell)
    asked = {planned.query.app for planned in searches if planned.query.provider not in LISTINGS}
    return SearchPlan(
        tuple(searches), tuple(cell.cell.app for cell in sorted(open_cells) if cell.cell.app not in asked)
    )


def _listings(
    provider: str, cell: PlanCell, app: App, languages: Sequence[str], memory: SearchMemory
) -> Iterator[Planned]:
    names = dict.fromkeys(spelling.name for spelling in app.spellings)
    for name in names:
        query = Query(text=name, app=app.id, provider=provider, language=languages[0], limit=cell.videos * OVERSHOOT)
        yield Planned(query, 0.0, memory.tasks.get(app.id, 0))


def _from(names: Sequence[str], turn: int) -> Sequence[str]:
    """Applications begin with one language, and one site, after the other, so that small quotas reach them all."""
    turn %= len(names)
    return (*names[turn:], *names[:turn])


@dataclass(order=False)
class _Cell:
    """One application's quota while it is being filled; ordered by what it has and is expected to get."""

    order: int
    cell: PlanCell
    ranked: Iterator[_Option]
    has: float
    gets: float = 0.0

    def __lt__(self, other: _Cell) -> bool:
        return (self.has + self.gets, self.order) < (other.has + other.gets, other.order)

    def next(self, memory: SearchMemory) -> Planned | None:
        """The next query of the quota; None when the quota is met or there is nothing left to ask."""
        missing = self.cell.videos - self.gets
        found = next(self.ranked, None) if missing > 1e-9 else None
        if found is None:
            return None
        limit = max(1, min(PAGE, math.ceil(missing / found.rate - 1e-9)))
        query = Query(
            text=found.text, app=self.cell.app, provider=found.site, language=found.language, limit=limit,
            offset=memory.reached(found.site, self.cell.app, found.text),
        )  # fmt: skip
        self.gets += limit * found.rate
        return Planned(query, limit * found.rate, memory.tasks.get(self.cell.app, 0))


class _Option(NamedTuple):
    """One query that could be asked; the smallest is the best."""

    cost: float
    rank: tuple[int, int, int]
    text: str
    language: str
    site: str
    rate: float


def _ranked(
    taxonomy: Taxonomy, app: App, cell: PlanCell, languages: Sequence[str], sites: Sequence[str], memory: SearchMemory
) -> Iterator[_Option]:
    """The application's queries, best first, each with the share of its candidates expected to be kept."""
    options = []
    for (place, turn), text, language, word in _texts(taxonomy, app, cell, languages):
        for number, site in enumerate(sites):
            if not memory.exhausted(site, app.id, text):
                rate = memory.expected(site, app.id, text, language, word)
                cost = -rate - memory.curiosity(site, app.id, text)
                later = LATER if language not in HOMES.get(site, (language,)) else 0
                options.append(_Option(cost, (place + later, turn, number), text, language, site, rate))
    options.sort(key=lambda option: option[:2])
    return iter(options)


def _texts(
    taxonomy: Taxonomy, app: App, cell: PlanCell, languages: Sequence[str]
) -> Iterator[tuple[tuple[int, int], str, str, str]]:
    """(rank, text, language, the text without the name), each text once; equal ranks of all languages come together."""
    seen: set[str] = set()
    for number, language in enumerate(languages):
        words = taxonomy.words_for(language)
        usual = 1 + len(app.local.get(language, ()))  # the names people use now, in this language; old ones come later
        for which, name in enumerate(app.search_names(language)):
            weak = cell.capabilities if language == "en" else ()  # abilities are named in English
            shapes = [*((-1, ability) for ability in weak), *enumerate(words.actions)]
            for place, shape in shapes:
                pattern = shape if "{app}" in shape else f"{{app}} {shape}"
                text = pattern.replace("{app}", name)
                if text not in seen:
                    seen.add(text)
                    yield (place + (LATER if which >= usual else 0), number), text, language, pattern
