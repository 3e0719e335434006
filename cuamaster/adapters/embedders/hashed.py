"""Embedder without a model: words and pairs of words hashed to places. It knows shared words, not meanings; quick and always there."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from cuamaster.ports import Vectors

DIMENSIONS = 512


class HashedEmbedder:
    """The hashing trick (Weinberger et al. 2009) with signs, so that collisions cancel out on average."""

    name = "hashed-words"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), 512) float32, rows of length 1."""
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in enumerate(texts):
            words = text.casefold().split()
            for gram in ["", *words, *(" ".join(pair) for pair in pairwise(words))]:
                code = zlib.crc32(gram.encode(errors="surrogatepass"))
                vectors[row, code % DIMENSIONS] += 1 if code >> 31 else -1
            if not vectors[row].any():  # every gram met its opposite
                vectors[row, 0] = 1
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
