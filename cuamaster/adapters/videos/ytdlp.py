"""Videos of sites that yt-dlp knows: one search engine, or one address of a video, account, channel or playlist."""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuamaster.adapters.videos.lists import listed, video_of
from cuamaster.adapters.videos.metadata import names_query, video_from_info
from cuamaster.adapters.videos.pace import VIDEO, Pace
from cuamaster.adapters.videos.sites import site_of
from cuamaster.adapters.videos.subtitles import best_track
from cuamaster.errors import InvalidInput, MediaError, SourceUnavailable, storing
from cuamaster.ports import Fetched
from cuamaster.records.video import Query, Video

if TYPE_CHECKING:
    from cuamaster.adapters.videos.client import Client

log = logging.getLogger(__name__)
SEARCH_KEYS = {"youtube": "ytsearch", "bilibili": "bilisearch"}
"""Sites with a text search, and yt-dlp's key for it. TikTok has none in yt-dlp and is read from account and address lists."""
LISTED = "lists"
"""The provider of addresses: what they list is taken whole, and names only pick from it."""


class Downloads:
    """What the sources of one process share: how yt-dlp is called, what was fetched before, what is too long.

    `languages` of captions, best first; `archive` is in the format of yt-dlp's own: what stands there is not offered again;
    `max_seconds`: longer videos are not downloaded. `options` are those of `polite.Client`.
    """

    def __init__(
        self,
        pace: Pace,
        *,
        languages: Sequence[str] = ("en",),
        archive: Path | None = None,
        max_seconds: float | None = None,
        cookies: Path | None = None,
        **options: Any,
    ) -> None:
        if cookies is not None and not cookies.is_file():
            raise InvalidInput(f"ytdlp_cookies: no such file {cookies}", hint="export cookies in Netscape format")
        self.languages, self.max_seconds, self._archive = tuple(languages), max_seconds, archive
        self._pace, self._options = pace, {"cookies": cookies, **options}
        self._known: tuple[int, frozenset[str]] = (0, frozenset())

    @cached_property
    def client(self) -> Client:
        """Made when it is first wanted: yt-dlp takes a second to load."""
        from cuamaster.adapters.videos.client import Client

        return Client(self._pace, **self._options)

    def claim(self, site: str) -> None:
        """Wait for a site's turn to serve a whole video; raises SourceUnavailable."""
        self._pace.turn(site, requests=VIDEO)

    def settled(self, address: str) -> None:
        """The video came whole."""
        self._pace.settled(address)

    def fetched_before(self) -> frozenset[str]:
        """Names `site id` of the archive."""
        size = self._archive.stat().st_size if self._archive is not None and self._archive.is_file() else 0
        if self._archive is not None and size != self._known[0]:
            self._known = size, frozenset(self._archive.read_text(encoding="utf-8", errors="replace").splitlines())
        return self._known[1]

    def remember(self, *names: str) -> None:
        """Add names to the archive: each line is one write, so that processes may share the file."""
        if self._archive is not None:
            with storing(self._archive):
                self._archive.parent.mkdir(parents=True, exist_ok=True)
                with self._archive.open("a", encoding="utf-8") as file:
                    for name in sorted(set(names) - self.fetched_before()):
                        file.write(f"{name}\n")


class YtdlpVideos:
    """Answers queries by one search engine (`search_key`), or from what one `address` lists. Any of them fetches any video."""

    def __init__(self, downloads: Downloads, *, name: str = LISTED, search_key: str = "", address: str = "") -> None:
        self.name, self._downloads, self._key, self._address = name, downloads, search_key, address
        self._listed: list[Video] | None = None
        self._lock = threading.Lock()

    def search(self, query: Query) -> Iterator[Video]:
        """At most `query.limit` videos, described by the search or list alone: nothing is looked into. Raises SourceUnavailable, MediaError."""
        update = {"app": query.app or None, "query": query.text or None}
        if self._key:
            found = self._found(query) if query.text else iter(())
        else:
            found = (video for video in self._everything() if names_query(video, query))
        before = self._downloads.fetched_before()
        given = 0
        for video in found:
            if given == query.limit:
                break
            if f"{video.source} {video.source_id}" in before:
                log.info("%s %s was fetched before", video.source, video.source_id)
                continue
            given += 1
            yield video.model_copy(update=update)

    def asked(self, query: Query) -> str:  # noqa: ARG002  the same for every query
        """The search engine or the address."""
        return json.dumps([self._key, self._address])

    def fetch(self, video: Video, folder: Path) -> Fetched:
        """Download at most 1080p with sound, one caption track and info.json. Raises MediaError, SourceUnavailable, StoreFull."""
        stem = folder / re.sub(r"[^\w.-]+", "_", video.id)
        with storing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        done = _finished(stem, video)
        if done is not None:
            return done
        self._downloads.claim(site_of(video.url))
        client = self._downloads.client
        info = client.fetch(video.url, stem, lambda found: refuse(found, video.url, self._downloads.max_seconds))
        media = _media_of(info)
        if media is None:
            raise MediaError(f"{video.url}: nothing was downloaded", reason="no-media-file", hint="is it a list?")
        captions = self._captions(video.url, info, stem)
        described = _described(video, info)
        _finish(stem, media, captions, described)
        self._downloads.settled(video.url)
        key = str(info.get("extractor_key") or "generic").lower()
        self._downloads.remember(f"{video.source} {video.source_id}", f"{key} {info.get('id')}")
        return Fetched(media, captions, described)

    def _captions(self, address: str, info: Mapping[str, Any], stem: Path) -> tuple[Path, ...]:
        """The best caption file. One that cannot be had is no fault of the video; a site that wants to be left alone is waited for."""
        track = best_track(info, self._downloads.languages)
        if track is None:
            return ()
        target = stem.with_name(f"{stem.name}.{track.language}.{track.kind}")
        try:
            self._downloads.client.track(address, track.part, target)
        except MediaError as exc:
            log.warning("%s: no captions: %s", address, exc)
        except SourceUnavailable as exc:
            if exc.site is not None:
                raise
            log.warning("%s: no captions: %s", address, exc)
        return (target,) if target.is_file() and target.stat().st_size else ()

    def _found(self, query: Query) -> Iterator[Video]:
        request = f"{self._key}{query.offset + query.limit}:{query.text}"
        info = self._downloads.client.listing(request, query.offset + 1, query.offset + query.limit)
        for entry in info.get("entries") or ():
            video = video_of(entry, info) if entry else None
            if video is not None:
                yield video

    def _everything(self) -> list[Video]:
        """What the address lists; asked once a process, for every query picks from it."""
        with self._lock:  # queries in other threads wait for the one list
            if self._listed is None:
                self._listed = list(listed(self._downloads.client.listing, self._address))
            return self._listed


def refuse(info: Mapping[str, Any], address: str, max_seconds: float | None) -> None:
    """Raise MediaError for what is not to be downloaded: a stream that runs or is announced, a video that is too long."""
    live = info.get("live_status")
    if live == "is_live" or info.get("is_live"):
        raise MediaError(f"{address}: a live stream", reason="live-stream", hint="its recording may come later")
    if live in ("is_upcoming", "post_live"):
        raise MediaError(f"{address}: {'announced' if live == 'is_upcoming' else 'just ended'}", reason="not-yet")
    seconds = info.get("duration")
    if max_seconds is not None and isinstance(seconds, (int, float)) and seconds > max_seconds:
        raise MediaError(f"{address}: {seconds:.0f} s, wanted at most {max_seconds:g} s", reason="too-long")


def _described(video: Video, info: Mapping[str, Any]) -> Video:
    """The video as its page describes it, found for the same query."""
    said = video_from_info(info, source=video.source, source_id=video.source_id, url=video.url)
    return said.model_copy(update={"app": video.app, "query": video.query})


def _media_of(info: Mapping[str, Any]) -> Path | None:
    files = [part.get("filepath") for part in info.get("requested_downloads") or () if isinstance(part, Mapping)]
    media = Path(str(files[0])) if files and files[0] else None
    return media if media is not None and media.is_file() else None


def _marker(stem: Path) -> Path:
    """Names the files of a finished download: partial and unmerged files of a killed one never pass for it."""
    return stem.with_name(stem.name + ".fetched.json")


def _finish(stem: Path, media: Path, captions: Sequence[Path], video: Video) -> None:
    told = {"media": media.name, "captions": [path.name for path in captions], "video": video.model_dump(mode="json")}
    temporary = _marker(stem).with_suffix(".tmp")
    with storing(stem.parent):
        temporary.write_text(json.dumps(told), encoding="utf-8")
        os.replace(temporary, _marker(stem))  # noqa: PTH105


def _finished(stem: Path, video: Video) -> Fetched | None:
    """What an earlier call downloaded whole."""
    try:
        told = json.loads(_marker(stem).read_text(encoding="utf-8"))
        found = Fetched(
            stem.with_name(told["media"]),
            tuple(stem.with_name(name) for name in told["captions"]),
            Video.model_validate(told["video"]).model_copy(update={"app": video.app, "query": video.query}),
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return found if all(path.is_file() for path in (found.media, *found.captions)) else None
