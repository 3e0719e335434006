"""Folders, recordings and feeds as sources, with their sidecars; bad input is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cuamaster.adapters.videos.local import LocalVideos
from cuamaster.adapters.videos.web import Web
from cuamaster.assets import samples_folder
from cuamaster.errors import InvalidInput, MediaError, SourceUnavailable, UnknownName
from cuamaster.records.video import Query
from tests.adapters.videos.sources import BEGIN, local, pace

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
    media, captions, _ = source.fetch(found[0], tmp_path)
    assert media.read_bytes() == (samples_folder() / "mousepad-notes" / "tutorial.mp4").read_bytes()
    assert [path.suffix for path in captions] == [".vtt"]
    other = next(source.search(query("PCManFM", "pcmanfm")))
    assert source.fetch(other, tmp_path).captions == ()


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
    assert [path.name.split(".", 1)[1] for path in source.fetch(crop, tmp_path / "out").captions] == [
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
    media, captions, _ = source.fetch(first, tmp_path / "out")
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
    source = local(tmp_path, f"{site.url}/atom.xml")
    good, gone, busy = source.all()
    assert good.upload_date == "2025-05-06"
    assert source.fetch(good, tmp_path / "out").media.read_bytes() == b"video"
    with pytest.raises(MediaError) as fault:
        source.fetch(gone, tmp_path / "out")
    assert fault.value.reason == "removed"
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


def test_a_feed_is_asked_once_and_its_site_left_alone_after_a_429(tmp_path: Path, site: Any) -> None:
    write(site.folder / "v.mp4", b"video")
    write(
        site.folder / "f.xml",
        "<rss><channel><item><guid>1</guid><title>GIMP</title><enclosure url='v.mp4' type='video/mp4'/></item></channel></rss>",
    )
    now = [BEGIN]
    source = local(tmp_path, f"{site.url}/f.xml", clock=lambda: now[0])
    (video,) = source.all()
    assert [item.id for item in source.search(query("GIMP"))] == [video.id] and site.requests == ["/f.xml"]
    site.statuses["/v.mp4"] = [(429, "60")]
    for _ in range(2):
        with pytest.raises(SourceUnavailable) as fault:
            source.fetch(video, tmp_path / "out")
        assert fault.value.until == BEGIN + 60
    assert site.requests == ["/f.xml", "/v.mp4"]
    now[0] += 61
    assert source.fetch(video, tmp_path / "out").media.read_bytes() == b"video"


def test_a_file_of_a_feed_that_breaks_off_goes_on_where_it_stopped(tmp_path: Path, site: Any) -> None:
    data = bytes(range(256)) * 40
    write(site.folder / "v.mp4", data)
    write(
        site.folder / "f.xml",
        "<rss><channel><item><guid>1</guid><title>GIMP</title><enclosure url='/broken/v.mp4' type='video/mp4'/></item></channel></rss>",
    )
    sizes = []
    for _ in range(2):
        source = local(tmp_path, f"{site.url}/f.xml")
        with pytest.raises(SourceUnavailable) as fault:
            source.fetch(source.all()[0], tmp_path / "out")
        assert fault.value.reason == "broke-off"
        sizes.append(next((tmp_path / "out").glob("*.part")).stat().st_size)
    assert sizes == [5120, 7680]
    source = local(tmp_path, f"{site.url}/f.xml")
    with pytest.raises(MediaError, match="3 times"):
        source.fetch(source.all()[0], tmp_path / "out")


PAGE = "<!DOCTYPE html>\n<html><head><title>x</title></head><body><rss-like></body></html>"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("page.xml", PAGE, "a web page, not a feed"),
        ("page.xml", "\n<html>\n", "a web page, not a feed"),
        ("cut.xml", "<rss><channel><item>", "line 1, field column"),
        ("svg.xml", "<svg/>", "not an RSS or Atom feed"),
        ("odd.xml", "<?xml version='1.0' encoding='utf-7'?><rss/>", "encoding"),
        ("empty.xml", "", "line 1"),
        ("deep.json", "[" * 100_000, "field"),
        ("number.json", '{"items": [' + "9" * 10_000 + "]}", "field"),
        ("latin.json", b'{"items": [{"id": "\xe9"}]}', "UTF-8"),
        ("list.json", '{"items": {"id": 1}}', "a list of items"),
    ],
)
def test_what_is_no_feed_is_named(tmp_path: Path, site: Any, name: str, text: str | bytes, words: str) -> None:
    write(site.folder / name, text)
    with pytest.raises(InvalidInput, match=words) as fault:
        local(tmp_path, f"{site.url}/{name}").all()
    assert name in str(fault.value)


def test_a_feed_that_never_ends_is_given_up(tmp_path: Path, site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write(site.folder / "feed.xml", "<item><guid>1</guid></item>" * 1000)
    with pytest.raises(InvalidInput, match="no end"):
        local(tmp_path, f"{site.url}/endless/feed.xml").all()
    ticks = iter(range(0, 10_000, 30))
    slow = LocalVideos([f"{site.url}/endless/feed.xml"], web=Web(pace(tmp_path), clock=lambda: next(ticks)))
    with pytest.raises(MediaError) as fault:
        slow.all()
    assert fault.value.reason == "too-slow"


def test_odd_entries_of_a_feed_do_no_harm(tmp_path: Path, site: Any) -> None:
    items = [
        {"id": "1", "title": "x" * 10_000, "attachments": 3, "authors": "me", "tags": "one"},
        {"id": "2", "title": "\u202egnp\u200b.exe", "date_published": "2999-01-01", "tags": [None, {"a": 1}, "ok"]},
        {"id": "\ud800", "title": "half \ud83d a pair\u0000", "date_published": "2024-99-99"},
        {"id": "4", "url": "http://[", "attachments": [{"url": "file:///etc/passwd", "mime_type": "video/mp4"}, {"url": "c.vtt", "mime_type": "text/vtt"}]},
        {"id": "5", "title": None, "attachments": [{"url": "v.mp4", "mime_type": "video/mp4", "duration_in_seconds": 1e400}]},
        {"id": "6", "attachments": [{"url": "v.mp4", "mime_type": "video/mp4", "duration_in_seconds": "12:00:00"}]},
    ]  # fmt: skip
    write(site.folder / "feed.json", json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items}))
    source = local(tmp_path, f"{site.url}/feed.json")
    found = source.all()
    assert [len(found[0].title), found[0].uploader, found[0].categories] == [1000, None, ("one",)]
    assert (found[1].title, found[1].upload_date, found[1].categories) == ("\u202egnp\u200b.exe", "2999-01-01", ("ok",))
    assert (found[2].title, found[2].source_id, found[2].upload_date) == ("half ? a pair", "?", None)
    assert [video.duration for video in found[3:]] == [None, None, 43200.0] and found[4].title == "5"
    for video in found:
        json.dumps(video.model_dump()).encode()
    with pytest.raises(MediaError) as fault:
        source.fetch(found[3], tmp_path / "out")
    assert fault.value.reason == "no-media-file", "a file of this machine is not for feeds from elsewhere"


def test_a_feed_in_an_old_encoding_is_read(tmp_path: Path) -> None:
    text = "<?xml version='1.0' encoding='windows-1251'?><rss><channel><item><guid>1</guid><title>Урок GIMP</title></item></channel></rss>"
    assert LocalVideos([write(tmp_path / "f.xml", text.encode("cp1251"))]).all()[0].title == "Урок GIMP"
