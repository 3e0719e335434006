"""Chapters of a video: read from a description's time marks, and believed only where the speech bears them out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from cuamaster.records.record import Record
from cuamaster.records.transcript import Word

TOLERANCE_S = 1.7
"""Sites keep whole seconds, and people set a mark a moment before or after the first word."""
MAX_CHAPTERS = 200
"""More than that is no list of chapters."""
MIN_SETTING = 0.8
"""Share of marks that must stand between sentences: at 4 s a sentence more than half of random marks do."""
MIN_NAMED = 0.5
"""Share of the titles that name something, of which a word must be said in the chapter."""
_MARK = re.compile(r"^\W*(?:(\d{1,2}):)?(\d{1,2}):(\d{2})\b\W*(.*\w.*)$")
_PAID = re.compile(
    r"\b(sponsor\w*|advert\w*|\bad\b|promo\w*|partner\w*|werbung|anzeige|gesponsert|patrocin\w*|publicidad|anuncio|parceria|publicité|"
    r"partenaire|спонсор\w*|реклама)|赞助|广告|推广|提供|広告|スポンサー|협찬|광고",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"^\W*(the )?(intro\w*|outro|welcome|hello|hi|start|begin\w*|end|ending|summary|recap|conclusion|goodbye|bye|thanks|einleitung|begrüßung|"
    r"ende|schluss|fazit|introducción|presentación|despedida|resumen|final|开场|结尾|はじめに|おわりに)\W*$",
    re.IGNORECASE,
)


class Chapter(Record):
    """A stretch of a video as its maker names it; seconds. It ends where the next one starts."""

    t_start: float = Field(ge=0)
    title: str

    @property
    def paid(self) -> bool:
        """Its title says that somebody paid for it."""
        return bool(_PAID.search(self.title))


def listed_chapters(rows: Any) -> tuple[Chapter, ...]:
    """Rows with start_time (seconds) and title as yt-dlp and ffprobe list them, in order of time; broken rows are left out."""
    found = []
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict):
            continue
        tags = row.get("tags")
        title = " ".join(str(row.get("title") or (tags.get("title") if isinstance(tags, dict) else "") or "").split())
        try:
            start = float(row.get("start_time", "nan"))
        except (TypeError, ValueError):
            continue
        if title and 0 <= start < float("inf"):
            found.append(Chapter(t_start=start, title=title[:300]))
    return tuple(sorted(found, key=lambda chapter: chapter.t_start)) if len(found) <= MAX_CHAPTERS else ()


def described_chapters(description: str) -> tuple[Chapter, ...]:
    """The time marks of a description, as YouTube reads them: at least three, the first at 0:00, each later than the one before.

    Source: https://support.google.com/youtube/answer/9884579
    """
    found: list[Chapter] = []
    for line in description.splitlines():
        match = _MARK.match(line.strip()[:300])
        if match is None:
            continue
        hours, minutes, seconds, title = match.groups()
        t = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
        if found and t <= found[-1].t_start:
            return ()
        found.append(Chapter(t_start=t, title=title.strip()))
    return tuple(found) if 3 <= len(found) <= MAX_CHAPTERS and found[0].t_start == 0 else ()


def borne_out(chapters: Sequence[Chapter], words: Sequence[Word], pauses: Sequence[tuple[float, float]]) -> bool:
    """Whether to believe the marks: they stand in `pauses` (between sentences, seconds), and what titles name is said there."""
    inner = [chapter for chapter in chapters if chapter.t_start > 0]
    if not inner or not words:
        return False
    set_well = [
        any(start - TOLERANCE_S <= chapter.t_start <= end + TOLERANCE_S for start, end in pauses) for chapter in inner
    ]
    named: list[bool] = []
    for index, chapter in enumerate(chapters):
        if chapter.paid or _PLAIN.match(chapter.title):
            continue
        end = chapters[index + 1].t_start if index + 1 < len(chapters) else float("inf")
        said = {_stem(word.text) for word in words if chapter.t_start - TOLERANCE_S <= word.start < end + TOLERANCE_S}
        named.append(bool(said & {_stem(word) for word in re.findall(r"\w{4,}", chapter.title)}))
    agreed = not named or sum(named) >= MIN_NAMED * len(named)
    return agreed and sum(set_well) >= MIN_SETTING * len(set_well)


def _stem(word: str) -> str:
    """The first letters, which inflection leaves alone: saving, save; Zeilen, Zeile."""
    return re.sub(r"\W", "", word.lower())[:4]
