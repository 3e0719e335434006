"""What a round put off is brought by a later round once its site answers again: by one of them, once, and nothing is lost on the way."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from cuamaster.errors import MediaError, SourceUnavailable, UnknownName
from cuamaster.ports import Fetched, SeedingPorts
from cuamaster.records.video import Media, MediaInfo, Video
from cuamaster.settings import Settings
from cuamaster.stages import in_turn
from cuamaster.stages.fetching import fetch
from cuamaster.stages.recordings import videos_of
from cuamaster.stages.resuming import STAGE, put_off
from cuamaster.tables import RoundFolder, Workspace


class Site:
    """A source that serves every video but those that are `refused` or `broken`; a `stranger` knows none."""

    name = "site"

    def __init__(self, *refused: str, broken: str = "", stranger: bool = False) -> None:
        self.refused, self.broken, self.stranger, self.asked_for = set(refused), broken, stranger, list[str]()

    def fetch(self, video: Video, folder: Path) -> Fetched:
        self.asked_for.append(video.source_id)
        if self.stranger:
            raise UnknownName(video.url)
        if video.source_id in self.refused:
            raise SourceUnavailable("429", reason="rate-limited", site="site.org", until=1e12)
        if video.source_id == self.broken:
            raise MediaError("gone", reason="removed")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "v.mp4").write_text(video.source_id)
        return Fetched(folder / "v.mp4", (), video)


class Wheel:
    """A workspace in which rounds are fetched."""

    def __init__(self, tmp_path: Path) -> None:
        self.workspace, self.settings = Workspace(tmp_path), Settings(workspace=tmp_path)

    def chosen(self, number: int, *names: str) -> RoundFolder:
        """A round whose filters let these through."""
        folder = self.workspace.round(number)
        folder.stage("screen").write(
            "all", [Video(source="s", source_id=n, url=f"https://x/{n}", title=n) for n in names]
        )
        return folder

    def fetch(self, folder: RoundFolder, site: Site) -> set[str]:
        """Names of the round's files afterwards."""
        probed = MediaInfo(duration=60.0, fps=30, width=1280, height=720, has_audio=True)
        ports = SimpleNamespace(sources=[site], frames=SimpleNamespace(probe=lambda path: probed))
        fetch(folder, cast(SeedingPorts, ports), self.settings, in_turn)
        return {videos_of(folder)[media.video_id].source_id for media in folder.stage("fetch").kept(Media)}

    def late(self, folder: RoundFolder) -> set[str]:
        return {video.source_id for video in put_off(self.workspace, folder)}


def test_the_first_round_whose_site_answers_brings_it_and_no_other_does(tmp_path: Path) -> None:
    wheel = Wheel(tmp_path)
    one = wheel.chosen(1, "a", "b", "c")
    assert wheel.late(one) == set(), "not fetched yet: its own run does that"
    assert wheel.fetch(one, Site("b")) == {"a", "c"} and wheel.late(one) == {"b"}
    two = wheel.chosen(2, "d")
    assert wheel.fetch(two, Site("b")) == {"d"} and (wheel.late(one), wheel.late(two)) == ({"b"}, set())
    three, site = wheel.chosen(3, "e", "f"), Site("f")
    assert wheel.fetch(three, site) == {"b", "e"} and site.asked_for == ["e", "f", "b"]
    assert (wheel.late(one), wheel.late(two), wheel.late(three)) == (set(), set(), {"f"})
    assert [video.source_id for video in three.stage(STAGE).kept(Video)] == ["b"]
    again = Site()
    assert (wheel.fetch(one, again), wheel.fetch(two, again), again.asked_for) == ({"a", "c"}, {"d"}, [])
    assert wheel.fetch(three, again) == {"b", "e", "f"} and again.asked_for == ["f"]


def test_its_own_round_may_bring_it_first(tmp_path: Path) -> None:
    wheel = Wheel(tmp_path)
    one, two, site = wheel.chosen(1, "a"), wheel.chosen(2, "a", "b"), Site()
    wheel.fetch(one, Site("a"))
    assert wheel.fetch(one, site) == {"a"}
    assert wheel.fetch(two, site) == {"a", "b"}, "found again, it is the round's own"
    assert two.stage(STAGE).items() == 0


def test_a_round_that_cannot_have_it_leaves_it_and_one_that_finds_it_gone_drops_it(tmp_path: Path) -> None:
    wheel = Wheel(tmp_path)
    one = wheel.chosen(1, "a")
    wheel.fetch(one, Site("a"))
    two, three, four = (wheel.chosen(number, *"xyz"[number - 2]) for number in (2, 3, 4))
    assert wheel.fetch(two, Site(stranger=True)) == set() and wheel.late(one) == {"a"}
    assert [item.item_id for item in two.stage("fetch").dropped()] == [
        video.id for video in two.stage("screen").kept(Video)
    ]
    assert wheel.fetch(three, Site(broken="a")) == {"y"} and wheel.late(one) == set()
    assert [item.reason for item in three.stage("fetch").dropped()] == ["removed"]
    site = Site()
    assert wheel.fetch(four, site) == {"z"} and site.asked_for == ["z"]
