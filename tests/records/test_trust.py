"""Repaired transcripts are in order and inside the video whatever came in; trust falls with each kind of fault."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.records.speech import spread
from cuamaster.records.transcript import Sentence, Word
from cuamaster.records.trust import repair, trust


def sentence(text: str, start: float, end: float) -> Sentence:
    return Sentence(text=text, start=start, end=end, words=spread(text, start, end))


TIMES = st.floats(-5, 70, allow_nan=False)
ROWS = st.lists(st.tuples(st.sampled_from(["click File", "type milk and bread", "then"]), TIMES, TIMES), max_size=8)


@given(ROWS, st.one_of(st.none(), st.floats(20, 60)))
def test_repair_orders_everything_and_loses_only_what_lies_outside(
    rows: list[tuple[str, float, float]], duration: float | None
) -> None:
    given_ = [sentence(*row) for row in rows]
    fixed, found = repair(given_, duration)
    assert all(item.start <= item.end for item in fixed)
    assert all(one.start <= two.start for one, two in itertools.pairwise(fixed))
    assert all(word.start <= word.end for item in fixed for word in item.words)
    assert all(item.start >= 0 for item in fixed)
    if duration is None:
        assert sorted(item.text for item in fixed) == sorted(item.text for item in given_)
    else:
        assert all(item.start <= duration + 1 and item.end <= duration + 1 for item in fixed)
    assert all(0 < extent <= 1 for extent in found.values())
    score, problems = trust(fixed, duration, found)
    assert 0 <= score <= 1 and set(found) <= set(problems)
    assert repair(fixed, duration)[0] == fixed or any(b.start - a.start < 0.06 for a, b in itertools.pairwise(fixed))


GOOD = [
    sentence("Click the File menu", 1, 3),
    sentence("Choose Save As and wait", 4, 6),
    sentence("Type the name", 8, 9),
]


def test_a_clean_transcript_is_trusted_fully_and_not_touched() -> None:
    assert repair(GOOD, 12.0) == (GOOD, {})
    assert trust(GOOD, 12.0) == (1.0, ())


@pytest.mark.parametrize(
    ("sentences", "duration", "slug"),
    [
        ([], 12.0, "no-speech"),
        ([sentence("thanks for watching", n, n + 0.9) for n in range(8)], 12.0, "repetition"),
        ([sentence("a very long line with far too many words for one second", 1, 2)], 12.0, "too-fast"),
        ([sentence("hm yes", 1, 40)], 60.0, "stretched"),
        ([sentence("click", 1, 1.3)], 600.0, "long-silence"),
        (
            [
                Sentence(
                    text="click it",
                    start=0,
                    end=9,
                    words=(Word(text="click", start=0, end=0.3), Word(text="it", start=8, end=9)),
                )
            ],
            12.0,
            "early-first-word",
        ),
        (
            [Sentence(text="click", start=0, end=1, words=(Word(text="click", start=0, end=1, probability=0.2),))],
            12.0,
            "low-confidence",
        ),
    ],
)
def test_each_fault_costs_trust(sentences: list[Sentence], duration: float, slug: str) -> None:
    score, problems = trust(sentences, duration)
    assert slug in problems and score < 1.0


def test_more_of_a_fault_costs_more() -> None:
    little, _ = trust(GOOD, 12.0, {"overlap": 0.1})
    much, _ = trust(GOOD, 12.0, {"overlap": 0.9})
    both, _ = trust(GOOD, 12.0, {"overlap": 0.9, "backward-times": 0.5})
    assert 1 > little > much > both > 0
