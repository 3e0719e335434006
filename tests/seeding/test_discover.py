"""Queries of a plan."""

from __future__ import annotations

import pytest

from cuamaster.errors import UnknownName
from cuamaster.records.episode import PlanCell, RoundPlan
from cuamaster.seeding.discover import plan_queries
from cuamaster.seeding.taxonomy import load


def plan(*apps: str, videos: int = 10) -> RoundPlan:
    return RoundPlan(
        round=1,
        cells=tuple(PlanCell(app=app, domain="d", videos=videos, tasks=1, k=1, n=1, reason="test") for app in apps),
    )


def test_each_application_is_searched_with_every_action_word() -> None:
    taxonomy = load()
    queries = plan_queries(taxonomy, plan("gimp", "krita"), "de", providers=("ytdlp",))
    words = taxonomy.words["de"].actions
    assert len(queries) == 2 * len(words)
    assert {"GIMP Tutorial", "GIMP für Anfänger", "so geht Krita"} <= {query.text for query in queries}
    assert all("{" not in query.text and query.language == "de" for query in queries)
    assert sum(query.limit for query in queries if query.app == "gimp") >= 10, "more candidates than wanted videos"


def test_a_folder_gets_bare_names_and_nothing_is_asked_for_an_empty_cell() -> None:
    queries = plan_queries(load(), plan("mousepad"), "en")
    assert {query.text for query in queries} >= {"Mousepad", "mouse pad"} and {query.provider for query in queries} == {
        "local"
    }
    assert plan_queries(load(), plan("mousepad", videos=0), "en") == []
    with pytest.raises(UnknownName, match="gimpp"):
        plan_queries(load(), plan("gimpp"), "en")
    with pytest.raises(UnknownName, match="language"):
        plan_queries(load(), plan("gimp"), "tlh", providers=("ytdlp",))
