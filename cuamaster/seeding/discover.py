"""Plans what to search for, and drops candidates that were found before: by source identity, then by normalized title."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence

from cuamaster.records.episode import Dropped, RoundPlan
from cuamaster.records.taxonomy import App, Taxonomy
from cuamaster.records.video import Query, Video

STAGE = "discover"
OVERSHOOT = 4
"""Candidates wanted for each video that is to survive the filters."""

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


def plan_queries(
    taxonomy: Taxonomy, plan: RoundPlan, language: str, *, providers: Sequence[str] = ("local",)
) -> list[Query]:
    """Searches of one round: for each planned application its name with every action word of the language.

    A folder or feed (provider `local`) has no search engine to please: it gets the bare names. Raises UnknownName for an
    application that the taxonomy does not have, and for a language without words.
    """
    queries: list[Query] = []
    for cell in plan.cells:
        app = taxonomy.app(cell.app)
        if not cell.videos:
            continue
        for provider in providers:
            texts = list(app.names) if provider == "local" else _texts(app, taxonomy.words_for(language).actions)
            limit = max(1, math.ceil(cell.videos * OVERSHOOT / (1 if provider == "local" else len(texts))))
            queries += [
                Query(text=text, app=app.id, provider=provider, language=language, limit=limit) for text in texts
            ]
    return list(dict.fromkeys(queries))


def _texts(app: App, actions: Iterable[str]) -> list[str]:
    return [word.format(app=app.name) if "{app}" in word else f"{app.name} {word}" for word in actions]


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
