"""yt-dlp against a video site on loopback and a search-key plugin: metadata, download, captions, lists, faults."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cuamaster.adapters.videos.ytdlp import YtdlpVideos, _fault
from cuamaster.assets import samples_folder
from cuamaster.errors import InvalidInput, MediaError, SourceUnavailable, UnknownName
from cuamaster.records.video import Query

PLUGINS = Path(__file__).resolve().parents[2] / "servers" / "plugins"
VTT = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nClick File.\n"


@pytest.fixture
def videos(site: Any) -> Any:
    """Three watch pages, a media file with English captions, and an RSS list of the pages."""
    shutil.copyfile(samples_folder() / "pcmanfm-folders" / "tutorial.mp4", site.folder / "clip.mp4")
    (site.folder / "clip.vtt").write_text(VTT)
    for number in range(3):
        tracks = '<track kind="subtitles" srclang="en" src="clip.vtt">' if number == 0 else ""
        (site.folder / f"watch{number}.html").write_text(
            f"<html><head><title>GIMP tutorial {number}</title></head><body><video><source src='clip.mp4' type='video/mp4'>{tracks}</video></body></html>"
        )
    items = "".join(
        f"<item><title>Video {n} about {app}</title><link>{site.url}/watch{n}.html</link></item>"
        for n, app in enumerate(("GIMP", "Krita", "GIMP"))
    )
    (site.folder / "account.xml").write_text(
        f"<rss version='2.0'><channel><title>Account</title>{items}</channel></rss>"
    )
    return site


def query(text: str, limit: int = 20) -> Query:
    return Query(text=text, app="gimp", provider="ytdlp", limit=limit)


def source(*places: str | Path, **options: Any) -> YtdlpVideos:
    return YtdlpVideos(places, search_keys=(), timeout=5.0, retries=0, **options)


def test_an_address_is_described_then_downloaded_with_captions(videos: Any, tmp_path: Path) -> None:
    found = list(source().search(query(f"{videos.url}/watch0.html")))
    assert (
        len(found) == 1
        and found[0].title.startswith("GIMP tutorial 0")
        and found[0].duration is None
        and found[0].app == "gimp"
    )
    media, captions = source().fetch(found[0], tmp_path / "out")
    assert media.read_bytes() == (videos.folder / "clip.mp4").read_bytes()
    assert [path.suffix for path in captions] == [".vtt"] and "Click File." in captions[0].read_text()
    assert json.loads(next((tmp_path / "out").glob("*.info.json")).read_text())["title"] == found[0].title
    shutil.rmtree(videos.folder)
    assert source().fetch(found[0], tmp_path / "out") == (media, captions), "a finished download is not fetched again"


def test_account_lists_are_filtered_by_the_query(videos: Any, tmp_path: Path) -> None:
    addresses = tmp_path / "urls.txt"
    addresses.write_text(f"# my list\n{videos.url}/account.xml\n\n")
    found = list(source(addresses).search(query("GIMP")))
    assert [video.title for video in found] == ["Video 0 about GIMP", "Video 2 about GIMP"]
    assert len(list(source(addresses).search(query("GIMP", limit=1)))) == 1
    with pytest.raises(UnknownName, match=r"nothing\.txt"):
        list(source(tmp_path / "nothing.txt").search(query("GIMP")))


def test_what_was_fetched_is_not_offered_again(videos: Any, tmp_path: Path) -> None:
    archive = tmp_path / "archive.txt"
    video = next(source(archive=archive).search(query(f"{videos.url}/watch1.html")))
    source(archive=archive).fetch(video, tmp_path / "out")
    assert list(source(archive=archive).search(query(f"{videos.url}/watch1.html"))) == []


def test_search_key_of_a_plugin(videos: Any) -> None:
    script = (
        "import sys\nfrom cuamaster.adapters.videos.ytdlp import YtdlpVideos\nfrom cuamaster.records.video import Query\n"
        "source = YtdlpVideos(search_keys=('loopsearch',), timeout=5.0)\n"
        "for v in source.search(Query(text='krita brushes', app='krita', provider='ytdlp', limit=2, offset=int(sys.argv[1]))): print(v.title, v.url, v.app, sep='|')\n"
    )
    env = {**os.environ, "PYTHONPATH": str(PLUGINS), "LOOPBACK_SITE": videos.url}
    for offset in (0, 1):  # a search goes on after the results that were seen
        done = subprocess.run(
            [sys.executable, "-c", script, str(offset)],
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        expected = [f"krita brushes number {n}|{videos.url}/watch{n}.html|krita" for n in range(offset, offset + 2)]
        assert done.stdout.splitlines() == expected


@pytest.mark.parametrize(
    ("status", "expected"), [(429, None), (412, None), (503, None), (404, "removed"), (403, "forbidden")]
)
def test_http_faults(videos: Any, status: int, expected: str | None) -> None:
    with pytest.raises((SourceUnavailable, MediaError)) as fault:
        list(source().search(query(f"{videos.url}/status/{status}")))
    assert getattr(fault.value, "reason", None) == expected


def test_nobody_there_is_transient_and_a_page_without_video_is_not(videos: Any) -> None:
    (videos.folder / "text.html").write_text("<html><title>words</title><p>no video</p></html>")
    with pytest.raises(MediaError) as fault:
        list(source().search(query(f"{videos.url}/text.html")))
    assert fault.value.reason == "unsupported"
    url = videos.url
    videos.close()
    with pytest.raises(SourceUnavailable):
        list(source().search(query(f"{url}/watch0.html")))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("[youtube] abc: Sign in to confirm you’re not a bot. Use --cookies", "bot-check"),
        ("[youtube] abc: Sign in to confirm your age. This video may be inappropriate for some users.", "age-gate"),
        ("The uploader has not made this video available in your country", "geo-blocked"),
        ("[youtube] abc: Private video. Sign in if you've been granted access", "private"),
        ("[youtube] abc: Video unavailable. This video has been removed by the uploader", "removed"),
        ("[youtube] abc: Join this channel to get access to members-only content", "login-required"),
        ("Something entirely new", "extractor-error"),
    ],
)
def test_sentences_of_sites_become_reasons(said: str, reason: str) -> None:
    fault = _fault("https://x", Exception(f"ERROR: {said}"))
    assert isinstance(fault, MediaError) and fault.reason == reason


def test_cookies_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="ytdlp_cookies"):
        YtdlpVideos(cookies=tmp_path / "none.txt")
