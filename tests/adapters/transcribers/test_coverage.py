"""Speech without words is noticed, and near stretches of it are heard together."""

from __future__ import annotations

import pytest

from cuamaster.adapters.transcribers.coverage import lost_seconds, lost_speech
from cuamaster.records.transcript import Word


def _words(*spans: tuple[float, float]) -> list[Word]:
    return [Word(text="word", start=start, end=end) for start, end in spans]


def test_the_longest_silence_of_the_transcript_within_a_voiced_stretch() -> None:
    words = _words((1.4, 2.0), (2.1, 3.0), (6.0, 6.5))
    assert lost_seconds(1.0, 3.3, words) == pytest.approx(0.4)
    assert lost_seconds(1.0, 7.0, words) == 3.0
    assert lost_seconds(8.0, 10.0, words) == 2.0
    assert lost_seconds(8.0, 10.0, []) == 2.0


def test_near_stretches_are_heard_together_and_long_ones_apart() -> None:
    assert lost_speech([(1.0, 3.0), (4.0, 6.0), (10.0, 12.0)], []) == [(1.0, 6.0), (10.0, 12.0)]
    assert lost_speech([(0.0, 15.0), (16.0, 30.0)], []) == [(0.0, 15.0), (16.0, 30.0)]
    whole = _words((1.2, 2.0), (2.2, 2.8))
    assert lost_speech([(1.0, 3.0)], whole) == []
    assert lost_speech([], whole) == [] == lost_speech([(1.0, 1.5)], [])
