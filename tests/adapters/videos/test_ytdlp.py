"""yt-dlp against a video site on loopback: metadata, download, captions, lists, refusals, broken downloads, bad metadata."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cuamaster.adapters.videos.lists import addresses
from cuamaster.adapters.videos.ytdlp import refuse
from cuamaster.assets import samples_folder
from cuamaster.errors import InvalidInput, MediaError, SourceUnavailable, UnknownName
from cuamaster.records.video import Query
from tests.adapters.videos.sources import BEGIN, ytdlp

PLUGINS = Path(__file__).resolve().parents[2] / "servers" / "plugins"
VTT = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nClick File.\n"


@pytest.fixture
def videos(site: Any) -> Any:
    """Three watch pages, a media file with English captions, and an RSS list of the pages."""
    shutil.copyfile(samples_folder() / "pcmanfm-folders" / "tutorial.mp4", site.folder / "clip.mp4")
    (site.folder / "clip.vtt").write_text(VTT)
    for number in range(3):
        tracks = '<track kind="subtitles" srclang="en" src="clip.vtt">' if number == 0 else ""
        page(site, f"watch{number}", "clip.mp4", f"GIMP tutorial {number}", tracks)
    items = "".join(
        f"<item><title>Video {n} about {app}</title><link>{site.url}/watch{n}.html</link></item>"
        for n, app in enumerate(("GIMP", "Krita", "GIMP"))
    )
    (site.folder / "account.xml").write_text(
        f"<rss version='2.0'><channel><title>Account</title>{items}</channel></rss>"
    )
    return site


def page(site: Any, name: str, media: str, title: str = "GIMP", tracks: str = "") -> str:
    (site.folder / f"{name}.html").write_text(
        f"<html><head><title>{title}</title></head><body><video><source src='{media}' type='video/mp4'>{tracks}</video></body></html>"
    )
    return f"{site.url}/{name}.html"


def query(text: str = "", limit: int = 20, offset: int = 0) -> Query:
    return Query(text=text, app="gimp", provider="lists", limit=limit, offset=offset)


def test_an_address_is_described_then_downloaded_with_captions(videos: Any, tmp_path: Path) -> None:
    (found,) = ytdlp(tmp_path, f"{videos.url}/watch0.html").search(query())
    assert found.title.startswith("GIMP tutorial 0") and found.duration is None and found.app == "gimp"
    media, captions, said = ytdlp(tmp_path).fetch(found, tmp_path / "out")
    assert media.read_bytes() == (videos.folder / "clip.mp4").read_bytes() and said.id == found.id
    assert [path.name.split(".", 1)[1] for path in captions] == ["en.vtt"] and "Click File." in captions[0].read_text()
    assert json.loads(next((tmp_path / "out").glob("*.info.json")).read_text())["title"] == found.title
    shutil.rmtree(videos.folder)
    assert ytdlp(tmp_path).fetch(found, tmp_path / "out") == (media, captions, said), "not fetched again"


def test_lists_are_filtered_by_the_query_and_asked_once(videos: Any, tmp_path: Path) -> None:
    source = ytdlp(tmp_path, f"{videos.url}/account.xml")
    assert [video.title for video in source.search(query("GIMP"))] == ["Video 0 about GIMP", "Video 2 about GIMP"]
    assert len(list(source.search(query("GIMP", limit=1)))) == 1
    assert [video.title for video in source.search(query("Krita"))] == ["Video 1 about Krita"]
    assert videos.requests == ["/account.xml"]


def test_places_are_addresses_or_files_of_them(tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("\ufeff# mine\nhttps://a.org/x\n\n https://b.org/y \nhttps://a.org/x\n")
    assert addresses(["https://c.org", str(tmp_path / "urls.txt")]) == ["https://c.org", "https://a.org/x", "https://b.org/y"]  # fmt: skip
    with pytest.raises(UnknownName, match=r"nothing\.txt"):
        addresses([str(tmp_path / "nothing.txt")])
    (tmp_path / "urls.txt").write_text("https://a.org\nsome words\n")
    with pytest.raises(InvalidInput, match=r"urls\.txt, line 2, field address"):
        addresses([str(tmp_path / "urls.txt")])
    (tmp_path / "urls.txt").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(InvalidInput, match="UTF-8"):
        addresses([str(tmp_path / "urls.txt")])


@pytest.mark.slow
def test_what_was_fetched_is_not_offered_again(videos: Any, tmp_path: Path) -> None:
    archive = tmp_path / "archive.txt"
    (video,) = ytdlp(tmp_path, f"{videos.url}/watch1.html").search(query())
    ytdlp(tmp_path, archive=archive).fetch(video, tmp_path / "out")
    assert list(ytdlp(tmp_path, f"{videos.url}/watch1.html", archive=archive).search(query())) == []
    assert archive.read_text() == f"{video.source} {video.source_id}\n"


@pytest.mark.slow
def test_search_keys_and_lists_in_lists_of_plugins(videos: Any, tmp_path: Path) -> None:
    """In a process of its own, for plugins are found when yt-dlp is loaded."""
    folder = videos.folder / "list"
    folder.mkdir()
    watch, lists = f"{videos.url}/watch{{}}.html", f"{videos.url}/list/{{}}.json"
    entries = {
        "a": [{"url": watch.format(0), "title": "one", "duration": None}, {"url": lists.format("b")}, {"url": lists.format("a")}],
        "b": [{"url": lists.format("a") + "/"}, {"url": watch.format(0)}, {"url": watch.format(1), "title": "x" * 10_000}, {"url": lists.format("gone")}],
        "odd": [{"url": "javascript:alert(1)"}, {"url": watch.format(2), "title": "\u202egnp\u200b.exe", "live_status": "is_upcoming", "upload_date": "29990101"},
                {"url": watch.format(1), "duration": 43200, "view_count": 2**80, "title": None}, {}],
    }  # fmt: skip
    for name, items in entries.items():
        (folder / f"{name}.json").write_text(json.dumps(items))
    script = (
        "import sys, json\nfrom pathlib import Path\nfrom cuamaster.records.video import Query\nfrom tests.adapters.videos.sources import ytdlp\n"
        "told = {}\n"
        "for offset in (0, 1): told[str(offset)] = [[v.title, v.url, v.app, v.source] for v in ytdlp(Path(sys.argv[1]), search_key='loopsearch').search(Query(text='krita brushes', app='krita', provider='loop', limit=2, offset=offset))]\n"
        "for name in sys.argv[3:]: told[name] = [v.model_dump() for v in ytdlp(Path(sys.argv[1]), f'{sys.argv[2]}/list/{name}.json').search(Query(text='', app='', provider='lists'))]\n"
        "print(json.dumps(told))"
    )
    env = {**os.environ, "LOOPBACK_SITE": videos.url}
    env["PYTHONPATH"] = os.pathsep.join([str(PLUGINS), str(Path(__file__).parents[3]), env.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), videos.url, "a", "odd"], env=env, capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    for offset in (0, 1):  # a search goes on after the results that were seen
        assert told[str(offset)] == [
            [f"krita brushes number {n}", watch.format(n), "krita", "loopbacksearch"] for n in range(offset, offset + 2)
        ]
    assert [item["url"] for item in told["a"]] == [watch.format(0), watch.format(1)], "each once, and a cycle ends"
    assert len(told["a"][1]["title"]) == 1000
    upcoming, long = told["odd"]
    assert (upcoming["availability"], upcoming["upload_date"]) == ("upcoming", "2999-01-01")
    assert (long["duration"], long["view_count"], long["title"]) == (43200, None, long["source_id"])


def test_a_site_that_answers_429_is_left_alone_and_the_round_goes_on(videos: Any, tmp_path: Path) -> None:
    now = [BEGIN]
    (video,) = ytdlp(tmp_path, f"{videos.url}/watch0.html").search(query())
    videos.statuses["/watch0.html"] = [(429, "600")]
    with pytest.raises(SourceUnavailable) as fault:
        ytdlp(tmp_path, clock=lambda: now[0]).fetch(video, tmp_path / "out")
    assert (fault.value.until, fault.value.reason) == (BEGIN + 600, "rate-limited") and fault.value.site in videos.url
    asked = len(videos.requests)
    for address in ("watch1", "account"):
        with pytest.raises(SourceUnavailable, match="is left alone until"):
            list(ytdlp(tmp_path, f"{videos.url}/{address}.html", clock=lambda: now[0]).search(query()))
    assert len(videos.requests) == asked, "not a single request"
    now[0] += 601
    assert ytdlp(tmp_path, clock=lambda: now[0]).fetch(video, tmp_path / "out").media.is_file()


@pytest.mark.parametrize(
    ("status", "reason", "transient"),
    [(412, "blocked", True), (503, "server-error", True), (404, "removed", False), (403, "forbidden", False), (451, "geo-blocked", False), (401, "login-required", False)],
)  # fmt: skip
def test_http_faults(videos: Any, tmp_path: Path, status: int, reason: str, transient: bool) -> None:
    with pytest.raises(SourceUnavailable if transient else MediaError) as fault:
        list(ytdlp(tmp_path, f"{videos.url}/status/{status}").search(query()))
    assert fault.value.reason == reason


@pytest.mark.slow
def test_nobody_there_is_transient_and_a_page_without_video_is_not(videos: Any, tmp_path: Path) -> None:
    (videos.folder / "text.html").write_text("<html><title>words</title><p>no video</p></html>")
    with pytest.raises(MediaError) as fault:
        list(ytdlp(tmp_path, f"{videos.url}/text.html").search(query()))
    assert fault.value.reason == "unsupported"
    url = videos.url
    videos.close()
    with pytest.raises(SourceUnavailable) as later:
        list(ytdlp(tmp_path, f"{url}/watch0.html").search(query()))
    assert later.value.reason == "unreachable" and later.value.until == BEGIN + 60


@pytest.mark.slow
def test_a_download_that_broke_off_goes_on_where_it_stopped(videos: Any, tmp_path: Path) -> None:
    (video,) = ytdlp(tmp_path, page(videos, "torn", "broken/clip.mp4")).search(query())
    size = (videos.folder / "clip.mp4").stat().st_size
    kept = []
    for _ in range(2):
        with pytest.raises(SourceUnavailable) as fault:
            ytdlp(tmp_path).fetch(video, tmp_path / "out")
        assert fault.value.reason == "broke-off" and fault.value.site is None
        kept.append(next((tmp_path / "out").glob("*.part")).stat().st_size)
    assert 0 < kept[0] < kept[1] < size
    page(videos, "torn", "clip.mp4")
    media = ytdlp(tmp_path).fetch(video, tmp_path / "out").media
    assert media.read_bytes() == (videos.folder / "clip.mp4").read_bytes()


@pytest.mark.slow
def test_captions_that_cannot_be_had_do_not_cost_the_video(videos: Any, tmp_path: Path) -> None:
    tracks = '<track kind="subtitles" srclang="en" src="gone.vtt">'
    (video,) = ytdlp(tmp_path, page(videos, "mute", "clip.mp4", tracks=tracks)).search(query())
    assert ytdlp(tmp_path).fetch(video, tmp_path / "out").captions == ()
    (limited,) = ytdlp(tmp_path, page(videos, "busy", "clip.mp4", tracks=tracks.replace("gone", "clip"))).search(query())  # fmt: skip
    videos.statuses["/clip.vtt"] = [(429, None)]
    with pytest.raises(SourceUnavailable, match="429"):
        ytdlp(tmp_path).fetch(limited, tmp_path / "out")
    later = ytdlp(tmp_path, clock=lambda: BEGIN + 1e4).fetch(limited, tmp_path / "out")
    assert len(later.captions) == 1 and videos.requests.count("/clip.mp4") <= 4


@pytest.mark.slow
def test_a_media_file_without_an_end_is_refused(videos: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuamaster.adapters.videos.client.MEDIA_BYTES", 3_000_000)
    (video,) = ytdlp(tmp_path, page(videos, "endless", "endless/clip.mp4")).search(query())
    with pytest.raises(MediaError) as fault:
        ytdlp(tmp_path).fetch(video, tmp_path / "out")
    assert fault.value.reason == "too-large"


@pytest.mark.slow
def test_an_address_that_is_a_list_is_not_downloaded_as_a_video(videos: Any, tmp_path: Path) -> None:
    (video,) = ytdlp(tmp_path, f"{videos.url}/watch0.html").search(query())
    with pytest.raises(MediaError) as fault:
        ytdlp(tmp_path).fetch(video.model_copy(update={"url": f"{videos.url}/account.xml"}), tmp_path / "out")
    assert fault.value.reason == "no-media-file" and list((tmp_path / "out").glob("*.mp4")) == []


@pytest.mark.parametrize(
    ("info", "reason"),
    [({"is_live": True}, "live-stream"), ({"live_status": "is_live"}, "live-stream"), ({"live_status": "is_upcoming"}, "not-yet"),
     ({"live_status": "post_live"}, "not-yet"), ({"duration": 43200}, "too-long")],
)  # fmt: skip
def test_streams_and_twelve_hours_are_refused_before_the_download(info: dict[str, Any], reason: str) -> None:
    with pytest.raises(MediaError) as fault:
        refuse(info, "https://x", 3600.0)
    assert fault.value.reason == reason


@pytest.mark.slow
def test_what_the_page_calls_too_long_is_not_downloaded(videos: Any, tmp_path: Path) -> None:
    said = {
        "@context": "https://schema.org", "@type": "VideoObject", "name": "GIMP for twelve hours", "duration": "PT12H", "contentUrl": f"{videos.url}/clip.mp4",
        "thumbnailUrl": "https://x/t.png", "uploadDate": "2024-02-03", "description": "d", "author": "Ann",
    }  # fmt: skip
    (videos.folder / "long.html").write_text(
        f"<html><script type='application/ld+json'>{json.dumps(said)}</script></html>"
    )
    (found,) = ytdlp(tmp_path, f"{videos.url}/long.html").search(query())
    assert (found.duration, found.upload_date) == (43200.0, "2024-02-03")
    with pytest.raises(MediaError) as fault:
        ytdlp(tmp_path, max_seconds=3600.0).fetch(found.model_copy(update={"duration": None}), tmp_path / "out")
    assert fault.value.reason == "too-long" and list((tmp_path / "out").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", [2, 300])
def test_a_disk_that_is_full_is_no_fault_of_the_video(videos: Any, tmp_path: Path, kilobytes: int) -> None:
    """On a small file system: full before the description is written, or in the middle of the download; then there is room."""
    (videos.folder / "clip.mp4").write_bytes(b"\0\0\0\x20ftypisom" + b"x" * 2_000_000)
    script = (
        "import subprocess, sys\nfrom pathlib import Path\nfrom cuamaster.records.video import Query\nfrom tests.adapters.videos.sources import ytdlp\n"
        "from cuamaster.errors import StoreFull\nfolder, url = Path(sys.argv[1]), sys.argv[2]\n"
        "(video,) = ytdlp(folder, url).search(Query(text='', app='', provider='lists'))\n"
        "for _ in range(4):\n    try: ytdlp(folder).fetch(video, folder / 'm')\n    except StoreFull: print('full')\n"
        "subprocess.run(['mount', '-o', 'remount,size=9m', str(folder / 'm')], check=True)\n"
        "print(ytdlp(folder).fetch(video, folder / 'm').media.stat().st_size)\n"
    )
    (tmp_path / "m").mkdir()
    mount = f'mount -t tmpfs -o size={kilobytes}k none "$1/m" && exec "$2" -c "$3" "$1" "$4"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", mount, "sh", str(tmp_path), sys.executable, script, f"{videos.url}/watch1.html"],
        capture_output=True, text=True, check=False, timeout=120, cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["full"] * 4 + ["2000012"]


def test_recordings_are_not_refused() -> None:
    for info in ({}, {"duration": None}, {"live_status": "was_live", "is_live": False, "duration": 3600}):
        refuse(info, "https://x", 3600.0)


def test_bilibili_is_searched_with_titles(site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real search of yt-dlp, its requests sent to the loopback site instead."""
    import yt_dlp

    videos = [
        {"aid": 7, "bvid": "BV1", "arcurl": "http://www.bilibili.com/video/av7", "title": '<em class="keyword">GIMP</em>教程 &amp; 抠图', "author": "老师",
         "duration": "12:34", "pubdate": 1669889987, "description": "d", "typename": "软件应用", "play": 12},
        {"aid": 8, "arcurl": "http://www.bilibili.com/video/av8", "title": "两"},
    ]  # fmt: skip
    (site.folder / "page1").write_text(json.dumps({"data": {"result": videos}}))
    (site.folder / "page2").write_text(json.dumps({"data": {}}))
    send = yt_dlp.YoutubeDL.urlopen

    def redirected(self: Any, req: Any) -> Any:
        number = re.search(r"[?&]page=(\d)", req.url)
        assert req.url.startswith("https://api.bilibili.com/x/web-interface/search/type?") and number
        return send(self, f"{site.url}/page{number[1]}")

    monkeypatch.setattr(yt_dlp.YoutubeDL, "urlopen", redirected)
    monkeypatch.setattr("cuamaster.adapters.videos.pace.GAPS", {})
    first, second = ytdlp(tmp_path, search_key="bilisearch").search(query("GIMP 教程"))
    assert (first.title, first.uploader, first.duration) == ("GIMP教程 & 抠图", "老师", 754.0)
    assert (first.source, first.source_id, first.upload_date) == ("bilibili", "7", "2022-12-01")
    assert (first.categories, first.view_count, first.url) == (("软件应用",), 12, "http://www.bilibili.com/video/av7")
    assert (second.title, second.duration) == ("两", None)


@pytest.mark.slow
def test_the_format_is_at_most_1080p_in_a_common_codec_with_sound() -> None:
    import yt_dlp

    from cuamaster.adapters.videos.client import FORMAT

    def choose(*formats: tuple[str, int | None, str | None, str | None]) -> str:
        """Each (id, height, vcodec, acodec); the chosen ids."""
        listed = [
            {"format_id": name, "height": height, "vcodec": vcodec, "acodec": acodec, "url": f"https://x/{name}", "ext": "mp4", "protocol": "https"}
            for name, height, vcodec, acodec in formats
        ]  # fmt: skip
        with yt_dlp.YoutubeDL(
            {"quiet": True, "format": FORMAT, "simulate": True, "merge_output_format": "mp4/mkv"}
        ) as ydl:
            info = ydl.process_ie_result({"id": "1", "title": "t", "extractor": "x", "extractor_key": "X", "webpage_url": "https://x", "formats": listed}, download=False)  # fmt: skip
        return str(info["format_id"])

    sound = ("a", None, "none", "mp4a.40.2")
    h264, vp9, av1 = (
        ("h", 1080, "avc1.640028", "none"),
        ("v", 1080, "vp09.00.40.08", "none"),
        ("x", 1080, "av01.0.08M.08", "none"),
    )
    assert choose(sound, ("big", 2160, "avc1", "none"), h264, av1) == "h+a"
    assert choose(sound, av1, vp9) == "v+a"
    assert choose(sound, av1) == "x+a", "another codec rather than nothing"
    assert choose(("old", 480, "avc1", "mp4a"), ("hd", 720, "avc1", "none"), sound) == "hd+a"
    assert choose(("plain", None, None, None)) == "plain"
    assert choose(h264) == "h", "without sound, the screen decides later"
    assert choose(sound, ("k4", 2160, "avc1", "none"), ("k2", 1440, "vp9", "none")) == "k2+a"


@pytest.mark.slow
def test_cookies_are_read_and_never_written(videos: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="ytdlp_cookies"):
        ytdlp(tmp_path, cookies=tmp_path / "none.txt")
    cookies = tmp_path / "cookies.txt"
    text = "# Netscape HTTP Cookie File\n.example.org\tTRUE\t/\tFALSE\t0\tname\tvalue\n"
    cookies.write_text(text)
    assert len(list(ytdlp(tmp_path, f"{videos.url}/watch0.html", cookies=cookies).search(query()))) == 1
    assert cookies.read_text() == text
    cookies.write_text("no cookies\n")
    with pytest.raises(InvalidInput, match="Netscape"):
        list(ytdlp(tmp_path, f"{videos.url}/watch0.html", cookies=cookies).search(query()))
