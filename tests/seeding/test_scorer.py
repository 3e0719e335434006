"""The title scorer: its labelled sets keep apart what they promise, its figures have floors, odd text does not break it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cuamaster.seeding.scorer import BITS, KINDS, NAME, load_scorer, plain, sums
from cuamaster.seeding.screen import masked
from cuamaster.seeding.taxonomy import load
from scripts.train_scorer import held_names, training

TITLES = Path(__file__).parents[2] / "benchmarks" / "titles"
WRITTEN, REAL = (
    [json.loads(line) for line in (TITLES / name).read_text("utf-8").splitlines()]
    for name in ("written.jsonl", "real.jsonl")
)
TAXONOMY = load()


def f1(rows: list[dict[str, str]]) -> float:
    texts = [masked(row["title"], row["description"], TAXONOMY.mentions(row["title"])) for row in rows]
    said = load_scorer().score([title for title, _ in texts], [about for _, about in texts]) >= 0.5
    truth = np.array([row["kind"] == "tutorial" for row in rows])
    return float(2 * (said & truth).sum() / (said.sum() + truth.sum()))


def test_the_sets_are_what_they_are_said_to_be() -> None:
    halves = {half: {row["application"] for row in WRITTEN if row["half"] == half} for half in ("train", "held")}
    assert not halves["train"] & halves["held"] and {row["half"] for row in WRITTEN} == set(halves)
    languages = {row["language"] for row in WRITTEN}
    assert len(WRITTEN) >= 600 and languages == {row["language"] for row in REAL} and len(languages) == 6
    assert (
        len(REAL) >= 200
        and len({row["url"] for row in REAL}) == len(REAL)
        and all(row["url"].startswith("http") for row in REAL)
    )
    assert not {row["title"].casefold() for row in WRITTEN} & {row["title"].casefold() for row in REAL}
    assert {row["kind"] for row in (*WRITTEN, *REAL)} <= {"tutorial", *KINDS}


def test_nothing_trained_on_names_an_application_of_the_held_half() -> None:
    """Whatever the taxonomy calls it, and also where its name is an ordinary word."""
    names = held_names(TAXONOMY)
    for text in (
        "Word 表格",
        "MS Word tips",
        "power point 강좌",
        "Teamsの使い方",
        "ComfyUI install",
        "Clip Studio",
        "한글 HANCOM",
    ):
        assert names.search(text), text
    assert not any(names.search(text) for text in ("password manager", "Wordpress", "teamspirit", "notional"))
    kept = training(TAXONOMY, names=True)
    assert len(kept) > 2000 and not any(names.search(item.title) for item in kept)


def test_floors() -> None:
    """Below what was measured: a change that costs more than noise is seen here."""
    assert f1([row for row in WRITTEN if row["half"] == "held"]) >= 0.9
    assert f1(REAL) >= 0.76


@pytest.mark.parametrize(
    "text",
    ["", " ", "\ud800", "\u202eabc\u202c", "a" * 100_000, "ｆｕｌｌ　ｗｉｄｔｈ", "e\u0301", NAME, "1", "ﷺ" * 300],
)
def test_any_text_gets_a_probability(text: str) -> None:
    scorer = load_scorer()
    p = scorer.score([text], [text])[0]
    assert 0 < p < 1 and scorer.kind([text], [text])[0] in KINDS
    assert all(isinstance(word, str) for word in scorer.evidence([text])[0])


def test_a_batch_gives_what_each_text_gives_alone() -> None:
    titles = ["Excel tutorial", "", "funny moments", "教程", "x"]
    together = load_scorer().score(titles, [""] * len(titles))
    assert np.allclose(together, [load_scorer().score([title], [""])[0] for title in titles])
    assert (
        load_scorer().score([], []).shape == (0,)
        and load_scorer().kind([], []) == []
        and load_scorer().evidence([]) == []
    )
    assert sums(["ab"], [""]).dot(np.ones(1 << BITS)) == pytest.approx([np.sqrt(10)]), "' ab ' has 4 + 3 + 2 + 1 runs"


def test_digits_and_width_mean_nothing() -> None:
    assert plain("Ｅｘｃｅｌ　２０１６ ", 100) == plain("EXCEL  2090", 100) == " excel 0000 "


def test_evidence_names_the_words_against() -> None:
    assert load_scorer().evidence([f"{NAME} review: worth it?"])[0][0] in ("review", "worth")
    assert load_scorer().evidence([f"{NAME} tutorial"])[0] == []
