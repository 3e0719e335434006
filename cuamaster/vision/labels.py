"""Labels as they are said and as they are shown: when two are the same, and where in a longer text one stands."""

from __future__ import annotations

import re

from rapidfuzz.distance import Levenshtein

from cuamaster.records.trajectory import TextBox
from cuamaster.vision.reading import skeleton
from cuamaster.vision.text_layout import word_box

_ACCELERATOR = re.compile(
    r"\s+(?:(?:shift|ctrl|control|alt|super|meta|win|cmd)\s*\+\s*)+\S{1,9}\s*$|\s+f\d{1,2}$", re.IGNORECASE
)
_DOTS = re.compile(r"(?:\.{2,}|…|\s*:)\s*$")
_MNEMONIC = re.compile(r"(?<=[^\x00-\u024f])\s*[(（]\s*[A-Z0-9]\s*[)）](?=\s*(?:\.|…|:|：|$))")
"""An access key behind the label, as translated programs write it where the script has no Latin letters: `文件(F)`."""
_LEADING_MARK = re.compile(r"^[^\w\s]{1,2}\s+|^[口□☐☑✓√]\s*")
_UNDERLINED = ({"e", "f"}, {"i", "t"}, {"c", "g"}, {"b", "h"})
"""First letters that an underline, marking a menu's access key, turns into each other."""


def label(text: str) -> str:
    """A label without accelerator, dots, colon and leading marks, in the form in which look-alikes are equal."""
    plain = _LEADING_MARK.sub("", _ACCELERATOR.sub("", text.strip()))
    return skeleton(_DOTS.sub("", _MNEMONIC.sub("", plain)).replace("_", ""))


def as_shown(text: str) -> str:
    """A label as it stands there, without accelerator, dots and colon."""
    return _DOTS.sub("", _ACCELERATOR.sub("", text)).strip()


def similarity(wanted: str, shown: str) -> float:
    """How well a shown label fits a wanted one: 1 equal, 0.8 and more for a few misread letters, else 0."""
    a, b = label(wanted), label(shown)
    if not a or not b:
        return 0.0
    if a == b or a.replace(" ", "") == b.replace(" ", ""):
        return 1.0
    if len(a) == len(b) >= 4 and a[1:] == b[1:] and {a[0], b[0]} in _UNDERLINED:
        return 0.75
    ratio = float(Levenshtein.normalized_similarity(a, b))
    return ratio * 0.95 if ratio >= 0.8 and min(len(a), len(b)) >= 4 and not _another(wanted, shown, a, b) else 0.0


def _another(wanted: str, shown: str, a: str, b: str) -> bool:
    """Nearly the same letters, but another thing: other digits (Sheet1, Sheet2) or another short word (Sort A, Sort B)."""
    if re.findall(r"\d+", wanted) != re.findall(r"\d+", shown):
        return True
    ours, theirs = a.split(), b.split()
    return len(ours) == len(theirs) and any(
        x != y and max(len(x), len(y)) <= 3 for x, y in zip(ours, theirs, strict=True)
    )


def part_of(box: TextBox, wanted: str) -> TextBox | None:
    """The words of a longer box that are the wanted ones."""
    shown, plain = skeleton(box.text), label(wanted)
    if not plain or len(shown) != len(box.text):
        return None
    match = re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", shown)
    return None if match is None else word_box(box, match.start(), match.end())
