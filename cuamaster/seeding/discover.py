"""Drops candidates that were found before: by source identity, then by normalized title."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from cuamaster.records.episode import Dropped
from cuamaster.records.video import Video

STAGE = "discover"

_SITES = (
    ("youtube", re.compile(r"(?:youtube\.com/(?:watch\?(?:.*&)?v=|shorts/|embed/|live/)|youtu\.be/)([\w-]{11})")),
    ("bilibili", re.compile(r"bilibili\.com/video/((?:BV|av)\w+(?:\?p=(?!1\b)\d+)?)", re.IGNORECASE)),
    ("tiktok", re.compile(r"tiktok\.com/@[^/]+/video/(\d+)")),
)
_BRACKETS = re.compile(r"[\[(【〔《「{<]([^\[\]()【】〔〕《》「」{}<>]*)[\])】〕》」}>]")
_QUALITY = re.compile(r"\b(?:full hd|hd|uhd|4k|8k|1080p|720p|60fps|1440p|2160p)\b")
_HASHTAG = re.compile(r"#(?!\d)\w+")
_PART = re.compile(r"\b(part|pt|episode|ep|lesson|chapter|teil|parte|vol|volume)\b\.?\s*#?\s*(\w+)")
_PART_NAMES = {"pt": "part", "ep": "episode", "teil": "part", "parte": "part", "vol": "volume"}
_NUMBERS = {
    name: str(number)
    for number, names in enumerate(
        (
            "one i eins uno",
            "two ii zwei dos",
            "three iii drei tres",
            "four iv",
            "five v",
            "six vi",
            "seven vii",
            "eight viii",
        ),
        1,
    )
    for name in names.split()
}
_NOT_WORD = re.compile(r"(?<!\d)\.|\.(?!\d)|(?<![a-z0-9+])[+#](?!\d)|[^\w.+#]", re.UNICODE)
"""What separates words: all but letters, digits, a point between digits (3.8), and the signs in `c++`, `c#`, `#2`."""
TAGS = frozenset(
    [
        "official",
        "official video",
        "new",
        "updated",
        "latest",
        "subtitles",
        "free",
        "full tutorial",
        "must watch",
        "video",
    ]
)


def dedup(videos: Iterable[Video], *, tags: Iterable[str] = ()) -> tuple[list[Video], list[Dropped]]:
    """Keep the first of each source identity and of each normalized title; `tags` are more title decorations to ignore."""
    kept: list[Video] = []
    dropped: list[Dropped] = []
    by_identity: dict[tuple[str, str], Video] = {}
    by_title: dict[str, Video] = {}
    decorations = TAGS | {tag.casefold() for tag in tags}
    for video in videos:
        key, title = identity(video), normalized_title(video.title, uploader=video.uploader, tags=decorations)
        if key in by_identity:
            dropped.append(_drop(video, "duplicate-source", by_identity[key]))
        elif title and title in by_title:
            dropped.append(_drop(video, "duplicate-title", by_title[title]))
            by_identity[key] = by_title[title]
        else:
            by_identity[key] = video
            by_title.setdefault(title, video)
            kept.append(video)
    return kept, dropped


def _drop(video: Video, reason: str, first: Video) -> Dropped:
    return Dropped(
        item_id=video.id,
        stage=STAGE,
        reason=reason,
        detail=f"{video.url}: same as {first.id} {first.url} {first.title!r}",
    )


def identity(video: Video) -> tuple[str, str]:
    """(site, id): the site's own id where the address shows it, so that one video found in two ways is one."""
    for site, pattern in _SITES:
        match = pattern.search(video.url)
        if match:
            return site, match.group(1)
    return video.source.lower(), video.source_id


def normalized_title(title: str, *, uploader: str | None = None, tags: Iterable[str] = TAGS) -> str:
    """Title without case, width, decorations and punctuation; numbers, versions and parts stay, for they tell videos apart.

    >>> normalized_title("【HD】 Excel 2016 — Tutorial (Official) #shorts")
    'excel 2016 tutorial'
    """
    text = unicodedata.normalize("NFKC", title).casefold()
    ignored = set(tags)

    def unbracket(match: re.Match[str]) -> str:
        inside = " ".join(_QUALITY.sub(" ", match.group(1)).split())
        return " " if inside in ignored or not inside else f" {inside} "

    text = _BRACKETS.sub(unbracket, text)
    if uploader:
        owner = unicodedata.normalize("NFKC", uploader).casefold()
        text = re.sub(rf"(?:\s*[|\-–—:•]\s*{re.escape(owner)}\s*$)|(?:^\s*{re.escape(owner)}\s*[|\-–—:•])", " ", text)
    text = _HASHTAG.sub(" ", _QUALITY.sub(" ", text))
    text = _PART.sub(lambda m: f"{_PART_NAMES.get(m[1], m[1])} {_NUMBERS.get(m[2], m[2].lstrip('0') or m[2])}", text)
    return " ".join(_NOT_WORD.sub(" ", text).split())
