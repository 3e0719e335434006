"""Borderline titles are asked about, nearest first and within the budget; what was said decides, and what was not asked stays the scorer's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cuamaster.adapters.annotators.rules import RulesAnnotator
from cuamaster.adapters.embedders.e5 import E5Embedder
from cuamaster.records.video import Opinion, Reading, Video
from cuamaster.seeding.screen import READ_AGAIN, ScreenRules, in_title, judge, masked, undecided
from cuamaster.seeding.second_reader import text_of
from cuamaster.seeding.taxonomy import load
from cuamaster.stages import in_turn, sifting
from cuamaster.stages.asking import BATCH, ask, read_again
from cuamaster.tables import RoundFolder, Workspace

RULES = ScreenRules()
TITLES = (
    "GIMP {}",
    "GIMP {} explained",
    "my {} with GIMP",
    "GIMP {} review",
    "{} in GIMP!!",
    "GIMP {} 2.10",
    "why {}, GIMP?",
)
THINGS = (
    "crop",
    "layers",
    "masks",
    "brushes",
    "curves",
    "paths",
    "logo",
    "poster",
    "colours",
    "text",
    "shadows",
    "filters",
    "fonts",
    "banner",
    "levels",
    "frames",
    "icons",
    "gradients",
    "selection",
    "export",
)


class Teller(RulesAnnotator):
    """Says that every other video is a review, and remembers what it was asked."""

    name = "teller"

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Video] = []

    def tell(self, videos: Sequence[Video]) -> list[Opinion]:
        first = len(self.asked)
        self.asked += videos
        return [
            Opinion(
                video_id=video.id,
                tutorial=bool(index % 2),
                kind="" if index % 2 else "<b>",
                reason="heard",
                annotator=self.name,
            )
            for index, video in enumerate(videos, first)
        ]


@pytest.fixture
def folder(tmp_path: Path) -> RoundFolder:
    folder = Workspace(tmp_path).round(1)
    videos = [
        Video(
            source="s",
            source_id=f"{n}-{thing}",
            url=f"https://x/{n}/{thing}",
            title=title.format(thing),
            query="GIMP",
            app="gimp",
        )
        for n, title in enumerate(TITLES)
        for thing in THINGS
    ]
    folder.stage("search").write("part", videos)
    folder.stage("search").close("found")
    sifting.sketch_all(folder, in_turn)
    sifting.drop_duplicates(folder, in_turn)
    return folder


def screened(folder: RoundFolder, told: dict[str, Opinion]) -> tuple[set[str], dict[str, Any]]:
    sifting.screen_all(folder, load(), RULES, in_turn, told=told)
    stage = folder.stage("screen")
    return {item.id for item in stage.kept(Video)}, {item.item_id: item for item in stage.dropped()}


def test_the_nearest_are_asked_once_and_their_answers_decide(folder: RoundFolder) -> None:
    taxonomy, most = load(), BATCH + 5
    videos = folder.stage("discover").kept(Video)
    doubts = sorted(undecided(videos, taxonomy, RULES), key=lambda item: (item[0], item[1].id))
    assert len(doubts) > most
    plain, _ = screened(folder, {})
    teller = Teller()
    told = ask(folder, taxonomy, RULES, teller, in_turn, most=most)
    assert [video.id for video in teller.asked] == [video.id for _, video in doubts[:most]]
    kept, dropped = screened(folder, told)
    assert {key for key, opinion in told.items() if opinion.tutorial} <= kept
    refused = {key for key, opinion in told.items() if not opinion.tutorial}
    assert refused <= set(dropped)
    assert {dropped[key].reason for key in refused} == {"noise-other"} and "teller: heard" in dropped[
        min(refused)
    ].detail
    rest = {video.id for video in videos} - set(told)
    assert kept & rest == plain & rest
    again = Teller()
    assert ask(folder, taxonomy, RULES, again, in_turn, most=most) == told and not again.asked


def test_what_a_person_pointed_to_and_what_metadata_refuses_is_not_asked_about() -> None:
    taxonomy = load()
    given = {"source": "s", "url": "https://x", "title": "GIMP layers", "app": "gimp"}
    pointed = Video(**given, source_id="a")
    short = Video(**given, source_id="b", query="GIMP", duration=1.0)
    asked = Video(**given, source_id="c", query="GIMP")
    assert {video.source_id for _, video in undecided([pointed, short, asked], taxonomy, RULES)} <= {"c"}
    no = Opinion(video_id=pointed.id, tutorial=False, kind="review", reason="", annotator="m")
    verdicts = judge(
        [pointed, short], taxonomy, RULES, told={pointed.id: no, short.id: no.model_copy(update={"tutorial": True})}
    )
    assert [verdict.reason for verdict in verdicts] == ["", "too-short"]


class Counting(E5Embedder):
    """Remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.seen += texts
        return super().embed(texts)


def test_the_nearest_are_read_again_once_and_that_stands_in_for_the_score(folder: RoundFolder) -> None:
    taxonomy, most = load(), 12
    videos = folder.stage("discover").kept(Video)
    doubts = sorted(undecided(videos, taxonomy, RULES, within=READ_AGAIN), key=lambda item: (item[0], item[1].id))
    assert len(doubts) > most
    embedder = Counting()
    read = read_again(folder, taxonomy, RULES, embedder, in_turn, most=most)
    seen = [text_of(*masked(video.title, video.description, in_title(video, taxonomy))) for _, video in doubts[:most]]
    assert embedder.seen == seen and len(read) == most
    again = Counting()
    assert read_again(folder, taxonomy, RULES, again, in_turn, most=most) == read and not again.seen
    verdicts = dict(zip((video.id for video in videos), judge(videos, taxonomy, RULES, read=read), strict=True))
    assert all((read[key].likely >= RULES.min_likely) == (not verdicts[key].reason) for key in read)
    plain = dict(zip((video.id for video in videos), judge(videos, taxonomy, RULES), strict=True))
    assert all(plain[key] == verdicts[key] for key in set(plain) - set(read))


def test_a_second_reading_gives_the_reason_and_closes_the_case(folder: RoundFolder) -> None:
    taxonomy, videos = load(), folder.stage("discover").kept(Video)
    _, video = min(undecided(videos, taxonomy, RULES), key=lambda item: item[0])
    refused = {video.id: Reading(video_id=video.id, likely=0.07, kind="review")}
    (verdict,) = judge([video], taxonomy, RULES, read=refused)
    assert verdict.reason == "noise-review" and "0.07 to be a tutorial" in verdict.detail
    assert undecided([video], taxonomy, RULES, read=refused) == []
