"""What makes two candidates the same by their metadata: the site's own id, the title without decorations, the numbers in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from cuamaster.records.video import Video

MAX_TITLE = 400
"""Characters of a title that are read; the sites in use allow 100 (YouTube) or 80 (Bilibili), a feed anything."""

_SITES = (
    ("youtube", re.compile(r"(?:youtube\.com/(?:watch\?(?:[^#]*&)?v=|shorts/|embed/|live/)|youtu\.be/)([\w-]{11})")),
    ("bilibili", re.compile(r"bilibili\.com/video/((?:BV|av)\w+)(?:/?\?(?:[^#]*&)?p=(\d+))?", re.IGNORECASE)),
    ("tiktok", re.compile(r"tiktok\.com/@[^/]+/video/(\d+)")),
)
_BRACKETS = re.compile(r"[\[(【〔《「{<]([^\[\]()【】〔〕《》「」{}<>]*)[\])】〕》」}>]")
_QUALITY = re.compile(r"\b(?:full hd|hd|uhd|4k|8k|1080p|720p|60fps|1440p|2160p)\b")
_HASHTAG = re.compile(r"#(?!\d)\w+")
_PART = re.compile(r"\b(part|pt|episode|ep|lesson|chapter|teil|parte|vol|volume)\b\.?\s*#?\s*(\w+)")
_PART_WORDS = ("part", "pt", "ep", "lesson", "chapter", "teil", "vol")
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
_MARKS = "".join(chr(code) for code in range(0x300, 0x1E00) if unicodedata.category(chr(code)).startswith("M"))
"""Vowel signs and accents: part of a word in Hindi, Arabic or Thai, though `\\w` does not hold them."""
_NOT_WORD = re.compile(rf"(?<!\d)\.|\.(?!\d)|(?<![a-z0-9+])[+#](?!\d)|[^\w.+#{_MARKS}]", re.UNICODE)
"""What separates words: all but letters, digits, a point between digits (3.8), and the signs in `c++`, `c#`, `#2`."""
_UNSEEN = dict.fromkeys(
    code for code in (*range(0x20, 0x10000), *range(0xE0000, 0xE01F0)) if unicodedata.category(chr(code)) == "Cf"
)
_UNSEEN |= dict.fromkeys(range(0xFE00, 0xFE10))
"""Zero-width, direction and variation marks: two titles that look the same are the same."""
TAGS = frozenset(
    ["official", "official video", "new", "updated", "latest", "subtitles", "free", "full tutorial", "must watch", "video"]
)  # fmt: skip
_SLOT = re.compile(
    r"\d+(?:\.\d+)*|第?[一二三四五六七八九十百]+(?=[集课章节讲回話话部篇])|(?<!\w)[上中下](?!\w)|[上中下](?=[集篇部巻])|[a-z]\+\+|[a-z]#"
)
_NUMBERED = re.compile(r"[0-9+#]")
_PLAIN = re.compile(r"[A-Za-z0-9 ]*")


def identity(source: str, source_id: str, url: str) -> tuple[str, str]:
    """(site, id): the site's own id where the address shows it, so that one video found in two ways is one."""
    for site, pattern in _SITES:
        if site in url or (site == "youtube" and "youtu.be" in url):
            match = pattern.search(url)
            if match:
                part = match.group(2) if match.re.groups > 1 else None
                return site, match.group(1) + (f"?p={int(part)}" if part and int(part) != 1 else "")
    return source.lower(), source_id


def identity_of(video: Video) -> tuple[str, str]:
    """`identity` of a record."""
    return identity(video.source, video.source_id, video.url)


def normalized_title(title: str, *, uploader: str | None = None, tags: Iterable[str] = TAGS) -> str:
    """Title without case, width, decorations and punctuation; numbers, versions and parts stay, for they tell videos apart.

    >>> normalized_title("【HD】 Excel 2016 — Tutorial (Official) #shorts")
    'excel 2016 tutorial'
    """
    if title.isascii():
        text = title[:MAX_TITLE].lower()
    else:
        text = unicodedata.normalize("NFKC", title[:MAX_TITLE].translate(_UNSEEN)).casefold()
    if _PLAIN.fullmatch(text) is None:
        text = _bare(text, uploader, tags)
    if any(word in text for word in _PART_WORDS):  # costs a tenth of the pattern, and most titles have none
        text = _PART.sub(_part, text)
    if "hd" in text or "k" in text or "0" in text:
        text = _QUALITY.sub(" ", text)
    return " ".join(_NOT_WORD.sub(" ", text).split())


def _part(match: re.Match[str]) -> str:
    name, number = match[1], match[2]
    return f"{_PART_NAMES.get(name, name)} {_NUMBERS.get(number, number.lstrip('0') or number)}"


def _bare(text: str, uploader: str | None, tags: Iterable[str]) -> str:
    """Without brackets around nothing, the uploader's own name at an end, and hash tags."""
    ignored = tags if isinstance(tags, (set, frozenset)) else frozenset(tags)

    def unbracket(match: re.Match[str]) -> str:
        inside = " ".join(_QUALITY.sub(" ", match.group(1)).split())
        return " " if inside in ignored or not inside else f" {inside} "

    text = _BRACKETS.sub(unbracket, text)
    if uploader:
        owner = " ".join(unicodedata.normalize("NFKC", uploader[:MAX_TITLE]).casefold().split())
        if owner and owner in text:
            text = re.sub(
                rf"(?:\s*[|\-–—:•]\s*{re.escape(owner)}\s*$)|(?:^\s*{re.escape(owner)}\s*[|\-–—:•])", " ", text
            )
    return _HASHTAG.sub(" ", text) if "#" in text else text


def slots(key: str) -> tuple[str, ...]:
    """What must be equal in two titles of one video, in order: numbers, versions, parts, the sign of a language's name.

    >>> slots(normalized_title("Blender 3.6 tutorial, part II")), slots("excel 教程 第三集")
    (('3.6', '2'), ('第三',))
    """
    return tuple(_SLOT.findall(key)) if not key.isascii() or _NUMBERED.search(key) else ()
