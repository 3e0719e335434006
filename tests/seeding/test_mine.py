"""Mined spans are cut to the video and to each other; empty, outside and talk-only ones are dropped with a reason."""

from __future__ import annotations

from cuamaster.records.speech import spread
from cuamaster.records.transcript import Sentence, Transcript
from cuamaster.records.video import TaskSegment
from cuamaster.seeding.mine import check_segments

ROWS = [
    (0, 9, "This is only talk about nothing."),
    (10, 14, "Click the File menu."),
    (20, 24, "Type hello and press Enter."),
    (30, 33, "Press OK."),
]
SPOKEN = Transcript(
    video_id="v", language="en", origin="vtt", trust=1.0,
    sentences=tuple(Sentence(text=text, start=a, end=b, words=spread(text, a, b)) for a, b, text in ROWS),
)  # fmt: skip


def segment(start: float, end: float) -> TaskSegment:
    return TaskSegment(
        video_id="v", index=7, t_start=start, t_end=end, instruction=f"Do {start}", app="gimp", annotator="a"
    )


def test_good_spans_are_kept_in_order_and_numbered() -> None:
    kept, dropped = check_segments([segment(19, 40), segment(9.5, 18)], SPOKEN, 36.0)
    assert [(item.index, item.t_start, item.t_end) for item in kept] == [(0, 9.5, 18.0), (1, 19.0, 36.0)]
    assert dropped == []


def test_faults_have_reasons() -> None:
    given = [segment(0, 9), segment(9.5, 26), segment(12, 25), segment(25, 27.5), segment(29, 34), segment(50, 60)]
    kept, dropped = check_segments(given, SPOKEN, 36.0)
    assert [(item.t_start, item.t_end) for item in kept] == [(9.5, 26.0), (29.0, 34.0)]
    assert [item.reason for item in dropped] == ["no-operation", "overlaps", "too-short", "outside-video"]
    assert [item.item_id for item in dropped] == [given[index].id for index in (0, 2, 3, 5)]
    assert all(item.stage == "mine" and "36 s" in item.detail for item in dropped)
    assert check_segments(kept, SPOKEN, 36.0) == (kept, [])
