"""What a round searches for, and what it remembers of its searches for the rounds after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from cuamaster.catalog import Catalog
from cuamaster.curriculum.plan import first_plan
from cuamaster.ports import VideoSource
from cuamaster.records.episode import RoundPlan
from cuamaster.records.record import content_id
from cuamaster.records.search import Searched
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.records.video import Query, TaskSegment
from cuamaster.seeding.search_memory import SearchMemory
from cuamaster.seeding.search_plan import LISTINGS, SearchPlan, plan_searches
from cuamaster.settings import Settings
from cuamaster.stages.running import in_turn, part_of, run
from cuamaster.tables import RoundFolder, Workspace

STAGE = "searched"


def memory_before(workspace: Workspace, number: int, taxonomy: Taxonomy) -> SearchMemory:
    """What the rounds before `number` searched and kept."""
    folders = [workspace.round(earlier) for earlier in workspace.rounds() if earlier < number]
    return SearchMemory(taxonomy, searched(folders), kept_tasks(folders))


def searched(folders: Sequence[RoundFolder]) -> list[Searched]:
    """Every query that these rounds asked."""
    return [row for folder in folders for row in folder.stage(STAGE).kept(Searched)]


def kept_tasks(folders: Sequence[RoundFolder]) -> Counter[str]:
    """Application -> tasks mined in these rounds."""
    return Counter(segment.app for folder in folders for segment in folder.stage("mine").kept(TaskSegment))


def planned(
    workspace: Workspace,
    number: int,
    plan: RoundPlan,
    taxonomy: Taxonomy,
    settings: Settings,
    providers: Sequence[str],
) -> SearchPlan:
    """The searches of a round. Raises UnknownName for a search language without words."""
    return plan_searches(
        taxonomy, plan, settings.search_languages or (settings.language,), providers=providers,
        memory=memory_before(workspace, number, taxonomy), requests=settings.round_searches,
    )  # fmt: skip


def open_plan(workspace: Workspace, number: int, taxonomy: Taxonomy, settings: Settings) -> RoundPlan:
    """Videos only, for a round that has no plan: the applications of the whole taxonomy with the fewest kept tasks first."""
    memory = memory_before(workspace, number, taxonomy)
    domains = {app.id: taxonomy.domain_of(app.id) for app in taxonomy.apps}
    return first_plan(
        domains, videos=settings.round_videos, tasks=0, seed=settings.seed, round_number=number, kept=memory.tasks
    )


def key_of(query: Query, sources: Sequence[VideoSource]) -> str:
    """Names one query with everything that decides its answer."""
    return content_id("query", query, *(source.asked(query) for source in sources if source.name == query.provider))


def remember(workspace: Workspace, number: int, queries: Sequence[Query], sources: Sequence[VideoSource]) -> None:
    """Write what each query brought at each site, once the round's videos are mined. A search that failed or was put off is not remembered: it
    is asked again."""
    folder = workspace.round(number)
    stage = folder.stage("search")
    failed = {item.item_id for item in stage.dropped()}
    asked = [
        q
        for q in queries
        if q.provider not in LISTINGS and q.app
        for key in [key_of(q, sources)]
        if key not in failed and stage.has(part_of(stage, key))
    ]
    brought = _brought(workspace, number) if asked else {}
    rows = [
        Searched(
            text=q.text, app=q.app, provider=q.provider, language=q.language, offset=q.offset, limit=q.limit,
            **dict(zip(_COUNTS, counts, strict=True)),
        )
        for q, counts in _shared(asked, brought)
    ]  # fmt: skip
    run(
        folder.stage(STAGE), [rows], lambda _: (rows, ()), key=lambda all_: content_id("rows", [row.id for row in all_]),
        each=in_turn, label=lambda all_: f"{len(all_)} searches",
    )  # fmt: skip


_COUNTS = ("candidates", "new", "kept", "tasks")
_CAME = "SELECT app, query, source, count(*) AS candidates, 0 AS new, 0 AS kept, 0 AS tasks FROM search WHERE round = $round GROUP BY ALL"
_NEW = """SELECT app, query, source, 0, count(*), count(n), coalesce(sum(n), 0) FROM discover LEFT JOIN (
    {mined}) ON video_id = discover.id WHERE round = $round GROUP BY ALL"""
_MINED = "SELECT video_id, count(*) AS n FROM mine WHERE round = $round GROUP BY ALL"
_NOTHING_MINED = "SELECT '' AS video_id, 0 AS n WHERE false"
Brought = dict[tuple[str, str], dict[str, tuple[int, ...]]]
"""(application, query) -> site's name -> candidates, new ones, kept ones, tasks."""


def _brought(workspace: Workspace, number: int) -> Brought:
    """Counted in SQL, for candidates may be millions."""
    found: Brought = {}
    with Catalog(workspace) as catalog:
        parts = [_CAME] if "search" in catalog.views else []
        if "discover" in catalog.views:
            parts.append(_NEW.format(mined=_MINED if "mine" in catalog.views else _NOTHING_MINED))
        if parts:
            sums = ", ".join(f"sum({name})::BIGINT AS {name}" for name in _COUNTS)
            every = " UNION ALL ".join(parts)
            sql = f"SELECT app, query, source, {sums} FROM ({every}) WHERE app IS NOT NULL GROUP BY ALL"
            for row in catalog.query(sql, {"round": number}):
                counts = tuple(row[name] for name in _COUNTS)
                found.setdefault((row["app"], row["query"]), {})[row["source"]] = counts
    return found


def _shared(asked: Sequence[Query], brought: Brought) -> Iterator[tuple[Query, tuple[int, ...]]]:
    """What each query brought: candidates of the site that it asked. A provider that no site is named after has what is nobody else's."""
    providers: dict[tuple[str, str], set[str]] = {}
    for query in asked:
        providers.setdefault((query.app, query.text), set()).add(query.provider)
    for query in asked:
        sites = brought.get((query.app, query.text), {})
        others = providers[query.app, query.text] - {query.provider}
        mine = {query.provider} if query.provider in sites else sites.keys() - others
        yield query, tuple(sum(sites[name][index] for name in mine) for index in range(len(_COUNTS)))
