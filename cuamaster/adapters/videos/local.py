"""Videos that are at hand: a folder of recordings with their sidecar files, one recording, or a feed (file or address)."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from cuamaster.adapters.videos.feeds import FeedItem, is_feed, parse_feed
from cuamaster.adapters.videos.metadata import names_query, video_from_info
from cuamaster.errors import CuamasterError, InvalidInput, MediaError, SourceUnavailable, UnknownName, storing
from cuamaster.records.video import Query, Video

log = logging.getLogger(__name__)
MEDIA = frozenset(
    [".mp4", ".webm", ".mkv", ".mov", ".avi", ".m4v", ".flv", ".ogv", ".mpg", ".mpeg", ".ts", ".wmv", ".gif"]
)
CAPTIONS = (".json3", ".vtt", ".srt")
"""Best first: json3 has true word times."""
FEEDS = frozenset([".xml", ".rss", ".atom", ".json"])
TIMEOUT_SECONDS = 30.0


class LocalVideos:
    """Serves what lies in `places`: folders (read recursively), media files, feed files, http(s) addresses of feeds.

    A recording's sidecars have its stem: `.info.json` (as yt-dlp writes it), `.txt` (description), captions. A folder
    that holds a single recording may describe it in `video.json` or `info.json`.
    """

    name = "local"

    def __init__(self, places: Sequence[str | Path], *, language: str = "en") -> None:
        self._places = [str(place) for place in places]
        self._language = language

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
        files = [file for place in self._places for file in _files(Path(place)) or [Path(place)] if file.is_file()]
        there = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        return json.dumps([self._places, there if not query.text else []])

    def fetch(self, video: Video, folder: Path) -> tuple[Path, tuple[Path, ...]]:
        """Link or copy (a feed's files: download) into `folder`. Raises UnknownName, MediaError, SourceUnavailable, StoreFull."""
        for item in self._items():
            if item.video.id == video.id:
                media = item.media
                if item.fault is not None:
                    raise item.fault
                if media is None:
                    raise MediaError(
                        f"{video.url}: the feed names no media file",
                        reason="no-media-file",
                        hint="use provider ytdlp for pages",
                    )
                with storing(folder):
                    folder.mkdir(parents=True, exist_ok=True)
                    stem = folder / re.sub(r"[^\w.-]+", "_", video.id)
                    path = _bring(media, stem.with_name(stem.name + _suffix(media, ".mp4")))
                    texts = [_bring(text, stem.with_name(stem.name + _caption_suffix(text))) for text in item.captions]
                if not path.stat().st_size:
                    raise MediaError(f"{video.url}: the file is empty", reason="empty-file")
                return path, tuple(texts)
        raise UnknownName(
            f"no video {video.source}/{video.source_id} in {', '.join(self._places)}", hint="was it moved or changed?"
        )

    def _items(self) -> Iterator[FeedItem]:
        """Everything of every place; a place or feed that cannot be read is told at the end, after what the others have."""
        faults: list[CuamasterError] = []
        for place in self._places:
            yield from self._at(place, faults)
        if len(faults) == 1:
            raise faults[0]
        if faults:
            kind = SourceUnavailable if all(isinstance(fault, SourceUnavailable) for fault in faults) else InvalidInput
            raise kind("; ".join(str(fault) for fault in faults))

    def _at(self, place: str, faults: list[CuamasterError]) -> Iterator[FeedItem]:
        path = Path(place)
        if re.match(r"https?://", place):
            yield from _entries(lambda: _download(place), place, faults)
        elif path.is_dir():
            for file in _files(path):
                if file.suffix.lower() in MEDIA:
                    yield self._recording(file)
                elif file.suffix.lower() in FEEDS and is_feed(file.read_bytes()[:4096]):
                    yield from _entries(file.read_bytes, file.resolve().as_uri(), faults)
        elif path.is_file() and path.suffix.lower() in MEDIA:
            yield self._recording(path)
        elif path.is_file():
            yield from _entries(path.read_bytes, path.resolve().as_uri(), faults)
        else:
            faults.append(UnknownName(f"no such folder, recording or feed: {place}", hint="give an existing path"))

    def _recording(self, file: Path) -> FeedItem:
        """A recording whose description is broken goes by its name, and is refused with that fault when it is fetched."""
        fault = None
        try:
            info = _described(file)
        except InvalidInput as exc:
            info, fault = {}, exc
        source = str(info.get("extractor_key") or info.get("extractor") or "local").lower()
        identity = str(info.get("id") or f"{file.stem}-{_digest(file)}")
        text = file.with_suffix(".txt")
        if "description" not in info and text.is_file():
            info = {**info, "description": text.read_text(encoding="utf-8", errors="replace")}
        if "title" not in info:
            info = {**info, "title": _title(file)}
        url = str(info.get("webpage_url") or info.get("url") or file.resolve().as_uri())
        video = video_from_info(info, source=source, source_id=identity, url=url)
        captions = tuple(path.resolve().as_uri() for path in self._captions(file))
        return FeedItem(video, file.resolve().as_uri(), captions, fault)

    def _captions(self, file: Path) -> list[Path]:
        """Caption files of a recording: the wanted language or none stated before others, then by kind."""
        pattern = re.compile(
            re.escape(file.stem) + r"(?:\.([A-Za-z]{2,3}(?:-[\w-]+)?))?(\.json3|\.vtt|\.srt)", re.IGNORECASE
        )
        found = []
        for item in sorted(file.parent.iterdir()):
            match = pattern.fullmatch(item.name)
            if match:
                code = (match.group(1) or self._language).split("-")[0].lower()
                found.append(
                    (code != self._language.split("-")[0], CAPTIONS.index(match.group(2).lower()), item.name, item)
                )
        return [item for *_, item in sorted(found)]


def _files(folder: Path) -> list[Path]:
    return sorted(item for item in folder.rglob("*") if item.is_file() and not item.name.startswith("."))


def _entries(load: Callable[[], bytes], address: str, faults: list[CuamasterError]) -> list[FeedItem]:
    """What a feed lists; a fault of it goes to the others."""
    try:
        return parse_feed(load(), address)
    except (InvalidInput, MediaError, SourceUnavailable) as exc:
        faults.append(exc)
        return []


def _described(file: Path) -> dict[str, Any]:
    """Metadata beside a recording; raises InvalidInput naming file, line and field when it is not a JSON object."""
    siblings = [item for item in file.parent.iterdir() if item.suffix.lower() in MEDIA]
    shared = [file.with_name("video.json"), file.with_name("info.json")] if len(siblings) == 1 else []
    for path in (file.with_name(f"{file.stem}.info.json"), file.with_suffix(".json"), *shared):
        if path.is_file():
            try:
                info = json.loads(path.read_text(encoding="utf-8"))
            except json.JSONDecodeError as exc:
                raise InvalidInput(f"{path}, line {exc.lineno}, field column {exc.colno}: {exc.msg}") from exc
            except UnicodeDecodeError as exc:
                raise InvalidInput(f"{path}, line 1, field (text): not UTF-8: {exc.reason}") from exc
            if not isinstance(info, dict):
                raise InvalidInput(f"{path}, line 1, field (top): must be an object")
            return info
    return {}


def _title(file: Path) -> str:
    """A readable title from the file's name, or its folder's when the name says nothing."""
    named = (
        file.parent.name if file.stem.lower() in ("tutorial", "video", "recording", "screen", "movie") else file.stem
    )
    return " ".join(re.split(r"[\s_-]+", named)).strip() or file.name


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()[:16]


def _suffix(address: str, default: str) -> str:
    return Path(urlsplit(address).path).suffix.lower() or default


def _caption_suffix(address: str) -> str:
    name = Path(unquote(urlsplit(address).path)).name
    match = re.search(r"(\.[A-Za-z]{2,3}(?:-[\w-]+)?)?\.(?:json3|vtt|srt)$", name)
    return match.group(0) if match else ".vtt"


def _bring(address: str, target: Path) -> Path:
    """A file at `target`, whole or not at all: linked, else copied, else downloaded."""
    partial = target.with_name(target.name + ".part")
    partial.unlink(missing_ok=True)
    if address.startswith("file:"):
        source = Path(unquote(urlsplit(address).path))
        if not source.is_file():
            raise MediaError(f"{source}: no such file", reason="missing-file")
        if not os.access(source, os.R_OK):
            raise MediaError(f"{source}: may not be read", reason="unreadable")
        try:
            os.link(source, partial)
        except OSError:
            shutil.copyfile(source, partial)
    else:
        with _open(address) as response, partial.open("wb") as file:
            try:
                shutil.copyfileobj(response, file)
            except (TimeoutError, HTTPException, ConnectionError) as exc:
                raise SourceUnavailable(f"{address}: broke off: {exc}") from exc
    partial.replace(target)
    return target


def _download(address: str) -> bytes:
    with _open(address) as response:
        try:
            return bytes(response.read())
        except (TimeoutError, HTTPException, ConnectionError) as exc:
            raise SourceUnavailable(f"{address}: broke off: {exc}") from exc


def _open(address: str) -> Any:
    try:
        return urllib.request.urlopen(
            urllib.request.Request(address, headers={"User-Agent": "cuamaster"}), timeout=TIMEOUT_SECONDS
        )
    except urllib.error.HTTPError as exc:
        if exc.code in (408, 425, 429) or exc.code >= 500:
            raise SourceUnavailable(f"{address} answers {exc.code}") from exc
        raise MediaError(
            f"{address} answers {exc.code}", reason="gone" if exc.code in (404, 410) else "forbidden"
        ) from exc
    except (urllib.error.URLError, TimeoutError, HTTPException, ConnectionError) as exc:
        raise SourceUnavailable(f"{address}: {exc}") from exc
