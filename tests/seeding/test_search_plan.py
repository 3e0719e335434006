"""Quotas become queries; what earlier rounds brought decides which, how far on and for whom first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.errors import UnknownName
from cuamaster.records.episode import PlanCell, RoundPlan
from cuamaster.records.search import Searched
from cuamaster.seeding.search_memory import SearchMemory, shape
from cuamaster.seeding.search_plan import PAGE, SearchPlan, plan_searches
from cuamaster.seeding.taxonomy import load

TAXONOMY = load()


def plan(*apps: str, videos: int = 10, capabilities: tuple[str, ...] = ()) -> RoundPlan:
    cells = (
        PlanCell(app=app, domain="d", videos=videos, tasks=1, k=1, n=1, reason="test", capabilities=capabilities)
        for app in apps
    )
    return RoundPlan(round=1, cells=tuple(cells))


def row(text: str, candidates: int, kept: int, *, app: str = "gimp", offset: int = 0, limit: int = 20) -> Searched:
    return Searched(
        text=text, app=app, provider="ytdlp", language="en", offset=offset, limit=limit, candidates=candidates, new=candidates, kept=kept, tasks=kept
    )  # fmt: skip


def search(round_plan: RoundPlan, *rows: Searched, **options: object) -> SearchPlan:
    tasks = options.pop("tasks", {})
    languages = options.pop("languages", ("en",))
    memory = SearchMemory(TAXONOMY, rows, tasks)  # type: ignore[arg-type]
    return plan_searches(TAXONOMY, round_plan, languages, providers=("ytdlp",), memory=memory, **options)  # type: ignore[arg-type]


def test_a_quota_becomes_names_times_action_words() -> None:
    found = search(plan("gimp", "blender", videos=40), languages=("de", "ko"))
    texts = {query.text for query in found.queries}
    assert {"GIMP Tutorial", "GIMP 강좌", "Blender 3D Tutorial", "블렌더 3D 강좌"} <= texts
    assert not any("{" in text for text in texts) and len(texts) == len(found.queries) == found.requests
    assert {query.language for query in found.queries} == {"de", "ko"}
    assert found == search(plan("gimp", "blender", videos=40), languages=("de-AT", "ko_KR", "de"))
    for app in ("gimp", "blender"):
        mine = [item for item in found.searches if item.query.app == app]
        assert sum(item.query.limit for item in mine) == 160, "four candidates for each video wanted"
        assert sum(item.expected for item in mine) == pytest.approx(40)
        assert all(item.query.limit <= PAGE for item in mine)


def test_a_small_quota_asks_for_little() -> None:
    (query,) = search(plan("gimp", videos=1)).queries
    assert (query.text, query.limit, query.offset) == ("GIMP tutorial", 4, 0)


def test_a_folder_gets_every_spelling_and_nothing_is_asked_for_an_empty_cell() -> None:
    found = plan_searches(TAXONOMY, plan("mousepad"), ("en",))
    assert {query.text for query in found.queries} >= {"Mousepad", "mouse pad"} and found.requests == 0
    assert {query.provider for query in found.queries} == {"local"}
    assert plan_searches(TAXONOMY, plan("mousepad", videos=0), ("en",)) == SearchPlan(())
    both = plan_searches(TAXONOMY, plan("mousepad"), ("en",), providers=("local", "ytdlp"))
    assert {query.provider for query in both.queries} == {"local", "ytdlp"} and both.requests == 2


def test_unknown_applications_and_languages_are_named() -> None:
    with pytest.raises(UnknownName, match="gimpp"):
        search(plan("gimpp"))
    with pytest.raises(UnknownName, match="language 'tlh'"):
        search(plan("gimp"), languages=("tlh",))


def test_a_query_goes_on_where_it_stopped() -> None:
    queries = {query.text: query for query in search(plan("gimp", videos=30), row("GIMP tutorial", 20, 10)).queries}
    assert queries["GIMP tutorial"].offset == 20
    assert queries["how to use GIMP"].offset == 0
    again = search(plan("gimp", videos=30), row("GIMP tutorial", 20, 10), row("GIMP tutorial", 20, 8, offset=20))
    assert next(query.offset for query in again.queries if query.text == "GIMP tutorial") == 40


def test_a_query_without_more_results_is_not_asked_again() -> None:
    few = {query.text: query.offset for query in search(plan("gimp", videos=99), row("GIMP tutorial", 7, 7)).queries}
    assert few["GIMP tutorial"] == 20, "the others may have been fetched before"
    none = search(plan("gimp", videos=99), row("GIMP tutorial", 7, 7), row("GIMP tutorial", 0, 0, offset=20)).queries
    assert none and "GIMP tutorial" not in {query.text for query in none}


def test_what_paid_is_asked_first_and_counts_for_more() -> None:
    good, bad = row("GIMP tips", 60, 45, limit=60), row("GIMP tutorial", 60, 0, limit=60)
    queries = search(plan("gimp", videos=12), good, bad).queries
    assert queries[0].text == "GIMP tips" and "GIMP tutorial" not in {query.text for query in queries}
    assert len(search(plan("gimp", videos=12), good).queries) < len(search(plan("gimp", videos=12), bad).queries)


def test_an_action_word_that_paid_elsewhere_is_tried_first() -> None:
    rows = [
        row(f"{TAXONOMY.app(app).name} walkthrough", 100, 80, app=app, limit=100)
        for app in ("krita", "kate", "krusader")
    ]
    assert search(plan("gimp", videos=1), *rows).queries[0].text == "GIMP walkthrough"
    useless = [row(f"{TAXONOMY.app(app).name} tutorial", 100, 0, app=app, limit=100) for app in ("krita", "krusader")]
    assert search(plan("gimp", videos=1), *useless).queries[0].text != "GIMP tutorial"


def test_an_action_word_of_an_application_that_left_the_taxonomy_does_no_harm() -> None:
    assert search(plan("gimp"), row("Gone tutorial", 20, 5, app="gone")).queries


def test_requests_go_to_the_poorest_applications_first() -> None:
    apps = ("gimp", "krita", "inkscape", "blender")
    rich = {"gimp": 100, "krita": 100, "inkscape": 0, "blender": 3}
    found = search(plan(*apps, videos=20), tasks=rich, requests=5)
    assert [query.app for query in found.queries] == ["inkscape", "blender", "inkscape", "blender", "inkscape"]
    assert found.waiting == ("gimp", "krita") and [item.tasks for item in found.searches][:2] == [0, 3]
    one = search(plan(*apps, videos=20), tasks=rich, requests=1)
    assert [query.app for query in one.queries] == ["inkscape"] and set(one.waiting) == {"blender", "gimp", "krita"}
    assert search(plan(*apps, videos=20), tasks=rich).waiting == ()


def test_weak_abilities_are_searched_for_by_name() -> None:
    texts = [query.text for query in search(plan("gimp", videos=20, capabilities=("scale image", "export as"))).queries]
    assert texts[:2] == ["GIMP scale image", "GIMP export as"] and "GIMP tutorial" in texts
    german = search(plan("gimp", videos=20, capabilities=("scale image",)), languages=("de",))
    assert not any("scale" in query.text for query in german.queries), "abilities are named in English"


def test_texts_that_two_languages_share_are_asked_once() -> None:
    texts = [query.text for query in search(plan("gimp", videos=400), languages=("en", "es", "pt", "it", "id")).queries]
    assert len(texts) == len(set(texts)) and texts.count("GIMP tutorial") == 1


def test_the_shape_of_a_query() -> None:
    assert shape("how to use GIMP", ("GIMP",)) == "how to use {app}"
    assert shape("Adobe Photoshop tips", ("Photoshop", "Adobe Photoshop")) == "{app} tips"
    assert shape("something else", ("GIMP",)) == "something else"


APPS = ("gimp", "krita", "blender", "microsoft-excel")


@given(
    videos=st.dictionaries(st.sampled_from(APPS), st.integers(0, 60), min_size=1),
    rows=st.lists(st.tuples(st.sampled_from(APPS), st.sampled_from(["tutorial", "tips"]), st.integers(0, 20), st.integers(0, 20)), max_size=6),
    tasks=st.dictionaries(st.sampled_from(APPS), st.integers(0, 9)),
    requests=st.one_of(st.none(), st.integers(1, 12)),
)  # fmt: skip
def test_budgets_hold_and_plans_are_deterministic(
    videos: dict[str, int], rows: list[tuple[str, str, int, int]], tasks: dict[str, int], requests: int | None
) -> None:
    cells = tuple(PlanCell(app=a, domain="d", videos=v, tasks=0, k=1, n=1, reason="r") for a, v in videos.items())
    history = [row(f"{TAXONOMY.app(a).search_names('en')[0]} {w}", c, k, app=a) for a, w, c, k in rows]
    found = search(RoundPlan(round=1, cells=cells), *history, tasks=tasks, requests=requests)
    assert found == search(RoundPlan(round=1, cells=cells), *history, tasks=tasks, requests=requests)
    assert requests is None or found.requests <= requests
    asked = {query.app for query in found.queries}
    assert asked | set(found.waiting) >= {app for app, count in videos.items() if count}
    assert not asked & set(found.waiting)
    for app in asked:
        got = sum(item.expected for item in found.searches if item.query.app == app)
        assert got <= videos[app] + 1, "no more than the quota, but for the last candidate"
