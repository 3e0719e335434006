"""Other people's metadata of a video (yt-dlp info dictionaries, our sample files) to a Video record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from cuamaster.records.video import Query, Video


def video_from_info(info: Mapping[str, Any], *, source: str, source_id: str, url: str, **more: Any) -> Video:
    """A Video from a yt-dlp style dictionary; what is not there stays None. `more` are fields that override."""
    fields: dict[str, Any] = {
        "source": source,
        "source_id": source_id,
        "url": url,
        "title": _text(info.get("title")) or source_id,
        "description": _text(info.get("description")),
        "uploader": _text(info.get("uploader") or info.get("channel")) or None,
        "duration": number(info.get("duration")),
        "upload_date": iso_date(info.get("upload_date") or info.get("release_date")),
        "language": _text(info.get("language")) or None,
        "license": _text(info.get("license")) or None,
        "categories": tuple(_text(item) for item in info.get("categories") or ()),
        "availability": _text(info.get("availability")) or None,
        "view_count": info.get("view_count") if isinstance(info.get("view_count"), int) else None,
        "app": _text(info.get("application") or info.get("app")) or None,
    }
    return Video(**{**fields, **more})


def _text(value: Any) -> str:
    return " ".join(str(value).split()) if value is not None else ""


def number(value: Any) -> float | None:
    """Seconds from a number, or from `1:02:03` as feeds write it; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value) if value > 0 else None
    parts = str(value).strip().split(":")
    if not all(re.fullmatch(r"\d+(\.\d+)?", part) for part in parts):
        return None
    seconds = 0.0
    for part in parts:
        seconds = seconds * 60 + float(part)
    return seconds or None


def iso_date(value: Any) -> str | None:
    """YYYY-MM-DD from 20261130, an ISO date-time or an RFC 822 date; None for anything else."""
    from email.utils import parsedate_to_datetime

    text = str(value or "").strip()
    match = re.match(r"(\d{4})-?(\d\d)-?(\d\d)(?!\d)", text)
    if match:
        return "-".join(match.groups())
    try:
        return parsedate_to_datetime(text).date().isoformat() if text else None
    except (TypeError, ValueError):
        return None


def names_query(video: Video, query: Query) -> bool:
    """Whether a listed video is about the query's application, or has all its words in title, description or folder."""
    if not query.text or (query.app and video.app == query.app):
        return True
    folder = PurePosixPath(unquote(urlsplit(video.url).path)).parent.name
    said = set(re.split(r"[\W_]+", f"{video.title} {video.description} {folder}".casefold()))
    words = [word for word in re.split(r"[\W_]+", query.text.casefold()) if word]
    return bool(words) and said.issuperset(words)
