"""Other people's metadata of a video (yt-dlp info dictionaries, our sample files) to a Video record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from cuamaster.records.chapters import described_chapters, listed_chapters
from cuamaster.records.video import Query, Video

TITLE, ABOUT, CATEGORIES = 1_000, 20_000, 50
"""Characters and entries that are kept: no site has longer titles, and of millions of rows some are nonsense."""
_INT64 = 2**63


def video_from_info(info: Mapping[str, Any], *, source: str, source_id: str, url: str, **more: Any) -> Video:
    """A Video from a yt-dlp style dictionary; what is not there, or is not what it should be, stays None. `more` are fields that override."""
    fields: dict[str, Any] = {
        "source": source,
        "source_id": writable(source_id),
        "url": writable(url),
        "title": text_of(info.get("title"))[:TITLE] or writable(source_id),
        "description": text_of(info.get("description"))[:ABOUT],
        "uploader": text_of(info.get("uploader") or info.get("channel"))[:TITLE] or None,
        "duration": number(info.get("duration")),
        "upload_date": _date_of(info),
        "language": text_of(info.get("language"))[:100] or None,
        "license": text_of(info.get("license"))[:TITLE] or None,
        "categories": _texts(info.get("categories")),
        "availability": _availability(info),
        "view_count": _count(info.get("view_count")),
        "app": text_of(info.get("application") or info.get("app"))[:100] or None,
        "chapters": listed_chapters(info.get("chapters"))
        or described_chapters(str(info.get("description") or "")[:ABOUT]),
    }
    return Video(**{**fields, **more})


def writable(text: str) -> str:
    """The text without what no UTF-8 file can hold (half surrogate pairs) and without zero bytes."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def text_of(value: Any) -> str:
    """Words on one line; other things than text and numbers say nothing."""
    return " ".join(writable(str(value)).split()) if isinstance(value, (str, int, float)) else ""


def _texts(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value if isinstance(value, (list, tuple)) else []
    return tuple(text for item in values[:CATEGORIES] if (text := text_of(item)[:TITLE]))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _INT64 else None


def _date_of(info: Mapping[str, Any]) -> str | None:
    """The day of publication; of a flat listing only the second may be known."""
    found = iso_date(info.get("upload_date") or info.get("release_date"))
    seconds = info.get("timestamp")
    if found is None and isinstance(seconds, (int, float)) and 0 < seconds < 4e9:
        found = datetime.fromtimestamp(seconds, UTC).date().isoformat()
    return found


def _availability(info: Mapping[str, Any]) -> str | None:
    """What keeps it from being seen; a stream that runs or is announced is not a video yet."""
    live = info.get("live_status") or ("is_live" if info.get("is_live") is True else None)
    return {"is_live": "live", "is_upcoming": "upcoming"}.get(str(live)) or text_of(info.get("availability")) or None


def number(value: Any) -> float | None:
    """Seconds from a number, or from `1:02:03` as feeds write it; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value) if 0 < value < 1e9 else None
    parts = str(value).strip()[:40].split(":")
    if not all(re.fullmatch(r"[0-9]+(\.[0-9]+)?", part) for part in parts):
        return None
    seconds = 0.0
    for part in parts:
        seconds = seconds * 60 + float(part)
    return seconds if 0 < seconds < 1e9 else None


def iso_date(value: Any) -> str | None:
    """YYYY-MM-DD from 20261130, an ISO date-time or an RFC 822 date; None for anything else, also for a day that no calendar has."""
    from email.utils import parsedate_to_datetime

    text = str(value or "").strip()[:100]
    match = re.match(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?![0-9])", text)
    try:
        if match:
            return date(*map(int, match.groups())).isoformat()
        return parsedate_to_datetime(text).date().isoformat() if text else None
    except (TypeError, ValueError, OverflowError):
        return None


def names_query(video: Video, query: Query) -> bool:
    """Whether a listed video is about the query's application, or has all its words in title, description or folder."""
    if not query.text or (query.app and video.app == query.app):
        return True
    folder = PurePosixPath(unquote(urlsplit(video.url).path)).parent.name
    said = set(re.split(r"[\W_]+", f"{video.title} {video.description} {folder}".casefold()))
    words = [word for word in re.split(r"[\W_]+", query.text.casefold()) if word]
    return bool(words) and said.issuperset(words)
