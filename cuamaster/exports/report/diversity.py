"""How diverse a dataset's instructions are: embeddings laid out by t-SNE, beside those of other datasets, and three plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cuamaster.exports.report.plots import Point
from cuamaster.ports import Embedder, Vectors

OWN_POINTS, OTHER_POINTS = 1000, 600
"""Instructions on the map: of the dataset, and of each other one. They come as a uniform sample."""
LEAST_POINTS = 5
COVERED = 0.7
"""Cosine from which an instruction of another dataset has a neighbour in this one."""


@dataclass(frozen=True)
class Diversity:
    """The map and its numbers; `nearest`: mean cosine of each instruction to its nearest other one, lower is more diverse."""

    points: tuple[Point, ...]
    series: tuple[tuple[str, bool], ...]
    """(name, foreign) in the order of the points' series numbers."""
    nearest: float
    coverage: Mapping[str, float]
    """Other dataset -> share of its instructions that have a neighbour here."""


def diversity(
    own: Sequence[tuple[str, str]], others: Mapping[str, Sequence[str]], embedder: Embedder, *, seed: int = 0
) -> Diversity | None:
    """Map (configuration, instruction) pairs and the instructions of other datasets; None for too few to lay out.

    Equal instructions of one series are one dot. The same input gives the same map.
    """
    named = [(name, text, False) for name, text in dict.fromkeys(own)][:OWN_POINTS]
    for other, texts in others.items():
        named += [(other, text, True) for text in list(dict.fromkeys(texts))[:OTHER_POINTS]]
    if len(named) < LEAST_POINTS:
        return None
    series = list(dict.fromkeys((name, foreign) for name, _, foreign in named))
    vectors = embedder.embed([text for _, text, _ in named])
    mine = vectors[[index for index, (_, _, foreign) in enumerate(named) if not foreign]]
    coverage = {}
    for other in others:
        theirs = vectors[[index for index, (name, _, foreign) in enumerate(named) if foreign and name == other]]
        if len(theirs) and len(mine):
            coverage[other] = float(((theirs @ mine.T).max(axis=1) >= COVERED).mean())
    points = tuple(
        Point(float(x), float(y), series.index((name, foreign)), f"{name}: {text}", foreign)
        for (x, y), (name, text, foreign) in zip(_layout(vectors, seed), named, strict=True)
    )
    return Diversity(points, tuple(series), _nearest(mine), coverage)


def _nearest(vectors: Vectors) -> float:
    if len(vectors) < 2:
        return 0.0
    close = vectors @ vectors.T
    np.fill_diagonal(close, -1)
    return float(close.max(axis=1).mean())


def _layout(vectors: Vectors, seed: int) -> Vectors:
    """(n, 2) by t-SNE from a PCA start (van der Maaten and Hinton 2008; scikit-learn's Barnes-Hut)."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    return np.asarray(
        TSNE(2, perplexity=perplexity, init="pca", random_state=seed, n_jobs=1).fit_transform(vectors), np.float32
    )
