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
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from cuamaster.adapters.videos.feeds import FeedItem, is_feed, parse_feed
from cuamaster.adapters.videos.metadata import names_query, video_from_info
from cuamaster.errors import InvalidInput, MediaError, SourceUnavailable, StoreFull, UnknownName
from cuamaster.records.video import Query, Video

log = logging.getLogger(__name__)
MEDIA = frozenset(
    [".mp4", ".webm", ".mkv", ".mov", ".avi", ".m4v", ".flv", ".ogv", ".mpg", ".mpeg", ".ts", ".wmv", ".gif"]
)
CAPTIONS = (".json3", ".vtt", ".srt")
"""Best first: json3 has true word times."""
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
        for video, _, _ in self._items():
            if count < query.limit and names_query(video, query):
                count += 1
                yield video.model_copy(update={"app": video.app or query.app or None, "query": query.text or None})

    def all(self) -> list[Video]:
        """Every video of every place, whatever it is about."""
        return [video for video, _, _ in self._items()]

    def fetch(self, video: Video, folder: Path) -> tuple[Path, tuple[Path, ...]]:
        """Link or copy (a feed's files: download) into `folder`. Raises UnknownName, MediaError, SourceUnavailable, StoreFull."""
        for item, media, captions in self._items():
            if item.id == video.id:
                if media is None:
                    raise MediaError(
                        f"{video.url}: the feed names no media file",
                        reason="no-media-file",
                        hint="use provider ytdlp for pages",
                    )
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                    stem = folder / re.sub(r"[^\w.-]+", "_", video.id)
                    path = _bring(media, stem.with_name(stem.name + _suffix(media, ".mp4")))
                    texts = [_bring(item, stem.with_name(stem.name + _caption_suffix(item))) for item in captions]
                except OSError as exc:
                    if exc.errno == 28:
                        raise StoreFull(f"no space left in {folder} for {video.url}") from exc
                    raise
                if not path.stat().st_size:
                    raise MediaError(f"{video.url}: the file is empty", reason="empty-file")
                return path, tuple(texts)
        raise UnknownName(
            f"no video {video.source}/{video.source_id} in {', '.join(self._places)}", hint="was it moved or changed?"
        )

    def _items(self) -> Iterator[tuple[Video, str | None, tuple[str, ...]]]:
        for place in self._places:
            if re.match(r"https?://", place):
                yield from map(_from_feed, parse_feed(_download(place), place))
                continue
            path = Path(place)
            if path.is_dir():
                for file in sorted(
                    item for item in path.rglob("*") if item.is_file() and not item.name.startswith(".")
                ):
                    if file.suffix.lower() in MEDIA:
                        yield self._recording(file)
                    elif file.suffix.lower() in (".xml", ".rss", ".atom", ".json") and is_feed(
                        file.read_bytes()[:4096]
                    ):
                        yield from map(_from_feed, parse_feed(file.read_bytes(), file.resolve().as_uri()))
            elif path.is_file() and path.suffix.lower() in MEDIA:
                yield self._recording(path)
            elif path.is_file():
                yield from map(_from_feed, parse_feed(path.read_bytes(), path.resolve().as_uri()))
            else:
                raise UnknownName(f"no such folder, recording or feed: {place}", hint="give an existing path")

    def _recording(self, file: Path) -> tuple[Video, str, tuple[str, ...]]:
        info = _described(file)
        source = str(info.get("extractor_key") or info.get("extractor") or "local").lower()
        identity = str(info.get("id") or f"{file.stem}-{_digest(file)}")
        text = file.with_suffix(".txt")
        if "description" not in info and text.is_file():
            info = {**info, "description": text.read_text(encoding="utf-8", errors="replace")}
        if "title" not in info:
            info = {**info, "title": _title(file)}
        url = str(info.get("webpage_url") or info.get("url") or file.resolve().as_uri())
        video = video_from_info(info, source=source, source_id=identity, url=url)
        return video, file.resolve().as_uri(), tuple(path.resolve().as_uri() for path in self._captions(file))

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


def _from_feed(item: FeedItem) -> tuple[Video, str | None, tuple[str, ...]]:
    return item.video, item.media, item.captions


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
