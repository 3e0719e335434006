"""How likely a title and description promise an operated screen, and if not, what they are instead: a logistic model over hashed characters.

The weights are in scorer.npz, made by scripts/train_scorer.py from labelled titles and turns of phrase; nothing is unpickled. Runs of
1-5 characters are features, so that scripts without blanks, endings and typing errors need no tokenizer; names of applications are
replaced by one sign before, so that the model cannot learn which applications the labelled titles were about.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from cuamaster.seeding.sketch import Offsets, runs

NAME = "\ue000"
"""Stands for the name of an application."""
BITS = 18
TITLE_SIZES, ABOUT_SIZES = (1, 2, 3, 4, 5), (4,)
TITLE_LENGTH, ABOUT_LENGTH = 110, 120
"""Characters read; beyond them stand hash tags and links."""
KINDS = (
    "promotion", "entertainment", "gameplay", "reaction", "language-lesson", "news", "review", "slides", "talking-head", "only-mentioned",
)  # fmt: skip
"""What a video is that is no tutorial: the reason it is dropped for."""
_DIGITS = str.maketrans("123456789", "000000000")
_SPREAD = np.uint64(0xD6E8FEB86659FD93)
_WORD = re.compile(r"[⺀-ヿ㐀-鿿가-힣]{2}|[^\W⺀-ヿ㐀-鿿가-힣]+")

Floats = npt.NDArray[np.float64]


def plain(text: str, length: int) -> str:
    """Text as the model sees it: width and case folded, every digit 0, one blank at both ends."""
    head = text[:length]
    head = head.lower() if head.isascii() else unicodedata.normalize("NFKC", head).casefold()
    words = head.translate(_DIGITS).split()
    return f" {' '.join(words)} " if words else ""


def features(texts: Sequence[str], sizes: Sequence[int], salt: int) -> list[tuple[Offsets, Offsets]]:
    """(indices, offsets) of the hashed runs of each size; text i owns indices[offsets[i]:offsets[i + 1]]."""
    return [
        ((((values + np.uint64(salt * 16 + size)) * _SPREAD) >> np.uint64(64 - BITS)).astype(np.int64), offsets)
        for size, (values, offsets) in zip(sizes, runs(texts, sizes), strict=True)
    ]


@dataclass(frozen=True)
class Sums:
    """Features of a batch, ready to be weighed: one weight table gives one number a text."""

    parts: list[list[tuple[Offsets, Offsets]]]
    size: int

    def dot(self, weights: npt.NDArray[np.floating]) -> Floats:
        """Sum of the weights of a text's features over the root of their number, title and description apart."""
        total = np.zeros(self.size)
        for group in self.parts:
            sums, count = np.zeros(self.size), np.zeros(self.size)
            for indices, offsets in group:
                lengths = np.diff(offsets)
                full = np.flatnonzero(lengths)
                if len(full):
                    sums[full] += np.add.reduceat(weights[indices], offsets[:-1][full], dtype=np.float64)
                count += lengths
            total += sums / np.sqrt(np.maximum(count, 1))
        return total


def sums(titles: Sequence[str], abouts: Sequence[str]) -> Sums:
    """Features of titles and descriptions (application names already replaced)."""
    return Sums(
        [
            features([plain(title, TITLE_LENGTH) for title in titles], TITLE_SIZES, 0),
            features([plain(about, ABOUT_LENGTH) for about in abouts], ABOUT_SIZES, 1),
        ],
        len(titles),
    )


@dataclass(frozen=True)
class Scorer:
    """Weights: `teaches` [2^BITS] for being a tutorial, `kinds` [len(KINDS), 2^BITS] for what else it may be; scale and shift calibrate."""

    teaches: npt.NDArray[np.float32]
    kinds: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float64]
    scale: float
    shift: float

    def margin(self, titles: Sequence[str], abouts: Sequence[str]) -> Floats:
        """Log-odds [n] that a text is a tutorial's, calibrated."""
        return self.scale * sums(titles, abouts).dot(self.teaches) + self.shift

    def score(self, titles: Sequence[str], abouts: Sequence[str]) -> Floats:
        """Probability [n] that a text is a tutorial's, calibrated."""
        return 1 / (1 + np.exp(-self.margin(titles, abouts)))

    def kind(self, titles: Sequence[str], abouts: Sequence[str]) -> list[str]:
        """What each text is most likely if it is no tutorial's."""
        seen = sums(titles, abouts)
        rows = np.stack([seen.dot(row) + bias for row, bias in zip(self.kinds, self.bias, strict=True)])
        return [KINDS[index] for index in rows.argmax(axis=0)]

    def evidence(self, titles: Sequence[str], count: int = 3) -> list[list[str]]:
        """For each title the words (or pairs of characters where there are no blanks) that speak most against a tutorial."""
        words = [list(dict.fromkeys(_WORD.findall(plain(title.replace(NAME, " "), TITLE_LENGTH)))) for title in titles]
        every = [word for found in words for word in found]
        weight = iter(sums(every, [""] * len(every)).dot(self.teaches).tolist() if every else [])
        ranked = [sorted((next(weight), word) for word in found) for found in words]
        return [[word for value, word in found[:count] if value < 0] for found in ranked]


def shipped_weights(name: str) -> dict[str, npt.NDArray[Any]]:
    """Arrays of a file of weights that ships with this package, by name."""
    with resources.files(__package__).joinpath(name).open("rb") as file, np.load(file, allow_pickle=False) as data:
        return dict(data)


@functools.cache
def load_scorer() -> Scorer:
    """The weights that ship with the package."""
    data = shipped_weights("scorer.npz")
    return Scorer(
        teaches=data["teaches"].astype(np.float32) * np.float32(data["unit"][0]),
        kinds=data["kinds"].astype(np.float32) * np.float32(data["unit"][1]),
        bias=data["bias"], scale=float(data["calibration"][0]), shift=float(data["calibration"][1]),
    )  # fmt: skip
