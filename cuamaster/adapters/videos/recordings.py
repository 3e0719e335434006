"""A recording on disk, with the files beside it that say what it is: metadata, description, captions."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from cuamaster.adapters.videos.feeds import FeedItem
from cuamaster.adapters.videos.metadata import video_from_info
from cuamaster.errors import InvalidInput

MEDIA = frozenset(
    [".mp4", ".webm", ".mkv", ".mov", ".avi", ".m4v", ".flv", ".ogv", ".mpg", ".mpeg", ".ts", ".wmv", ".gif"]
)
CAPTIONS = (".json3", ".vtt", ".srt")
"""Best first: json3 has true word times."""


def recording(file: Path, language: str) -> FeedItem:
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
    captions = tuple(path.resolve().as_uri() for path in _captions(file, language))
    return FeedItem(video, file.resolve().as_uri(), captions, fault)


def sidecars(file: Path) -> list[Path]:
    """A recording with what may describe it."""
    if not file.is_file():
        return []
    named = (item for item in file.parent.iterdir() if item.name.startswith(file.stem))
    return sorted({*named, file.with_name("video.json"), file.with_name("info.json")})


def _captions(file: Path, language: str) -> list[Path]:
    """Caption files of a recording: the wanted language or none stated before others, then by kind."""
    pattern = re.compile(
        re.escape(file.stem) + r"(?:\.([A-Za-z]{2,3}(?:-[\w-]+)?))?(\.json3|\.vtt|\.srt)", re.IGNORECASE
    )
    found = []
    for item in sorted(file.parent.iterdir()):
        match = pattern.fullmatch(item.name)
        if match:
            code = (match.group(1) or language).split("-")[0].lower()
            found.append((code != language.split("-")[0], CAPTIONS.index(match.group(2).lower()), item.name, item))
    return [item for *_, item in sorted(found)]


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
