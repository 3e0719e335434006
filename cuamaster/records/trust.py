"""How far a transcript's words and times can be believed: repairs what can be repaired, and scores the rest from 0 to 1."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from cuamaster.records.speech import spread
from cuamaster.records.transcript import Sentence, Word

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "backward-times": 0.3, "overlap": 0.1, "out-of-range": 0.4, "repetition": 0.5, "too-fast": 0.4, "stretched": 0.3,
        "long-silence": 0.3, "no-speech": 1.0, "low-confidence": 0.4, "dropped-segments": 0.3, "early-first-word": 0.1,
        "guessed-encoding": 1.0,
    }
)  # fmt: skip
"""What each problem costs at full extent: trust = product of (1 - weight * extent)."""
FASTEST_WORDS_PER_SECOND = 7.0
SLACK_SECONDS = 1.0
_SHORT = 0.05


def repair(sentences: Sequence[Sentence], duration: float | None) -> tuple[list[Sentence], dict[str, float]]:
    """Put sentences in order without overlaps inside [0, duration] seconds; returns the share of sentences each repair hit.

    Backward: a sentence that ends before it starts or starts before its predecessor. Overlap: cut at the next start.
    """
    total = max(1, len(sentences))
    found: Counter[str] = Counter()
    straight = []
    for index, item in enumerate(sentences):
        if item.end < item.start:
            found["backward-times"] += 1
            item = timed(item, item.start, item.start + 0.4 * max(1, len(item.text.split())))
        elif index and item.start < sentences[index - 1].start - _SHORT:
            found["backward-times"] += 1
        straight.append(item)
    straight.sort(key=lambda item: (item.start, item.end))
    kept: list[Sentence] = []
    for index, item in enumerate(straight):
        start, end = max(0.0, item.start), item.end
        if duration is not None and (start >= duration + SLACK_SECONDS or end > duration + SLACK_SECONDS):
            found["out-of-range"] += 1
            if start >= duration:
                continue
            end = duration
        if index + 1 < len(straight) and end > straight[index + 1].start + _SHORT:
            found["overlap"] += 1
            end = max(start + _SHORT, straight[index + 1].start)
        kept.append(item if (start, end) == (item.start, item.end) else timed(item, start, end))
    return kept, {slug: count / total for slug, count in found.items()}


def timed(sentence: Sentence, start: float, end: float) -> Sentence:
    """The same words in [start, end]: inside it they keep their times, else they are spread anew."""
    end = max(end, start)
    words = sentence.words
    if not words or words[0].start < start or words[-1].end > end or sentence.end < sentence.start:
        probability = [word.probability for word in words] or [1.0]
        spreaded = spread(sentence.text, start, end)
        words = tuple(
            Word(
                text=word.text,
                start=word.start,
                end=word.end,
                probability=probability[min(place, len(probability) - 1)],
            )
            for place, word in enumerate(spreaded)
        )
    return Sentence(text=sentence.text, start=start, end=end, words=words)


def trust(
    sentences: Sequence[Sentence], duration: float | None, extents: Mapping[str, float] | None = None
) -> tuple[float, tuple[str, ...]]:
    """Score in 0-1 and the slugs of what is wrong. `extents`: problems found earlier (by `repair`, by a recognizer), 0-1."""
    extent = dict(extents or {})
    words = [word for item in sentences for word in item.words]
    if not words:
        extent["no-speech"] = 1.0
    else:
        extent["repetition"] = _repetition(sentences)
        extent["too-fast"] = _share(
            sentences, lambda item: len(item.words) > 3 and _rate(item) > FASTEST_WORDS_PER_SECOND
        )
        extent["stretched"] = _share(sentences, lambda item: item.end - item.start > 12 and _rate(item) < 0.5)
        extent["early-first-word"] = _share(
            sentences, lambda item: len(item.words) > 1 and item.words[1].start - item.words[0].end > 3
        )
        spoken = sum(word.end - word.start for word in words)
        if duration and duration > 30 and spoken / duration < 0.08:
            extent["long-silence"] = 1 - spoken / duration / 0.08
        confidence = sum(word.probability for word in words) / len(words)
        if confidence < 0.7:
            extent["low-confidence"] = min(1.0, (0.7 - confidence) / 0.4)
    score = 1.0
    for slug, value in extent.items():
        score *= 1 - WEIGHTS.get(slug, 0.2) * min(1.0, max(0.0, value))
    return round(score, 4), tuple(sorted(slug for slug, value in extent.items() if value > 0))


def _rate(item: Sentence) -> float:
    return len(item.words) / max(0.1, item.end - item.start)


def _share(sentences: Sequence[Sentence], bad: Callable[[Sentence], bool]) -> float:
    return sum(bool(bad(item)) for item in sentences) / max(1, len(sentences))


def _repetition(sentences: Sequence[Sentence]) -> float:
    """Share of sentences that say again what one of the two before said, or that compress like a loop (Whisper's own sign)."""
    plain = [re.sub(r"\W+", " ", item.text.lower()).strip() for item in sentences]
    looped = 0
    for index, text in enumerate(plain):
        again = len(text) > 3 and text in plain[max(0, index - 2) : index]
        raw = text.encode()
        looped += again or (len(raw) > 40 and len(raw) / len(zlib.compress(raw)) > 2.4)
    return looped / len(plain) if looped > 1 or len(plain) == looped else 0.0
