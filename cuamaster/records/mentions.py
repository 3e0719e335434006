"""Finds the names of applications in text: one pattern over all names, and context words for names that are ordinary words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from cuamaster.records.record import Record

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
"""Full-width letters and blanks, as East Asian titles have them, to plain ones."""
_SCRIPTS = (
    ("latin", re.compile(r"[a-z0-9à-ɏ]"), "[a-z0-9à-ɏ]", "[a-z0-9à-ɏ]"),
    ("cyrillic", re.compile(r"[Ѐ-ӿ]"), "[Ѐ-ӿ]", "[Ѐ-ӿ]"),
    ("arabic", re.compile(r"[؀-ۿ]"), "[؀-ۿ]", "[؀-ۿ]"),
    ("devanagari", re.compile(r"[ऀ-ॿ]"), "[ऀ-ॿ]", "[ऀ-ॿ]"),
    ("katakana", re.compile(r"[ァ-ヺー]"), "[ァ-ヺー]", "[ァ-ヺー]"),
    ("hangul", re.compile(r"[가-힣]"), "[가-힣]", ""),  # particles follow a Korean name without a blank
)
"""Script, its letters, and what may not stand before or after a name that begins or ends with one of them."""
_FOREIGN = re.compile(r"[Ѐ-ӿ؀-ۿऀ-ॿ぀-ヿ一-鿿가-힣]")
_LATIN = re.compile(r"[a-zà-ɏ]")
_WORD = re.compile(r"[a-z0-9à-ɏ]+")


class Mention(Record):
    """One place where an application is named."""

    app: str
    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Spelling:
    """One way to write an application's name; an `ordinary` one is also a word of everyday language."""

    app: str
    name: str
    ordinary: bool


def plain(name: str) -> str:
    """Lower case, plain width, one blank for every run of blanks and hyphens: the form in which names are compared."""
    return " ".join(re.split(r"[\s-]+", lowered(name).strip()))


def lowered(text: str) -> str:
    """Lower case and plain width, of the same length as the text."""
    if text.isascii():
        return text.lower()
    low = text.translate(_WIDE).lower()
    return low if len(low) == len(text) else "".join(char.lower()[:1] for char in text.translate(_WIDE))


class NameFinder:
    """Finds names in texts. `spellings`: every way each application is written; `context`: application -> its context words.

    An ordinary word counts as a name only beside a context word (two, if it has a small letter that the application's name has
    not, in a text that has capitals) or another name of the same application, or, capitalized,
    in a text that is mostly of another script: "word" is no ordinary word of Japanese. Where several applications claim a
    name, the one with the most context words has it; if none has more than the others, nobody.
    """

    def __init__(self, spellings: Iterable[Spelling], context: Mapping[str, Iterable[str]]) -> None:
        self._owners: dict[str, dict[str, bool]] = {}
        self._small_names: set[str] = set()
        for spelling in spellings:
            self._owners.setdefault(plain(spelling.name), {})[spelling.app] = spelling.ordinary
            if spelling.name[0] == lowered(spelling.name)[0]:
                self._small_names.add(plain(spelling.name))
        self._squeezed = {name.replace(" ", ""): owners for name, owners in reversed(self._owners.items())}
        self._buckets: dict[str, list[str]] = {}
        for name in self._owners:
            for start in _beginnings(name):
                self._buckets.setdefault(start, []).append(name)
        letters = "".join(re.escape(start) for start in self._buckets if _WORD.match(start) is None)
        self._letters = re.compile(f"[{letters}]" if letters else r"(?!)")
        self._bucket = cache(lambda start: _any_of(self._buckets[start]))
        self._context = cache(lambda app: _context_pattern(context.get(app, ())))
        self._owners_of = lru_cache(4096)(self._find_owners)

    def find(self, text: str) -> list[Mention]:
        """Every place an application is named, left to right; the longest name wins where names overlap."""
        low = lowered(text)
        spans = self._spans(low)
        if not spans:
            return []
        matches = [(span, self._owners_of(low[span[0] : span[1]])) for span in spans]
        certain = {app for _, owners in matches for app, ordinary in owners.items() if not ordinary}

        @cache
        def hits(app: str) -> dict[str, tuple[int, int, int]]:
            words: dict[str, tuple[int, int, int]] = {}
            for match in self._context(app).finditer(low):
                words[match[1]] = (words.get(match[1], (0,))[0] + 1, match.start(), match.end())
            return words

        found = []
        mixed = text != low  # where people use capitals, a small letter says that the word is just a word
        for span, owners in matches:
            doubtful = mixed and text[span[0]] == low[span[0]] and not self._small(text[span[0] : span[1]])
            app = _decide(owners, certain, hits, span, 2 if doubtful else 1) or _alone(owners, text, low, span)
            if app:
                found.append(Mention(app=app, name=text[span[0] : span[1]], start=span[0], end=span[1]))
        return found

    def _spans(self, low: str) -> list[tuple[int, int]]:
        """Where names stand. They are kept by the Latin word or else the letter they begin with, so most words cost one look-up."""
        starts = [word for word in _WORD.finditer(low) if word.group() in self._buckets]
        if not low.isascii():
            starts = sorted([*starts, *self._letters.finditer(low)], key=lambda start: start.start())
        matches = (self._bucket(start.group()).match(low, start.start()) for start in starts)
        found = [match.span() for match in matches if match]
        kept: list[tuple[int, int]] = []
        for span in found:
            if not kept or span[0] >= kept[-1][1]:
                kept.append(span)
        return kept

    def _small(self, matched: str) -> bool:
        """Whether the application itself writes this name with a small letter or a digit first: kitty, nano, tar."""
        return plain(matched) in self._small_names

    def _find_owners(self, matched: str) -> dict[str, bool]:
        name = plain(matched)
        return self._owners.get(name) or self._squeezed[name.replace(" ", "")]


Hits = Callable[[str], Mapping[str, tuple[int, int, int]]]
"""Application -> each of its context words in the text -> how often it comes, and where it stood last."""


def _decide(owners: Mapping[str, bool], certain: set[str], hits: Hits, span: tuple[int, int], least: int) -> str | None:
    """Whose name it is; an ordinary word needs `least` different context words."""
    sure = [app for app, ordinary in owners.items() if not ordinary or app in certain]
    if sure:
        return sure[0]
    counted = sorted(((_outside(hits(app), span), app) for app in owners), key=lambda hit: -hit[0])
    if counted[0][0] < least or (len(counted) > 1 and counted[0][0] == counted[1][0]):
        return None
    return counted[0][1]


def _outside(hits: Mapping[str, tuple[int, int, int]], span: tuple[int, int]) -> int:
    """Number of different context words beside the span: those that come more often, or stand elsewhere."""
    return sum(count > 1 or end <= span[0] or start >= span[1] for count, start, end in hits.values())


def _alone(owners: Mapping[str, bool], text: str, low: str, span: tuple[int, int]) -> str | None:
    """Nobody's ordinary word: capitalized in a text that is mostly of another script."""
    if len(owners) > 1 or not text[span[0]].isupper() or low.isascii():
        return None
    foreign = len(_FOREIGN.findall(low))
    return next(iter(owners)) if foreign and foreign >= len(_LATIN.findall(low)) - (span[1] - span[0]) else None


def _beginnings(name: str) -> set[str]:
    """First Latin words a text can have where this name begins, for blanks in names may be left out: vs, vscode; else its letter."""
    if _WORD.match(name) is None:
        return {name[0]}
    words = name.split(" ")
    joined = ("".join(words[: count + 1]) for count in range(len(words)))
    return {match.group() for match in map(_WORD.match, joined) if match}


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    """The longest of the names that begins at a place and is not a part of a longer word."""
    parts = []
    for name in sorted(names, key=lambda name: (-len(name.replace(" ", "")), name)):
        body = re.escape(name).replace(r"\ ", r"[\s-]*")
        parts.append(f"{_boundary(name[0], before=True)}{body}{_boundary(name[-1], before=False)}")
    return re.compile("|".join(parts) if parts else r"(?!)")


def _context_pattern(words: Iterable[str]) -> re.Pattern[str]:
    body = "|".join(re.escape(lowered(word)) for word in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![a-z0-9])({body})s?(?![a-z0-9])" if body else r"(?!)()")


def _boundary(char: str, *, before: bool) -> str:
    """What keeps a name from being found inside a longer word: by the script of its first or last character."""
    for _, letters, not_before, not_after in _SCRIPTS:
        if letters.match(char):
            forbidden = not_before if before else not_after
            return (f"(?<!{forbidden})" if before else f"(?!{forbidden})") if forbidden else ""
    return "" if before or re.match(r"[぀-ヿ一-鿿]", char) else "(?![a-z0-9])"
