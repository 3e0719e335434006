"""The conformance suite of the VideoSource port: folder, feed and yt-dlp."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from cuamaster.assets import samples_folder
from cuamaster.errors import CuamasterError
from cuamaster.ports import VideoSource
from cuamaster.records.video import Query
from tests.adapters.videos.sources import local, ytdlp

CLIP = samples_folder() / "pcmanfm-folders" / "tutorial.mp4"
VTT = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nClick File.\n"


@pytest.fixture(params=["folder", "feed", "ytdlp"])
def source(request: pytest.FixtureRequest, site: Any, tmp_path: Path) -> VideoSource:
    """Three videos about GIMP, with English captions."""
    folder = tmp_path / "folder" if request.param == "folder" else site.folder
    folder.mkdir(exist_ok=True)
    items = ""
    for number in range(3):
        name = f"gimp-lesson-{number}"
        shutil.copyfile(CLIP, folder / f"{name}.mp4")
        with (folder / f"{name}.mp4").open("ab") as file:
            file.write(
                bytes([0, 0, 0, 9]) + b"free" + bytes([number])
            )  # an MP4 box that players skip: no two are the same file
        (folder / f"{name}.en.vtt").write_text(VTT)
        (folder / f"{name}.html").write_text(
            f"<html><head><title>GIMP lesson {number}</title></head><video><source src='{name}.mp4' type='video/mp4'><track kind='subtitles' srclang='en' src='{name}.en.vtt'></video></html>"
        )
        media = (
            ""
            if request.param == "ytdlp"
            else f"<enclosure url='{site.url}/{name}.mp4' type='video/mp4'/><transcript url='{site.url}/{name}.en.vtt' type='text/vtt'/>"
        )
        items += f"<item><title>GIMP lesson {number}</title><link>{site.url}/{name}.html</link>{media}</item>"
    if request.param == "folder":
        return local(tmp_path, folder)
    (site.folder / "list.xml").write_text(f"<rss version='2.0'><channel><title>x</title>{items}</channel></rss>")
    if request.param == "feed":
        return local(tmp_path, f"{site.url}/list.xml")
    return ytdlp(tmp_path, f"{site.url}/list.xml")


def query(text: str = "GIMP", limit: int = 20) -> Query:
    return Query(text=text, app="gimp", provider="x", limit=limit)


def test_search_gives_described_videos_up_to_the_limit(source: VideoSource) -> None:
    found = list(source.search(query()))
    assert sorted(video.title.lower() for video in found) == [f"gimp lesson {n}" for n in range(3)]
    assert len({video.id for video in found}) == 3
    assert all(video.app == "gimp" and video.query == "GIMP" and video.url and video.source for video in found)
    assert [video.id for video in source.search(query())] == [video.id for video in found], "the same answer twice"
    assert len(list(source.search(query(limit=2)))) == 2
    assert list(source.search(query("Blender"))) == []


def test_fetch_brings_media_and_captions_whole_and_again(source: VideoSource, tmp_path: Path) -> None:
    video = next(iter(source.search(query())))
    media, captions, said = source.fetch(video, tmp_path / "out")
    assert (said.id, said.url) == (video.id, video.url)
    assert media.parent == tmp_path / "out" and media.read_bytes().startswith(CLIP.read_bytes())
    assert [path.suffix for path in captions] == [".vtt"] and "Click File." in captions[0].read_text()
    assert source.fetch(video, tmp_path / "out") == (media, captions, said)


def test_what_is_not_there_is_a_typed_error(source: VideoSource, tmp_path: Path) -> None:
    video = next(iter(source.search(query())))
    other = video.model_copy(update={"source_id": "gone", "url": video.url.replace("gimp-lesson", "gone")})
    with pytest.raises(CuamasterError):
        source.fetch(other, tmp_path / "out")
    assert [path for path in (tmp_path / "out").glob("*") if path.suffix == ".part"] == []
