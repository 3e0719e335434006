"""Checks what an annotator mined before anything is rebuilt from it: spans inside the video, apart, long enough, with operations."""

from __future__ import annotations

from collections.abc import Iterable

from cuamaster.records.episode import Dropped
from cuamaster.records.speech import operations, words_of
from cuamaster.records.transcript import Transcript
from cuamaster.records.video import TaskSegment

STAGE = "mine"
MIN_SECONDS = 2.0


def sample_times(duration: float, count: int) -> list[float]:
    """Seconds of `count` frames in the middles of equal parts: what an annotator sees of the whole video."""
    return [round(duration * (index + 0.5) / count, 3) for index in range(count)]


def check_segments(
    segments: Iterable[TaskSegment], transcript: Transcript, duration: float
) -> tuple[list[TaskSegment], list[Dropped]]:
    """Segments in order of time, cut to the video and to the end of the one before; those left with nothing are dropped.

    `duration` in seconds, from the probe. Reasons: outside-video, overlaps, too-short, no-operation (nothing in the span is
    commanded, so it is talk, an advertisement or slides, whatever the annotator thought).
    """
    kept: list[TaskSegment] = []
    dropped: list[Dropped] = []
    for segment in sorted(segments, key=lambda item: (item.t_start, item.t_end)):
        floor = kept[-1].t_end if kept else 0.0
        start, end = max(segment.t_start, floor), min(segment.t_end, duration)
        reason = _fault(segment, start, end, floor, transcript, duration)
        if reason:
            detail = f"{segment.t_start:g}-{segment.t_end:g} s of {duration:g} s: {segment.instruction}"
            dropped.append(Dropped(item_id=segment.id, stage=STAGE, reason=reason, detail=detail))
        else:
            kept.append(segment.model_copy(update={"index": len(kept), "t_start": start, "t_end": end}))
    return kept, dropped


def _fault(
    segment: TaskSegment, start: float, end: float, floor: float, transcript: Transcript, duration: float
) -> str:
    if segment.t_start >= duration:
        return "outside-video"
    if segment.t_end <= floor:
        return "overlaps"
    if end - start < MIN_SECONDS:
        return "too-short"
    said = [word for word in words_of(transcript) if start <= word.start < end]
    return "" if operations(said, transcript.language) else "no-operation"
