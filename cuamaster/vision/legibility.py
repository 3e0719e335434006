"""How well a screen can be read, and in which language its interface is, from the lines that a reader found on it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from cuamaster.records.trajectory import TextBox

_LETTERS = re.compile(r"[^\W\d_]{2,}")
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")), ("ko", re.compile(r"[\uac00-\ud7af]")), ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")), ("ar", re.compile(r"[\u0600-\u06ff]")), ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")), ("el", re.compile(r"[\u0370-\u03ff]")), ("he", re.compile(r"[\u0590-\u05ff]")),
)  # fmt: skip
_ENOUGH = 0.15
"""Share of a script among the letters that tells the language: program names and file names are Latin everywhere."""


@dataclass(frozen=True)
class Reading:
    """Lines with letters, their words, median height in pixels and median confidence 0-1, and the language ('' unknown)."""

    lines: int
    words: int
    height: float
    confidence: float
    language: str


def reading_of(boxes: Sequence[TextBox]) -> Reading:
    """What the boxes of one or more screens say; lines without a word of two letters do not count."""
    told = [(box, _LETTERS.findall(box.text)) for box in boxes]
    lines = [(box, words) for box, words in told if words]
    if not lines:
        return Reading(0, 0, 0.0, 0.0, "")
    words = [word for _, found in lines for word in found]
    return Reading(
        lines=len(lines), words=len(words), height=float(median(box.y1 - box.y0 for box, _ in lines)),
        confidence=float(median(box.score for box, _ in lines)), language=language_of(words),
    )  # fmt: skip


def language_of(words: Sequence[str]) -> str:
    """The language of an interface's words, by its script or by a language model over all of them; '' for too few."""
    text = " ".join(dict.fromkeys(words))
    letters = max(1, sum(char.isalpha() for char in text))
    for language, script in _SCRIPTS:  # Japanese is told by its syllables before Chinese by the characters they share
        if len(script.findall(text)) / letters >= _ENOUGH:
            return language
    return ""
