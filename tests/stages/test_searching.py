"""A round's searches are remembered in the workspace, and steer the next round."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuamaster.errors import SourceUnavailable, UnknownName
from cuamaster.ports import Fetched, VideoSource
from cuamaster.records.episode import PlanCell, RoundPlan
from cuamaster.records.search import Searched
from cuamaster.records.video import Query, TaskSegment, Video
from cuamaster.seeding.taxonomy import load
from cuamaster.settings import Settings
from cuamaster.stages import Wheel, searches, survey, wanted
from cuamaster.stages.running import in_turn
from cuamaster.stages.searching import memory_before, planned, remember
from cuamaster.stages.seeding import discover
from cuamaster.tables import Workspace

TAXONOMY = load()


class Site:
    """A site with `size` results for every search, the same whoever asks; searches with `broken` in them fail."""

    def __init__(self, size: int = 30, broken: str = "\0", name: str = "ytdlp", source: str = "youtube") -> None:
        self.size, self.broken, self.asked_for = size, broken, list[Query]()
        self.name, self.source = name, source

    def search(self, query: Query) -> Iterator[Video]:
        self.asked_for.append(query)
        if self.broken in query.text:
            raise SourceUnavailable("down")
        for number in range(self.size)[query.offset : query.offset + query.limit]:
            name = f"{query.text} {number}"
            yield Video(
                source=self.source, source_id=name, url=f"https://{self.source}/{name}", title=f"{name} {self.source}", app=query.app,
                query=query.text,
            )  # fmt: skip

    def asked(self, query: Query) -> str:
        return ""

    def fetch(self, video: Video, folder: Path) -> Fetched:
        raise UnknownName(f"{video.url} in {folder}")


def plan(number: int, **videos: int) -> RoundPlan:
    cells = (PlanCell(app=a, domain="d", videos=v, tasks=0, k=1, n=1, reason="r") for a, v in videos.items())
    return RoundPlan(round=number, cells=tuple(cells))


def turn(workspace: Workspace, number: int, queries: list[Query], sources: list[VideoSource], keep: str) -> None:
    """Search, and find a task in every video whose title has `keep` in it."""
    folder = workspace.round(number)
    discover(folder, queries, sources, in_turn)
    kept = [video for video in folder.stage("discover").kept(Video) if keep in video.title]
    segments = [
        TaskSegment(
            video_id=video.id, index=0, t_start=0, t_end=1, instruction="do", app=video.app or "", annotator="test"
        )
        for video in kept
    ]
    folder.stage("mine").write("all", segments)
    remember(workspace, number, queries, sources)


def test_what_was_searched_is_remembered_and_steers_the_next_round(tmp_path: Path) -> None:
    workspace, settings = Workspace(tmp_path), Settings(workspace=tmp_path)
    site = Site()
    first = planned(workspace, 1, plan(1, gimp=10, krita=3), TAXONOMY, settings, ["ytdlp"])
    turn(workspace, 1, first.queries, [site], keep="how to use GIMP")

    rows = {row.text: row for row in workspace.round(1).stage("searched").kept(Searched)}
    assert rows["how to use GIMP"].kept == rows["how to use GIMP"].tasks == rows["how to use GIMP"].candidates == 20
    assert (rows["GIMP tutorial"].candidates, rows["GIMP tutorial"].kept) == (20, 0)
    assert memory_before(workspace, 1, TAXONOMY).tasks == {} and memory_before(workspace, 2, TAXONOMY).tasks == {
        "gimp": 20
    }

    second = planned(workspace, 2, plan(2, gimp=10, krita=3), TAXONOMY, settings, ["ytdlp"])
    assert second.queries[0].app == "krita", "it has no task yet"
    gimp = next(item for item in second.searches if item.query.app == "gimp")
    assert (gimp.query.text, gimp.query.offset, gimp.tasks) == ("how to use GIMP", 20, 20) and gimp.expected > 5
    krita = next(item for item in second.searches if item.query.app == "krita")
    assert krita.query.text == "how to use Krita", "what paid for one application is tried first for another"

    turn(workspace, 2, second.queries, [site], keep="how to use")
    third = planned(workspace, 3, plan(3, gimp=90), TAXONOMY, settings, ["ytdlp"])
    turn(workspace, 3, third.queries, [site], keep="how to use")
    fourth = planned(workspace, 4, plan(4, gimp=90), TAXONOMY, settings, ["ytdlp"])
    assert "how to use GIMP" not in {query.text for query in fourth.queries}, "30 results were all it had"
    seen = [video.id for number in (1, 2, 3) for video in workspace.round(number).stage("search").kept(Video)]
    assert len(seen) == len(set(seen)), "nothing was found twice"


def test_the_same_round_plans_the_same_searches_after_it_ran(tmp_path: Path) -> None:
    workspace, settings, site = Workspace(tmp_path), Settings(workspace=tmp_path), Site()
    before = planned(workspace, 1, plan(1, gimp=5), TAXONOMY, settings, ["ytdlp"])
    turn(workspace, 1, before.queries, [site], keep="GIMP")
    assert planned(workspace, 1, plan(1, gimp=5), TAXONOMY, settings, ["ytdlp"]) == before
    asked = len(site.asked_for)
    discover(workspace.round(1), before.queries, [site], in_turn)
    remember(workspace, 1, before.queries, [site])
    assert len(site.asked_for) == asked and len(workspace.round(1).stage("searched").kept(Searched)) == len(
        before.queries
    )


def test_a_search_that_failed_is_not_remembered_as_one_that_found_nothing(tmp_path: Path) -> None:
    workspace, settings = Workspace(tmp_path), Settings(workspace=tmp_path)
    first = planned(workspace, 1, plan(1, gimp=10), TAXONOMY, settings, ["ytdlp"])
    turn(workspace, 1, first.queries, [Site(broken="tutorial")], keep="GIMP")
    assert "GIMP tutorial" not in {row.text for row in workspace.round(1).stage("searched").kept(Searched)}
    assert workspace.round(1).stage("search").dropped() == [], "nor counted as a rejection"
    again = planned(workspace, 2, plan(2, gimp=200), TAXONOMY, settings, ["ytdlp"])
    assert next(query.offset for query in again.queries if query.text == "GIMP tutorial") == 0


def test_each_site_is_remembered_by_itself(tmp_path: Path) -> None:
    workspace, settings = Workspace(tmp_path), Settings(workspace=tmp_path, search_languages=("zh",))
    good, poor = Site(name="youtube"), Site(name="bilibili", source="bilibili", size=5)
    names = ["youtube", "bilibili"]
    first = planned(workspace, 1, plan(1, gimp=30, krita=30), TAXONOMY, settings, names)
    assert {query.provider for query in first.queries} == set(names) and len(first.queries) == first.requests
    turn(workspace, 1, first.queries, [good, poor], keep="youtube")
    rows = workspace.round(1).stage("searched").kept(Searched)
    assert {(row.provider, row.candidates) for row in rows} == {("youtube", 20), ("bilibili", 5)}
    assert {row.kept for row in rows if row.provider == "bilibili"} == {0} and all(
        row.kept for row in rows if row.provider == "youtube"
    )
    second = planned(workspace, 2, plan(2, gimp=30, krita=30), TAXONOMY, settings, names)
    assert {query.provider for query in second.queries} == {"youtube"}, "what paid"


def test_a_site_that_speaks_other_languages_is_asked_last(tmp_path: Path) -> None:
    settings = Settings(workspace=tmp_path)
    found = planned(Workspace(tmp_path), 1, plan(1, gimp=1, krita=1), TAXONOMY, settings, ["bilibili", "youtube"])
    assert {query.provider for query in found.queries} == {"youtube"}
    many = planned(Workspace(tmp_path), 1, plan(1, gimp=99), TAXONOMY, settings, ["bilibili", "youtube"])
    assert {query.provider for query in many.queries} == {"youtube", "bilibili"}


def test_requests_and_languages_are_settings(tmp_path: Path) -> None:
    settings = Settings(workspace=tmp_path, search_languages=("en", "ko"), round_searches=3)
    found = planned(Workspace(tmp_path), 1, plan(1, gimp=9, krita=9, kate=9, okular=9), TAXONOMY, settings, ["ytdlp"])
    assert found.requests == 3 and {query.language for query in found.queries} == {"en", "ko"}
    assert found.waiting == ("okular",)
    wrong = Settings(workspace=tmp_path, search_languages=("tlh",))
    with pytest.raises(UnknownName, match="tlh"):
        planned(Workspace(tmp_path), 1, plan(1, gimp=9), TAXONOMY, wrong, ["ytdlp"])


def test_a_round_without_a_plan_searches_the_poorest_of_the_whole_taxonomy(tmp_path: Path) -> None:
    settings = Settings(workspace=tmp_path, round_videos=len(TAXONOMY.apps) - 1, round_searches=5000)
    wheel = Wheel(Workspace(tmp_path), settings, TAXONOMY, in_turn)
    rich = TaskSegment(video_id="v", index=0, t_start=0, t_end=1, instruction="i", app="gimp", annotator="a")
    wheel.workspace.round(1).stage("mine").write("v", [rich])
    found = searches(wheel, wheel.workspace.round(2), ["local", "ytdlp"])
    assert found.queries[0].text == "" and found.queries[0].provider == "local", "listings are taken whole"
    assert {query.app for query in found.queries} >= {"krita", "blender"} and "gimp" not in {
        q.app for q in found.queries
    }
    assert wanted(wheel, wheel.workspace.round(2), [Site()]) == [q for q in found.queries if q.provider == "ytdlp"]
    placed = Wheel(wheel.workspace, Settings(workspace=tmp_path, ytdlp_places=("https://x/list",)), TAXONOMY, in_turn)
    assert [query.text for query in searches(placed, wheel.workspace.round(2), ["lists"]).queries] == [""]


def test_the_coverage_report_counts_what_was_kept(tmp_path: Path) -> None:
    workspace, settings = Workspace(tmp_path), Settings(workspace=tmp_path)
    first = planned(workspace, 1, plan(1, gimp=10, krita=3), TAXONOMY, settings, ["ytdlp"])
    turn(workspace, 1, first.queries, [Site()], keep="GIMP")
    lines = {line["domain"]: line for line in survey(tmp_path, TAXONOMY, "domain")}
    creative, every = lines["creative-media"], lines["all"]
    assert (creative["reached"], creative["tasks"]) == (1, 40) and creative["searches"] == len(first.queries)
    assert every["applications"] == len(TAXONOMY.apps) and every["candidates"] == creative["candidates"] == 52
    assert len(survey(tmp_path, TAXONOMY, "subdomain")) == 37
    assert next(line["tasks"] for line in survey(tmp_path, TAXONOMY, "app") if line["app"] == "gimp") == 40
