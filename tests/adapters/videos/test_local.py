"""Folders, recordings and feeds as sources, with their sidecars; bad input is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cuamaster.adapters.videos.local import LocalVideos
from cuamaster.assets import samples_folder
from cuamaster.errors import InvalidInput, MediaError, SourceUnavailable, UnknownName
from cuamaster.records.video import Query

VTT = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nClick File.\n"


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def query(text: str, app: str = "gimp", limit: int = 20) -> Query:
    return Query(text=text, app=app, provider="local", limit=limit)


def test_the_bundled_tutorials_are_found_by_application(tmp_path: Path) -> None:
    source = LocalVideos([samples_folder()])
    found = list(source.search(query("Mousepad", "mousepad")))
    assert [video.source_id for video in found] == ["mousepad-notes"]
    assert found[0].app == "mousepad" and found[0].upload_date == "2026-11-30" and found[0].query == "Mousepad"
    media, captions = source.fetch(found[0], tmp_path)
    assert media.read_bytes() == (samples_folder() / "mousepad-notes" / "tutorial.mp4").read_bytes()
    assert [path.suffix for path in captions] == [".vtt"]
    other = next(source.search(query("PCManFM", "pcmanfm")))
    assert source.fetch(other, tmp_path)[1] == ()


def test_sidecars_and_names(tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    write(folder / "gimp_crop-image.webm", b"one")
    write(folder / "gimp_crop-image.txt", "How to crop.")
    write(folder / "gimp_crop-image.de.vtt", VTT)
    write(folder / "gimp_crop-image.en.srt", "1\n00:00:01,000 --> 00:00:02,000\nClick.\n")
    write(folder / "gimp_crop-image.json3", "{}")
    write(folder / "deep" / "abc.mp4", b"two")
    info = {
        "id": "abc",
        "extractor_key": "Youtube",
        "title": "Krita layers",
        "webpage_url": "https://www.youtube.com/watch?v=abc",
        "duration": 61,
        "upload_date": "20240203",
        "channel": "C",
        "license": "CC BY",
    }
    write(folder / "deep" / "abc.info.json", json.dumps(info))
    source = LocalVideos([folder])
    by_title = {video.title: video for video in source.all()}
    crop, layers = by_title["gimp crop image"], by_title["Krita layers"]
    assert (crop.source, crop.description, crop.duration, crop.app) == ("local", "How to crop.", None, None)
    assert (layers.source, layers.uploader, layers.upload_date, layers.license) == (
        "youtube",
        "C",
        "2024-02-03",
        "CC BY",
    )
    assert [path.name.split(".", 1)[1] for path in source.fetch(crop, tmp_path / "out")[1]] == [
        "json3",
        "en.srt",
        "de.vtt",
    ]
    assert [video.title for video in source.search(query("GIMP"))] == ["gimp crop image"]
    assert len(list(source.search(query("", "")))) == 2
    assert len(list(source.search(query("", "", limit=1)))) == 1


def test_the_same_recording_has_the_same_identity_anywhere(tmp_path: Path) -> None:
    write(tmp_path / "a" / "clip.mp4", b"same bytes")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    one, two = LocalVideos([tmp_path / "a"]).all(), LocalVideos([tmp_path / "b"]).all()
    assert one[0].id == two[0].id


def test_bad_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="nowhere"):
        LocalVideos([tmp_path / "nowhere"]).all()
    write(tmp_path / "x.mp4", b"")
    empty = LocalVideos([tmp_path / "x.mp4"])
    with pytest.raises(MediaError) as fault:
        empty.fetch(empty.all()[0], tmp_path / "out")
    assert fault.value.reason == "empty-file"
    write(tmp_path / "x.info.json", '{"title": \n oops}')
    with pytest.raises(InvalidInput, match=r"x\.info\.json, line 2"):
        empty.fetch(empty.all()[0], tmp_path / "out")
    with pytest.raises(InvalidInput, match=r"list\.xml, line 1"):
        LocalVideos([write(tmp_path / "list.xml", "<rss><channel>")]).all()


RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="p"><channel><title>T</title>
<item><title>GIMP &amp; layers</title><guid>g1</guid><link>page1.html</link><pubDate>Tue, 03 Feb 2026 10:00:00 +0000</pubDate>
<description>&lt;p&gt;About layers&lt;/p&gt;</description><itunes:duration>1:02</itunes:duration><category>Education</category>
<enclosure url="clip.mp4" type="video/mp4" length="3"/><podcast:transcript url="clip.en.vtt" type="text/vtt"/></item>
<item><title>Only a page</title><link>page2.html</link></item></channel></rss>"""


def test_rss_file_with_media_beside_it(tmp_path: Path) -> None:
    feed = write(tmp_path / "feed" / "videos.rss", RSS)
    write(tmp_path / "feed" / "clip.mp4", b"clip")
    write(tmp_path / "feed" / "clip.en.vtt", VTT)
    source = LocalVideos([feed])
    first, second = source.all()
    assert (first.title, first.duration, first.upload_date, first.categories) == (
        "GIMP & layers",
        62.0,
        "2026-02-03",
        ("Education",),
    )
    assert first.description.strip() == "About layers"
    media, captions = source.fetch(first, tmp_path / "out")
    assert media.read_bytes() == b"clip" and captions[0].read_text() == VTT and captions[0].name.endswith(".en.vtt")
    with pytest.raises(MediaError) as fault:
        source.fetch(second, tmp_path / "out")
    assert fault.value.reason == "no-media-file"


def test_feeds_over_http_and_their_failures(tmp_path: Path, site: Any) -> None:
    atom = f"""<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>tag:1</id><title>Krita tips</title><updated>2025-05-06T00:00:00Z</updated>
    <link rel="alternate" href="p.html"/><link rel="enclosure" type="video/mp4" href="v.mp4"/></entry>
    <entry><id>tag:2</id><title>Gone</title><link rel="enclosure" type="video/mp4" href="{site.url}/missing.mp4"/></entry>
    <entry><id>tag:3</id><title>Busy</title><link rel="enclosure" type="video/mp4" href="{site.url}/status/503"/></entry></feed>"""
    write(site.folder / "atom.xml", atom)
    write(site.folder / "v.mp4", b"video")
    source = LocalVideos([f"{site.url}/atom.xml"])
    good, gone, busy = source.all()
    assert good.upload_date == "2025-05-06"
    assert source.fetch(good, tmp_path / "out")[0].read_bytes() == b"video"
    with pytest.raises(MediaError) as fault:
        source.fetch(gone, tmp_path / "out")
    assert fault.value.reason == "gone"
    with pytest.raises(SourceUnavailable, match="503"):
        source.fetch(busy, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").glob("*.part")] == []


def test_json_feed(tmp_path: Path) -> None:
    items = [
        {
            "id": "1",
            "title": "GIMP",
            "content_html": "<b>x</b>",
            "authors": [{"name": "A"}],
            "date_published": "2024-01-02T00:00:00Z",
            "attachments": [{"url": "m.mp4", "mime_type": "video/mp4", "duration_in_seconds": 9}],
        }
    ]
    feed = write(tmp_path / "feed.json", json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items}))
    video = LocalVideos([tmp_path]).all()[0]
    assert (video.uploader, video.duration, video.upload_date) == ("A", 9.0, "2024-01-02")
    write(feed, json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": [3]}))
    with pytest.raises(InvalidInput, match=r"items\.0"):
        LocalVideos([feed]).all()


def test_entities_in_feeds_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss><channel><item><title>&a;</title><guid>1</guid></item></channel></rss>'
    with pytest.raises(InvalidInput, match="refused"):
        LocalVideos([write(tmp_path / "bomb.xml", bomb)]).all()
