"""Mines a video through an annotator, and checks what it mined: spans inside the video, apart, long enough, with operations."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cuamaster.ports import Annotator, FrameReader
from cuamaster.records.episode import Dropped
from cuamaster.records.speech import operations, words_of
from cuamaster.records.transcript import Transcript
from cuamaster.records.video import Media, ScreenView, TaskSegment, Video
from cuamaster.vision.reel import Reel
from cuamaster.vision.screen_view import ScreenFrames

STAGE = "mine"
MIN_SECONDS = 2.0
FRAMES_PER_SECOND = 2.0
MAX_FRAMES = 600
"""About 60 MB of a screen, kept compressed: five minutes at the full rate, an hour at one frame in six seconds."""
MARGIN_S = 2.0
"""The effect of an operation may show a little outside its span."""


def sampling_rate(duration: float) -> float:
    """Frames per second of the reel that an annotator sees of a video of `duration` seconds."""
    return min(FRAMES_PER_SECOND, MAX_FRAMES / max(duration, 1.0))


def mine(
    video: Video, media: Media, transcript: Transcript, view: ScreenView, *, frames: FrameReader, annotator: Annotator
) -> tuple[list[TaskSegment], list[Dropped]]:
    """Checked task segments of a recording's screen, and what was dropped. Raises MediaError, and what the annotator raises."""
    screens, duration = ScreenFrames(frames, view), media.info.duration
    reel = Reel(screens.sample(Path(media.path), fps=sampling_rate(duration)))
    segments = annotator.mine(video, transcript, reel)
    if not segments:
        return [], [Dropped(item_id=video.id, stage=STAGE, reason="no-task", detail=video.url)]
    return check_segments(segments, transcript, duration, reel)


def check_segments(
    segments: Iterable[TaskSegment], transcript: Transcript, duration: float, reel: Reel | None = None
) -> tuple[list[TaskSegment], list[Dropped]]:
    """Segments in order of time, cut to the video and to the end of the one before; those left with nothing are dropped.

    `duration` in seconds, from the probe. Reasons: outside-video, overlaps, too-short, no-operation (nothing in the span is
    commanded, so it is talk, an advertisement or slides, whatever the annotator thought), nothing-operated (nothing on the screen changes
    in it, or another picture is shown all the time).
    """
    kept: list[TaskSegment] = []
    dropped: list[Dropped] = []
    for segment in sorted(segments, key=lambda item: (item.t_start, item.t_end)):
        floor = kept[-1].t_end if kept else 0.0
        start, end = max(segment.t_start, floor), min(segment.t_end, duration)
        reason = _fault(segment, start, end, floor, transcript, duration) or _unseen(start, end, reel)
        if reason:
            detail = f"{segment.t_start:g}-{segment.t_end:g} s of {duration:g} s: {segment.instruction}"
            dropped.append(Dropped(item_id=segment.id, stage=STAGE, reason=reason, detail=detail))
        else:
            kept.append(segment.model_copy(update={"index": len(kept), "t_start": start, "t_end": end}))
    return kept, dropped


def _unseen(start: float, end: float, reel: Reel | None) -> str:
    if reel is None or len(reel) < 2 or reel.operated(start - MARGIN_S, end + MARGIN_S + reel.step):
        return ""
    return "nothing-operated"


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
