"""Videos that are at hand: a folder of recordings with their sidecar files, one recording, or a feed (file or address)."""

from __future__ import annotations

import functools
import json
import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cuamaster.adapters.videos.feeds import FeedItem, is_feed, parse_feed
from cuamaster.adapters.videos.metadata import names_query
from cuamaster.adapters.videos.recordings import MEDIA, recording, sidecars
from cuamaster.adapters.videos.web import FEED_BYTES, Web
from cuamaster.errors import CuamasterError, InvalidInput, MediaError, SourceUnavailable, UnknownName, storing
from cuamaster.ports import Fetched
from cuamaster.records.video import Query, Video

log = logging.getLogger(__name__)
FEEDS = frozenset([".xml", ".rss", ".atom", ".json"])


class LocalVideos:
    """Serves what lies in `places`: folders (read recursively), media files, feed files, http(s) addresses of feeds.

    A recording's sidecars have its stem: `.info.json` (as yt-dlp writes it), `.txt` (description), captions. A folder
    that holds a single recording may describe it in `video.json` or `info.json`.
    """

    name = "local"

    def __init__(self, places: Sequence[str | Path], *, language: str = "en", web: Web | None = None) -> None:
        self._places = [str(place) for place in places]
        self._language, self._web = language, web
        self._seen: tuple[str, list[FeedItem], list[CuamasterError]] | None = None
        self._known: dict[str, FeedItem] = {}
        self._lock = threading.Lock()

    def search(self, query: Query) -> Iterator[Video]:
        """Videos that name the query's application or all its words, at most `query.limit`; an empty text means all.

        Raises UnknownName for a place that is not there, InvalidInput for a broken feed, SourceUnavailable.
        """
        count = 0
        for item in self._items():
            video = item.video
            if count < query.limit and names_query(video, query):
                count += 1
                yield video.model_copy(update={"app": video.app or query.app or None, "query": query.text or None})

    def all(self) -> list[Video]:
        """Every video of every place, whatever it is about."""
        return [item.video for item in self._items()]

    def asked(self, query: Query) -> str:
        """Its places; for everything they have, also the files that lie there with their sizes and times."""
        return json.dumps([self._places, self._there() if not query.text else []])

    def _there(self) -> list[tuple[str, int, int]]:
        files = [
            file for place in self._places for file in _files(Path(place)) or sidecars(Path(place)) if file.is_file()
        ]
        return [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]

    def fetch(self, video: Video, folder: Path) -> Fetched:
        """Link or copy (a feed's files: download) into `folder`. Raises UnknownName, MediaError, SourceUnavailable, StoreFull."""
        item = self._item(video)
        if item.fault is not None:
            raise item.fault
        if item.media is None:
            raise MediaError(
                f"{video.url}: the feed names no media file",
                reason="no-media-file",
                hint="use provider ytdlp for pages",
            )
        with storing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            stem = folder / re.sub(r"[^\w.-]+", "_", video.id)
            path = self._bring(item.media, stem.with_name(stem.name + _suffix(item.media, ".mp4")))
            texts = [text for caption in item.captions if (text := self._caption(caption, stem)) is not None]
        if not path.stat().st_size:
            raise MediaError(f"{video.url}: the file is empty", reason="empty-file")
        return Fetched(path, tuple(texts), item.video)

    def _caption(self, address: str, stem: Path) -> Path | None:
        try:
            return self._bring(address, stem.with_name(stem.name + _caption_suffix(address)))
        except MediaError as exc:  # a recording is worth more than its captions
            log.warning("%s: no captions: %s", address, exc)
            return None

    def _item(self, video: Video) -> FeedItem:
        """Where a video lies; looked for again when it was not there before. Raises UnknownName."""
        fault: CuamasterError | None = None
        if video.id not in self._known:
            try:
                for _ in self._items():
                    pass
            except (InvalidInput, MediaError, SourceUnavailable) as exc:
                fault = exc
        if video.id in self._known:
            return self._known[video.id]
        if isinstance(fault, SourceUnavailable):
            raise fault
        raise UnknownName(
            f"no video {video.source}/{video.source_id} in {', '.join(self._places)}", hint="was it moved or changed?"
        )

    def _items(self) -> Iterator[FeedItem]:
        """Everything of every place; a place or feed that cannot be read is told at the end, after what the others have.

        What was read stays known while the files are the same, so that a feed is asked once and a recording is hashed once.
        """
        with self._lock:
            items, faults = self._listed()
        yield from items
        if len(faults) == 1:
            raise faults[0]
        if faults:
            later = [fault for fault in faults if isinstance(fault, SourceUnavailable)]
            if later:  # what is broken for good is told when all have answered
                raise later[0]
            raise InvalidInput("; ".join(str(fault) for fault in faults))

    def _listed(self) -> tuple[list[FeedItem], list[CuamasterError]]:
        there = json.dumps(self._there())
        if self._seen is not None and self._seen[0] == there:
            return self._seen[1:]
        faults: list[CuamasterError] = []
        items = [item for place in self._places for item in self._at(place, faults)]
        self._known = {item.video.id: item for item in items}
        if not any(isinstance(fault, SourceUnavailable) for fault in faults):
            self._seen = there, items, faults
        return items, faults

    def _at(self, place: str, faults: list[CuamasterError]) -> Iterator[FeedItem]:
        path = Path(place)
        if re.match(r"https?://", place):
            yield from _entries(lambda: self._http().read(place), place, faults)
        elif path.is_dir():
            for file in _files(path):
                if file.suffix.lower() in MEDIA:
                    yield recording(file, self._language)
                elif file.suffix.lower() in FEEDS and _begins_as_feed(file):
                    yield from _entries(functools.partial(_read, file), file.resolve().as_uri(), faults)
        elif path.is_file() and path.suffix.lower() in MEDIA:
            yield recording(path, self._language)
        elif path.is_file():
            yield from _entries(functools.partial(_read, path), path.resolve().as_uri(), faults)
        else:
            faults.append(UnknownName(f"no such folder, recording or feed: {place}", hint="give an existing path"))

    def _http(self) -> Web:
        if self._web is None:
            raise InvalidInput(
                f"{', '.join(self._places)}: no web access was given", hint="wire LocalVideos with a Web"
            )
        return self._web

    def _bring(self, address: str, target: Path) -> Path:
        """A file at `target`, whole or not at all: linked, else copied, else downloaded."""
        if not address.startswith("file:"):
            if not target.is_file():
                self._http().bring(address, target)
            return target
        partial = target.with_name(target.name + ".part")
        partial.unlink(missing_ok=True)
        source = Path(unquote(urlsplit(address).path))
        if not source.is_file():
            raise MediaError(f"{source}: no such file", reason="missing-file")
        if not os.access(source, os.R_OK):
            raise MediaError(f"{source}: may not be read", reason="unreadable")
        try:
            os.link(source, partial)
        except OSError:
            shutil.copyfile(source, partial)
        partial.replace(target)
        return target


def _files(folder: Path) -> list[Path]:
    return sorted(item for item in folder.rglob("*") if item.is_file() and not item.name.startswith("."))


def _begins_as_feed(file: Path) -> bool:
    with file.open("rb") as stream:
        return is_feed(stream.read(4096))


def _read(file: Path) -> bytes:
    """A feed file; raises InvalidInput for one that is too large to be one."""
    if file.stat().st_size > FEED_BYTES:
        raise InvalidInput(
            f"{file}: {file.stat().st_size:,} bytes", hint=f"feeds of up to {FEED_BYTES:,} bytes are read"
        )
    return file.read_bytes()


def _entries(load: Callable[[], bytes], address: str, faults: list[CuamasterError]) -> list[FeedItem]:
    """What a feed lists; a fault of it goes to the others."""
    try:
        return parse_feed(load(), address)
    except (InvalidInput, MediaError, SourceUnavailable) as exc:
        faults.append(exc)
        return []


def _suffix(address: str, default: str) -> str:
    return Path(urlsplit(address).path).suffix.lower() or default


def _caption_suffix(address: str) -> str:
    name = Path(unquote(urlsplit(address).path)).name
    match = re.search(r"(\.[A-Za-z]{2,3}(?:-[\w-]+)?)?\.(?:json3|vtt|srt)$", name)
    return match.group(0) if match else ".vtt"
