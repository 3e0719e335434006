"""Whether a text can be read among OCR boxes: forgiving where a reader errs, strict where forgiving would lie.

Forgiven: case, kinds of quotes and dashes, blanks lost or invented, characters that look alike (O and 0, l and 1 and I, g and q)
and one wrong letter in a word of six letters or more, if that is no more than one letter in ten of the text. Never forgiven:
another digit, a sign or decimal point beside a number, a wrong letter in a short word, or a text that is only the inner part of a
longer word or number. An editor's line number may be read as part of the line that it stands before, if that has two words or
more. A text cursor at either end of a word of five letters or more, or of a line of three words or more, may be read as an l or
I, and as a bar anywhere at an end.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from cuamaster.records.trajectory import TextBox

_ALIKE = str.maketrans({"o": "0", "q": "g", "l": "1", "i": "1", "|": "1", "!": "1", "`": "'", "\u2018": "'", "\u2019": "'",
                        "\u201c": '"', "\u201d": '"', "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-",
                        "\u2014": "-", "\u2212": "-", "\u00d7": "x", "\u2044": "/", "\u2215": "/", ";": ":"})  # fmt: skip
_LETTERS_A_FAULT = 10
_LONG_WORD = 6
_MANY = 1000
_WORD = re.compile(r"\w")
_JOINED_BEFORE = re.compile(r"[-+]$|\d[.,]$")
_JOINED_AFTER = re.compile(r"[.,]\d")
_CARET = re.compile(r"(?<=[^\W\d_]{5})[lI|](?=\s|$)|^[lI|](?=[^\W\d_]{5}|[^\W\d_]{2,}\s+\w)|^\||\|$")
_GUTTER = re.compile(r"\d{1,5}")
_CARET_AT_LINE_END = re.compile(r"^(.*\w\s+\w+\s+[^\W\d_]{2,})[lI]$")


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
    if _GUTTER.fullmatch(before) and not wanted.number_first and " " in wanted.line:
        before = ""
    if (
        _WORD.match(passage[start])
        and before
        and (_WORD.match(before[-1]) or (wanted.number_first and _JOINED_BEFORE.search(before)))
    ):
        return False
    return not (
        _WORD.match(passage[end - 1])
        and after
        and (_WORD.match(after[0]) or (wanted.number_last and _JOINED_AFTER.match(after)))
    )


def _exact(wanted: _Wanted, passage: str) -> bool:
    pattern = r"\s*".join(re.escape(char) for char in wanted.line if char != " ")
    return any(_stands_alone(wanted, passage, *match.span()) for match in re.finditer(pattern, passage))


def _close(wanted: str, passage: str) -> bool:
    """Word by word, with at most one wrong letter in a long word without digits, and not more than one in ten letters."""
    words, shown = wanted.split(), passage.split()
    allowed = len("".join(words)) // _LETTERS_A_FAULT
    for start in range(len(shown) - len(words) + 1):
        faults = 0
        for word, other in zip(words, shown[start:], strict=False):
            faults += _faults(word, other)
            if faults > allowed:
                break
        else:
            return True
    return False


def _faults(word: str, shown: str) -> int:
    """0 for alike, 1 for one wrong letter in a long word, many for anything else."""
    a, b = skeleton(word), skeleton(shown)
    if a == b or a == b.rstrip(".,:!?'\"") or a == b.strip("'\"()"):
        return 0
    if (
        len(a) < _LONG_WORD
        or any(char.isdigit() for char in word + shown)
        or Levenshtein.distance(a, b, score_cutoff=1) > 1
    ):
        return _MANY
    return 1


def can_be_read(text: str, boxes: Sequence[TextBox]) -> bool:
    """Whether every line of `text` is shown: alone in a box, within a line, or across wrapped lines."""
    raw = list(_passages(boxes))
    without = [box.model_copy(update={"text": _without_caret(box.text)}) for box in boxes]
    if without != list(boxes):
        raw += _passages(without)
    plain = [skeleton(passage) for passage in raw]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return bool(lines) and all(
        any(_exact(_wanted(line), p) for p in plain) or any(_close(line, p) for p in raw) for line in lines
    )


def _without_caret(text: str) -> str:
    """A box's text as it would be if what may be a text cursor in it is one."""
    plain = _CARET.sub("", text.strip())
    return _CARET_AT_LINE_END.sub(r"\1", plain) if plain == text.strip() else plain


def _wanted(line: str) -> _Wanted:
    return _Wanted(skeleton(line), line[0].isdigit(), line[-1].isdigit())
