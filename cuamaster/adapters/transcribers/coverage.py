"""Which stretches of speech a transcript lacks: a recognizer can lose half a minute without a word of doubt."""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.records.transcript import Word

LEAST_LOST = 1.1
"""Seconds of voiced sound without a word from which speech counts as lost (the voice detector pads by 0.4 s; where all was heard,
0.8 s at most, on four recordings)."""
_TOGETHER = 2.5  # seconds of silence between two stretches that are listened to in one go
_LONGEST = 25.0  # seconds that are listened to in one go; the recognizer's window is 30


def lost_seconds(start: float, end: float, words: Sequence[Word]) -> float:
    """The longest part of a voiced stretch in which no word was heard."""
    longest, at = 0.0, start
    for begin, until in sorted((word.start, word.end) for word in words):
        if until <= at:
            continue
        if begin >= end:
            break
        longest, at = max(longest, begin - at), max(at, until)
    return max(longest, end - at)


def lost_speech(speech: Sequence[tuple[float, float]], words: Sequence[Word]) -> list[tuple[float, float]]:
    """Voiced stretches (start, end in seconds, in order) that lack words somewhere; near ones as one, so that they have context."""
    found: list[tuple[float, float]] = []
    for start, end in speech:
        if lost_seconds(start, end, words) < LEAST_LOST:
            continue
        if found and start - found[-1][1] <= _TOGETHER and end - found[-1][0] <= _LONGEST:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found
