"""Reads again, by meaning, the titles on which the scorer is undecided: kernel ridge regression over vectors of a language model, and the scorer's word.

A text is compared with every labelled one (RBF kernel), and each of these votes for or against a tutorial and each other kind, so that a turn of
phrase nobody wrote down counts by the ones it is close to, in any language of the model. Weights are in second_reader.npz, made by
scripts/train_second_reader.py; nothing is unpickled. It costs a thousand times what the scorer does, nearly all of it for the vectors.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cuamaster.ports import Vectors
from cuamaster.seeding.scorer import KINDS, NAME, Floats, shipped_weights

WIDTH = 1.0
"""Factor of the squared distance in the kernel; distances are between vectors of length 1, less the mean of the labelled ones."""
CALLED = "software"
"""Stands for the name of an application, in all languages."""
ABOUT_LENGTH = 200
"""Characters of a description that are read."""


def text_of(title: str, about: str) -> str:
    """What is turned into a vector: the title and the start of the description, both as `masked` gives them, with a plain word for the names:
    the model knows few applications, and in none of them an ordinary word ("Blender", "Teams")."""
    title, about = title.replace(NAME, CALLED), about.replace(NAME, CALLED)[:ABOUT_LENGTH].strip()
    return f"{title}\n{about}" if about else title


def centred(vectors: npt.NDArray[np.floating], mean: npt.NDArray[np.floating]) -> Floats:
    """Rows less the mean, of length 1: vectors of a language model lie close together, what they have in common tells nothing."""
    apart = vectors.astype(np.float64) - mean
    return np.asarray(apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-9), np.float64)


def kernel(one: Floats, other: Floats) -> Floats:
    """exp(-WIDTH d^2) [n, m] of rows of length 1."""
    return np.exp(2 * WIDTH * (one @ other.T - 1))


@dataclass(frozen=True)
class SecondReader:
    """`known` [n, dimensions] rows of length 1 around `mean`, `votes` [n, 1 + len(KINDS)] (a tutorial, then each kind); `calibration`: factors of
    the votes' sum and of the scorer's log-odds, and a shift."""

    known: Floats
    mean: Floats
    votes: Floats
    calibration: Floats

    def read(self, vectors: Vectors, margins: Floats) -> tuple[Floats, list[str]]:
        """(probability [n] to be a tutorial, what it is most likely if it is none). `vectors` of `text_of`, `margins` of the scorer."""
        sums = kernel(centred(vectors, self.mean), self.known) @ self.votes
        by_meaning, by_words, shift = self.calibration
        likely = 1 / (1 + np.exp(-(by_meaning * sums[:, 0] + by_words * margins + shift)))
        return likely, [KINDS[index] for index in sums[:, 1:].argmax(axis=1)]


@functools.cache
def load_second_reader() -> SecondReader:
    """The weights that ship with the package."""
    data = shipped_weights("second_reader.npz")
    return SecondReader(
        known=centred(data["known"], np.zeros(1)), mean=data["mean"].astype(np.float64),
        votes=data["votes"].astype(np.float64), calibration=data["calibration"].astype(np.float64),
    )  # fmt: skip
