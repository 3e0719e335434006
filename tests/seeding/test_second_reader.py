"""The second reader: its figures have floors, odd text does not break it, a text is read the same in any company."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cuamaster.adapters.embedders.e5 import E5Embedder
from cuamaster.seeding.scorer import KINDS, NAME, load_scorer
from cuamaster.seeding.screen import masked
from cuamaster.seeding.second_reader import ABOUT_LENGTH, load_second_reader, text_of
from cuamaster.seeding.taxonomy import load

TITLES = Path(__file__).parents[2] / "benchmarks" / "titles"
EMBEDDER, TAXONOMY = E5Embedder(), load()
ODD = ["", " ", "\ud800", "\u202eabc\u202c", "\0", "a" * 100_000, "ﷺ" * 300]


def read(texts: list[tuple[str, str]]) -> tuple[np.ndarray, list[str]]:
    seen = [masked(title, about, TAXONOMY.mentions(title)) for title, about in texts]
    margins = load_scorer().margin([title for title, _ in seen], [about for _, about in seen])
    return load_second_reader().read(EMBEDDER.embed([text_of(*text) for text in seen]), margins)


def test_any_text_gets_a_probability_and_a_kind() -> None:
    likely, kinds = read([(text, text) for text in ODD])
    assert ((likely > 0) & (likely < 1)).all() and set(kinds) <= set(KINDS)


def test_a_batch_gives_what_each_text_gives_alone() -> None:
    texts = [("GIMP crop tool", ""), ("Excel 강좌", "표"), ("funny moments", "")]
    together, _ = read(texts)
    assert np.allclose(together, [read([text])[0][0] for text in texts], atol=1e-4)


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("How to lock the screen in XFCE", "tutorial"),
        ("GIMP crop tool", "tutorial"),
        ("엑셀 데이터 유효성 검사", "tutorial"),
        ("이미지 여러 장 크기 한번에 줄이는 법 - 김프", "tutorial"),
        ("How to bake bread", "only-mentioned"),
        ("Wie man ein Vogelhaus baut", "only-mentioned"),
    ],
)
def test_plain_instructions_are_told_apart_by_what_is_operated(title: str, kind: str) -> None:
    likely, kinds = read([(title, "")])
    assert (likely[0] > 0.5) if kind == "tutorial" else (likely[0] < 0.3 and kinds[0] == kind)


def test_a_name_is_read_as_a_plain_word() -> None:
    assert text_of(f"{NAME} crop tool", f"with {NAME}") == "software crop tool\nwith software"


def test_a_description_is_read_as_far_as_it_says() -> None:
    assert text_of("t", " \n") == "t" and text_of("t", "x" * 999) == "t\n" + "x" * ABOUT_LENGTH


@pytest.mark.slow
def test_floors() -> None:
    """Below what was measured: a change that costs more than noise is seen here."""
    for name, half, floor in (("written.jsonl", "held", 0.93), ("real.jsonl", None, 0.8)):
        rows = [json.loads(line) for line in (TITLES / name).read_text("utf-8").splitlines()]
        rows = [row for row in rows if row.get("half") == half]
        said = read([(row["title"], row["description"]) for row in rows])[0] >= 0.5
        truth = np.array([row["kind"] == "tutorial" for row in rows])
        assert 2 * (said & truth).sum() / (said.sum() + truth.sum()) >= floor, name
