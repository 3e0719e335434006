"""A round whose site answers 429 goes on without it, and the next run of the same round brings what was put off."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cuamaster.adapters.annotators.rules import RulesAnnotator
from cuamaster.adapters.embedders.e5 import E5Embedder
from cuamaster.adapters.frames.ffmpeg import FfmpegFrames
from cuamaster.assets import samples_folder
from cuamaster.ports import SeedingPorts, VideoSource
from cuamaster.records.video import Media, Query, Video
from cuamaster.seeding.taxonomy import load
from cuamaster.settings import Settings
from cuamaster.stages import summarize
from cuamaster.stages.fetching import fetch
from cuamaster.stages.recordings import videos_of
from cuamaster.stages.running import Patience, in_turn
from cuamaster.stages.seeding import discover, screen
from cuamaster.tables import RoundFolder, Workspace
from tests.adapters.conftest import _load
from tests.adapters.videos.sources import BEGIN, local

pytestmark = pytest.mark.slow
CLIP = samples_folder() / "mousepad-notes"
TAXONOMY = load()
EVERYTHING = Query(text="", app="", provider="local", limit=100)


@pytest.fixture
def site(tmp_path: Path) -> Any:
    """A feed of one video with a license, on a site of its own."""
    (tmp_path / "site").mkdir()
    server = _load("site_server").Site(tmp_path / "site")
    shutil.copyfile(CLIP / "tutorial.mp4", server.folder / "clip.mp4")
    shutil.copyfile(CLIP / "tutorial.vtt", server.folder / "clip.vtt")
    (server.folder / "feed.xml").write_text(
        "<rss><channel><item><guid>1</guid><title>Mousepad tutorial: how to write notes</title><license>CC BY 4.0</license><author>Ann</author>"
        "<enclosure url='clip.mp4' type='video/mp4'/><transcript url='clip.vtt' type='text/vtt'/></item></channel></rss>"
    )
    yield server
    server.close()


class Run:
    """The first stages of a round, each call a new process: what it knows of sites lies on disk."""

    def __init__(self, tmp_path: Path, *places: str) -> None:
        self.now, self.waits = BEGIN, list[float]()
        self.folder: RoundFolder = Workspace(tmp_path / "w").round(1)
        self.settings = Settings(workspace=tmp_path / "w")
        self.tmp_path, self.places = tmp_path, places

    def __call__(self, patience: float = 0.0) -> list[Media]:
        sources: list[VideoSource] = [local(self.tmp_path, place, clock=lambda: self.now) for place in self.places]
        ports = cast("SeedingPorts", SimpleNamespace(sources=sources, frames=FfmpegFrames()))
        wait = Patience(patience, lambda: self.now, self.wait)
        discover(self.folder, [EVERYTHING], sources, in_turn, 1, wait)
        screen(self.folder, TAXONOMY, RulesAnnotator(), E5Embedder(), self.settings, in_turn)
        fetch(self.folder, ports, self.settings, in_turn, wait)
        return self.folder.stage("fetch").kept(Media)

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    @property
    def dropped(self) -> list[str]:
        return [item.reason for name in self.folder.stages() for item in self.folder.stage(name).dropped()]


def test_a_refused_video_is_put_off_told_and_brought_by_the_next_run(site: Any, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(CLIP, folder)
    run = Run(tmp_path, str(folder), f"{site.url}/feed.xml")
    site.statuses["/clip.mp4"] = [(429, "3600")]
    (own,) = run()
    assert run.dropped == [] and "videos put off" in {row.what for row in summarize(Workspace(tmp_path / "w"), 1)}
    asked = len(site.requests)
    assert run() == [own] and len(site.requests) == asked, "left alone, also by the next run"
    run.now += 3601
    both = run()
    assert len(both) == 2 and run.dropped == []
    assert "videos put off" not in {row.what for row in summarize(Workspace(tmp_path / "w"), 1)}
    (fed,) = [media for media in both if media != own]
    assert (fed.license, fed.uploader, len(fed.captions)) == ("CC BY 4.0", "Ann", 1)
    asked = len(site.requests)
    assert run() == both and len(site.requests) == asked, "nothing is done twice"


def test_a_listing_that_is_refused_is_put_off_too(site: Any, tmp_path: Path) -> None:
    run = Run(tmp_path, f"{site.url}/feed.xml")
    site.statuses["/feed.xml"] = [(429, "3600")]
    assert run() == [] and run.folder.stage("search").kept(Video) == [] and run.dropped == []
    run.now += 3601
    assert len(run()) == 1


def test_a_short_rest_is_waited_for(site: Any, tmp_path: Path) -> None:
    run = Run(tmp_path, f"{site.url}/feed.xml")
    site.statuses["/clip.mp4"] = [(429, "30"), (503, None)]
    assert len(run(patience=600)) == 1 and run.waits[0] == 30 and len(run.waits) == 2


def test_what_the_page_says_is_known_of_the_video(site: Any, tmp_path: Path) -> None:
    run = Run(tmp_path, f"{site.url}/feed.xml")
    (media,) = run()
    stage = run.folder.stage("fetch")
    stage.clear()
    stage.write("x", [media.model_copy(update={"upload_date": "2024-02-03", "license": "MIT"})])
    (video,) = videos_of(run.folder).values()
    assert (video.license, video.uploader, video.upload_date) == ("CC BY 4.0", "Ann", "2024-02-03")
