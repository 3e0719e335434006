"""Whether a text can be read among OCR boxes: forgiving where a reader errs, strict where forgiving would lie.

Forgiven: case, kinds of quotes and dashes, blanks lost or invented, characters that look alike (O and 0, l and 1 and I) and, in
texts of ten letters and more, one wrong letter in ten. Never forgiven: another digit, a sign or decimal point beside a
number, a missing or extra character in a short text, or a text that is only the inner part of a longer word or number. A text
cursor right behind a word of five letters or more may be read as a final l.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein
from rapidfuzz.fuzz import partial_ratio_alignment

from cuamaster.records.trajectory import TextBox

_ALIKE = str.maketrans({"o": "0", "q": "0", "l": "1", "i": "1", "|": "1", "!": "1", "`": "'", "\u2018": "'", "\u2019": "'",
                        "\u201c": '"', "\u201d": '"', "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-",
                        "\u2014": "-", "\u2212": "-", "\u00d7": "x", "\u2044": "/", "\u2215": "/", ";": ":"})  # fmt: skip
_LETTERS_A_FAULT = 10
_WORD = re.compile(r"\w")
_JOINED_BEFORE = re.compile(r"[-+]$|\d[.,]$")
_JOINED_AFTER = re.compile(r"[.,]\d")
_CARET = re.compile(r"(?<=[^\W\d_]{5})[lI|](?=\s|$)")


class _Wanted(NamedTuple):
    """One line to look for: its skeleton, and whether it begins or ends with a digit as written."""

    line: str
    number_first: bool
    number_last: bool


def skeleton(text: str) -> str:
    """Text in the form in which look-alikes are equal; blanks are kept as single ones."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_ALIKE)
    return re.sub(r"\s+", " ", folded).strip()


def lines_of(boxes: Sequence[TextBox]) -> list[list[TextBox]]:
    """Boxes grouped into lines from top to bottom, each from left to right."""
    lines: list[list[TextBox]] = []
    for box in sorted(boxes, key=lambda b: b.center[1]):
        height = box.y1 - box.y0
        for line in lines[-3:]:
            other = line[0]
            if abs(other.center[1] - box.center[1]) < 0.5 * min(height, other.y1 - other.y0):
                line.append(box)
                break
        else:
            lines.append([box])
    return [sorted(line, key=lambda b: b.x0) for line in lines]


def _passages(boxes: Sequence[TextBox]) -> Iterator[str]:
    lines = lines_of(boxes)
    for box in boxes:
        yield box.text
    for line in lines:
        if len(line) > 1:
            yield " ".join(box.text for box in line)
    yield " ".join(box.text for line in lines for box in line)  # a text that wraps


def _stands_alone(wanted: _Wanted, passage: str, start: int, end: int) -> bool:
    """No letter or digit goes on at either end, and no sign, point or comma joins it to a number there."""
    before, after = passage[:start], passage[end:]
    if _WORD.match(passage[start]) and before and (_WORD.match(before[-1]) or (wanted.number_first and _JOINED_BEFORE.search(before))):
        return False
    return not (_WORD.match(passage[end - 1]) and after and (_WORD.match(after[0]) or (wanted.number_last and _JOINED_AFTER.match(after))))


def _digits(text: str) -> str:
    # l, I and O were mapped to digits: only digits that stand in a number count
    return "".join(re.findall(r"(?<![a-z\d])\d+(?![a-z\d])", text))


def _exact(wanted: _Wanted, passage: str) -> bool:
    pattern = r"\s*".join(re.escape(char) for char in wanted.line if char != " ")
    return any(_stands_alone(wanted, passage, *match.span()) for match in re.finditer(pattern, passage))


def _close(wanted: _Wanted, passage: str) -> bool:
    line = wanted.line
    allowed = len(line.replace(" ", "")) // _LETTERS_A_FAULT
    if allowed == 0 or len(passage) < len(line) - allowed:
        return False
    found = partial_ratio_alignment(line, passage)
    if found is None:
        return False
    for start in range(max(0, found.dest_start - 1), found.dest_start + 2):
        for end in range(found.dest_end - 1, min(len(passage), found.dest_end + 1) + 1):
            if start >= end or not _stands_alone(wanted, passage, start, end):
                continue
            window = passage[start:end]
            if _digits(window) == _digits(line) and Levenshtein.distance(line, window, score_cutoff=allowed) <= allowed:
                return True
    return False


def can_be_read(text: str, boxes: Sequence[TextBox]) -> bool:
    """Whether every line of `text` is shown: alone in a box, within a line, or across wrapped lines."""
    raw = list(_passages(boxes))
    passages = [skeleton(passage) for passage in [*raw, *(_CARET.sub("", passage) for passage in raw if _CARET.search(passage))]]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wanted = [_Wanted(skeleton(line), line[0].isdigit(), line[-1].isdigit()) for line in lines]
    return bool(wanted) and all(any(_exact(line, p) or _close(line, p) for p in passages) for line in wanted)
