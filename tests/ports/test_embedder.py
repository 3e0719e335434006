"""The conformance suite of the Embedder port."""

from __future__ import annotations

import numpy as np
import pytest

from cuamaster.adapters.embedders.e5 import E5Embedder
from cuamaster.adapters.embedders.hashed import HashedEmbedder
from cuamaster.adapters.embedders.minilm import MiniLmEmbedder
from cuamaster.ports import Embedder

TEXTS = [
    "Save the file as report.txt",
    "Sort column B",
    "Save the file as report.txt",
    "",
    "日本語 ☃ \ud800",
    "ends\0here",
    "\ufdfa" * 300,
    "word " * 3000,
]


@pytest.fixture(scope="module", params=[HashedEmbedder, MiniLmEmbedder, E5Embedder])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    made: Embedder = request.param()
    return made


def test_rows_are_unit_vectors_of_one_width(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.dtype == np.float32 and len(vectors) == len(TEXTS)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert embedder.embed([]).shape == (0, vectors.shape[1])


def test_a_text_has_its_vector_whatever_stands_beside_it(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    assert np.array_equal(together[0], together[2])
    alone = np.vstack([embedder.embed([text]) for text in TEXTS])
    assert np.allclose(together, alone, atol=1e-5)


def test_the_closer_text_is_closer(embedder: Embedder) -> None:
    asked, same, other = embedder.embed(["Save the file as a.txt", "Save the file as b.txt", "Turn the volume up"])
    if isinstance(embedder, E5Embedder):  # its vectors lie close together: its card says that only the order counts
        assert asked @ same > asked @ other + 0.05
    else:
        assert asked @ same > asked @ other + 0.3


def test_minilm_knows_a_paraphrase() -> None:
    asked, same, other = MiniLmEmbedder().embed(
        ["Sort column B in descending order", "Order column B from largest to smallest", "Save the file as b.txt"]
    )
    assert asked @ same > 0.7 > 0.3 > asked @ other


def test_e5_knows_a_paraphrase_in_another_language() -> None:
    asked, same, other = E5Embedder().embed(
        ["표 만들기 강좌", "How to make a table, a lesson", "The football match of yesterday"]
    )
    assert asked @ same > asked @ other + 0.03


def test_e5_reads_what_follows_a_nul() -> None:
    cut, whole = E5Embedder().embed(["ends\0here", "ends"])
    assert cut @ whole < 0.999
