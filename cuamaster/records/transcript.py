"""Timestamped speech: words, sentences and how far to trust them."""

from __future__ import annotations

from pydantic import Field

from cuamaster.records.record import Record


class Word(Record):
    """One spoken word; seconds from the start of the video."""

    text: str
    start: float
    end: float
    probability: float = 1.0


class Sentence(Record):
    """One caption cue or recognized segment with its words (times interpolated when the source has none)."""

    text: str
    start: float
    end: float
    words: tuple[Word, ...] = ()


class Transcript(Record):
    """Speech of one video; `trust` in 0-1 falls with repetition, overlaps, backward or out-of-range times."""

    video_id: str
    language: str
    origin: str = Field(description="vtt, srt, json3, or faster-whisper:<model>")
    sentences: tuple[Sentence, ...]
    trust: float = Field(ge=0, le=1)
    problems: tuple[str, ...] = Field(default=(), description="why trust is below 1, as slugs")

    @property
    def text(self) -> str:
        """All sentences joined by blanks."""
        return " ".join(sentence.text for sentence in self.sentences)

    def between(self, t_start: float, t_end: float) -> tuple[Sentence, ...]:
        """Sentences that overlap [t_start, t_end] seconds."""
        return tuple(s for s in self.sentences if s.end > t_start and s.start < t_end)
