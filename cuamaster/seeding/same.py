"""Whether two candidates with nearly the same title are one recording: an edit of the title, or another task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

ALIKE = 75.0
"""Least ratio (0-100) of two titles worth a closer look."""
TYPO = 74.0
"""Two words at least this alike are one word spelled twice: tutoral, tutorial; colours, colors. Not: row, column."""
SECONDS, SHARE = 2.0, 0.01
"""Durations of one recording on two sites: frames lost at the ends, a container's rounding."""
SAME_TEXT = 85.0
MIN_TEXT = 60
"""Characters from which a description tells one video from others."""
FILLERS = frozenset(
    [
        "a",
        "an",
        "the",
        "in",
        "on",
        "for",
        "of",
        "to",
        "and",
        "with",
        "your",
        "my",
        "this",
        "how",
        "using",
        "use",
        "tutorial",
        "video",
        "full",
        "complete",
        "new",
        "latest",
        "best",
        "easy",
        "quick",
        "easily",
        "quickly",
        "official",
        "free",
        "hd",
        "reupload",
        "repost",
        "der",
        "die",
        "das",
        "und",
        "mit",
        "für",
        "ein",
        "eine",
        "el",
        "la",
        "los",
        "las",
        "de",
        "del",
        "en",
        "para",
        "con",
        "y",
        "の",
        "を",
        "で",
        "に",
        "は",
        "が",
        "的",
        "了",
        "最新",
        "完整",
        "高清",
        "转载",
        "搬运",
    ]
)


def same_recordings(
    key_a: Sequence[str], key_b: Sequence[str], about_a: Sequence[str], about_b: Sequence[str],
    duration_a: npt.NDArray[np.float32], duration_b: npt.NDArray[np.float32], one_owner: npt.NDArray[np.bool_],
) -> npt.NDArray[np.bool_]:  # fmt: skip
    """For pairs of candidates with equal slots: is it one recording? Durations in seconds, -1 where unknown."""
    verdict = np.zeros(len(key_a), np.bool_)
    if not len(key_a):
        return verdict
    alike = process.cpdist(key_a, key_b, scorer=fuzz.token_sort_ratio, score_cutoff=ALIKE, workers=-1)
    known = (duration_a >= 0) & (duration_b >= 0)
    near = known & (np.abs(duration_a - duration_b) <= np.maximum(SECONDS, SHARE * duration_a))
    for index in np.flatnonzero(alike).tolist():
        change = title_change(key_a[index], key_b[index])
        if change == "replaced":
            continue
        texts = about_a[index], about_b[index]
        if known[index]:
            verdict[index] = near[index] or (not one_owner[index] and _same_text(*texts))
        else:
            verdict[index] = change == "none" or (not one_owner[index] and _same_text(*texts))
    return verdict


def title_change(one: str, two: str) -> str:
    """What was edited between two normalized titles: `none` (order, typing errors, filler words), `added` words, `replaced` words.

    >>> title_change("insert a row in excel", "insert a column in excel"), title_change("gimp layers tutorial", "gimp layer tutoral")
    ('replaced', 'none')
    """
    left, right = one.split(), two.split()
    if max(len(left), len(right)) <= 2 and not (one + two).isascii():  # written without blanks: compare characters
        return _characters("".join(left), "".join(right))
    only_left, only_right = _without(left, right), _without(right, left)
    for word in list(only_left):
        match = next((other for other in only_right if _one_word(word, other)), None)
        if match is not None:
            only_left.remove(word)
            only_right.remove(match)
    if "".join(only_left) == "".join(only_right):  # power point, powerpoint
        return "none"
    only_left, only_right = ([word for word in only if word not in FILLERS] for only in (only_left, only_right))
    if only_left and only_right:
        return "replaced"
    return "added" if only_left or only_right else "none"


def _characters(one: str, two: str) -> str:
    tags = {step.tag for step in Levenshtein.opcodes(one, two)} - {"equal"}
    if "replace" in tags or tags == {"insert", "delete"}:
        return "replaced"
    return "added" if tags else "none"


def _without(words: list[str], others: list[str]) -> list[str]:
    rest = list(others)
    found = []
    for word in words:
        if word in rest:
            rest.remove(word)
        else:
            found.append(word)
    return found


def _one_word(one: str, two: str) -> bool:
    """Spelled differently by an error of typing; in Chinese, Japanese and Korean another character is another word."""
    return (
        len(one) == _letters(one)
        and len(one) > 3
        and len(two) > 3
        and one[0] == two[0]
        and len(two) == _letters(two)
        and fuzz.ratio(one, two) >= TYPO
    )


def _same_text(one: str, two: str) -> bool:
    return min(_letters(one), _letters(two)) >= MIN_TEXT and fuzz.ratio(one, two, score_cutoff=SAME_TEXT) > 0


def _letters(text: str) -> int:
    """Length in letters: a Chinese, Japanese or Korean character says as much as two."""
    return len(text) if text.isascii() else sum(2 if "\u2e80" <= char <= "\ud7ff" else 1 for char in text)
