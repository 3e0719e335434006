"""Which spans are mined from words and a reel: what is sold, reported, shown on slides or only talked about is no task."""

from __future__ import annotations

import numpy as np
import pytest

from cuamaster.adapters.annotators.narration import narrated
from cuamaster.adapters.annotators.rules import RulesAnnotator
from cuamaster.ports import Image
from cuamaster.records.chapters import Chapter
from cuamaster.records.condition import AppRunning, Not, WindowTitle
from cuamaster.records.speech import spread
from cuamaster.records.transcript import Sentence, Transcript
from cuamaster.records.video import TaskSegment, Video
from cuamaster.seeding.mine import check_segments
from cuamaster.seeding.taxonomy import load
from cuamaster.vision.reel import Reel

RULES = RulesAnnotator(load())
Row = tuple[float, float, str]
SAVE: tuple[Row, ...] = (
    (2, 5, "Click the File menu and choose Save As."), (6, 9, "Type the name list.txt and press enter."), (10, 12, "Click the Close button."),
)  # fmt: skip
REPLACE: tuple[Row, ...] = (
    (42, 45, "Click the Search menu and choose Find."),
    (46, 49, "Type the word bread and press enter."),
)


def transcript(*rows: Row, language: str = "en") -> Transcript:
    told = sorted(rows)
    sentences = tuple(Sentence(text=text, start=a, end=b, words=spread(text, a, b)) for a, b, text in told)
    return Transcript(video_id="v", language=language, origin="vtt", sentences=sentences, trust=1.0)


def video(**more: object) -> Video:
    fields: dict[str, object] = {"title": "Mousepad", "app": "mousepad", "duration": 80.0, **more}
    return Video.model_validate({"source": "local", "source_id": "v", "url": "file:///v", **fields})


def reel(*operated: tuple[float, float], slides: tuple[tuple[float, float], ...] = (), seconds: int = 80) -> Reel:
    """A window in which a block changes twice a second during `operated`, and plain pictures during `slides`."""

    def frame(t: float) -> Image:
        if any(a <= t < b for a, b in slides):
            return np.full((240, 320, 3), 30, np.uint8)
        image = np.full((240, 320, 3), 245, np.uint8)
        done = sum(1 for n in range(int(2 * t) + 1) if any(a <= n / 2 < b for a, b in operated))
        for n in range(done % 40):
            image[20 + 14 * (n // 8) : 30 + 14 * (n // 8), 20 + 30 * (n % 8) : 45 + 30 * (n % 8)] = 0
        return image

    return Reel((n / 2, frame(n / 2)) for n in range(2 * seconds))


def mine(rows: tuple[Row, ...], frames: Reel | None = None, **about: object) -> list[TaskSegment]:
    return RULES.mine(video(**about), transcript(*rows), frames if frames is not None else [])


def spans(segments: list[TaskSegment]) -> list[tuple[float, float]]:
    return [(item.t_start, item.t_end) for item in segments]


SOLD: tuple[Row, ...] = (
    (15, 19, "This video is sponsored by Cloud Nest, which keeps your files."), (20, 24, "Open the app, select a folder and click the sync button."),
    (25, 29, "Visit cloud nest dot com and enter the code NEST."), (36, 40, "Back to our list."),
)  # fmt: skip


def test_a_paid_read_is_left_out_by_words_alone() -> None:
    segments = mine((*SAVE, *SOLD, *REPLACE))
    assert len(segments) == 2 and segments[0].t_end <= 15.0 and segments[1].t_start >= 40.0
    assert "sync" not in " ".join(item.instruction for item in segments)


def test_words_that_any_tutorial_says_sell_nothing() -> None:
    rows = (
        *SAVE,
        (13, 17, "Click cell B2, type the discount, and press enter."),
        (18, 21, "Type gimp dot org and press enter."),
    )
    assert len(mine(rows)) == 1 and mine(rows)[0].t_end >= 21.0


def test_a_narrator_who_comes_back_ends_a_paid_read() -> None:
    rows = (
        SOLD[0],
        (20, 22, "Back to our list."),
        (23, 26, "Click the File menu and choose Save."),
        (27, 30, "Sign up at the gym, and type bread."),
    )
    asides = [item.aside for item in narrated(transcript(*rows))]
    assert asides == ["paid", "", "", ""]


@pytest.mark.parametrize(
    "text",
    [
        "I have already clicked File and typed the name.", "In the last lesson you clicked the File menu.", "We clicked File, and then typed a name.",
        "To sum up, click File and type a name.",
    ],
)  # fmt: skip
def test_reports_are_told(text: str) -> None:
    spoken = narrated(transcript(*SAVE, (20, 24, text)))
    assert spoken[-1].aside == "told" and not spoken[-1].operations and spoken[-1].put_aside


def test_who_always_tells_afterwards_is_believed() -> None:
    rows = (
        (2, 5, "I clicked the File menu and chose Save As."),
        (6, 9, "I typed the name list.txt and pressed enter."),
    )
    assert len(mine(rows)) == 1


def test_slides_are_left_out_and_part_two_tasks() -> None:
    talk = (
        (15, 22, "With a mouse you click a button and choose a menu."),
        (23, 30, "With a keyboard you type a name and press enter."),
    )
    shown = reel((3, 13), (43, 51), slides=((14, 40),))
    assert spans(mine((*SAVE, *talk, *REPLACE), shown)) == [(1.0, 13.5), (41.0, 51.5)]
    assert len(mine((*SAVE, *talk), reel((3, 13), slides=((14, 40),)))) == 1
    assert mine(talk, reel((50, 60), slides=((14, 40),))) == []


def test_idle_talk_about_operations_is_left_out_and_one_unseen_key_is_not() -> None:
    talk = (
        (15, 22, "People click a button and choose a menu."),
        (23, 30, "Then they type a name and click the button."),
    )
    segments = mine((*SAVE, *talk, *REPLACE), reel((3, 13), (43, 51)))
    assert spans(segments) == [(1.0, 13.5), (41.0, 51.5)]
    copied = (*SAVE, (13, 16, "Press control C to copy it."))
    assert spans(mine(copied, reel((3, 12)))) == [(1.0, 17.0)]


def test_what_was_just_done_without_a_word_is_a_task_when_told() -> None:
    rows = ((28, 33, "So here I clicked File, and I typed a name."), (34, 37, "Click the Close button."))
    segments = mine((*SAVE, *rows), reel((3, 13), (24, 28), (35, 38)))
    assert len(segments) == 2 and segments[1].t_start == pytest.approx(23.5, abs=1.0) and segments[1].t_end >= 37.5
    assert len(mine((*SAVE, rows[0]), reel((3, 13)))) == 1, "nothing was seen before it"


def test_long_silence_on_a_still_screen_parts_two_tasks() -> None:
    later = tuple((a - 20, b - 20, text) for a, b, text in REPLACE)
    assert len(mine((*SAVE, *later))) == 1
    assert len(mine((*SAVE, *later), reel((3, 12), (23, 31)))) == 2


def test_believed_chapters_part_tasks_and_wrong_ones_do_not() -> None:
    later = ((14, 17, "Click the Search menu and choose Find."), (18, 21, "Type the word bread and press enter."))
    right = (Chapter(t_start=0, title="Close a list"), Chapter(t_start=13, title="Search a word"))
    wrong = (Chapter(t_start=0, title="Printing"), Chapter(t_start=13, title="Macros"))
    assert len(mine((*SAVE, *later), chapters=right)) == 2
    assert len(mine((*SAVE, *later), chapters=wrong)) == 1
    sold = (right[0], Chapter(t_start=13, title="Sponsor"))
    assert len(mine((*SAVE, *later), chapters=sold)) == 1 and mine((*SAVE, *later), chapters=sold)[0].t_end <= 14.0


def test_start_state() -> None:
    first, second = mine(
        (
            *SAVE,
            (13, 16, "Great, the list is now saved. Next we look for a word."),
            *((a - 22, b - 22, t) for a, b, t in REPLACE),
        )
    )
    assert first.start_state == (AppRunning(app="mousepad"),) and not first.continues
    window = WindowTitle(title="list.txt", app="mousepad", active=True)
    assert second.start_state == (AppRunning(app="mousepad"), window) and second.continues
    rows = (
        (0, 3, "Xfce Terminal and Mousepad."), (4, 7, "Click inside the terminal, type date and press enter."), (8, 11, "Great, that is done. Next we want an editor."),
        (12, 15, "Type mousepad and press enter."), (16, 19, "In Mousepad, type hello and press enter."),
    )  # fmt: skip
    terminal, editor = mine(rows, app="xfce4-terminal", title="Xfce Terminal and Mousepad")
    assert (terminal.app, editor.app) == ("xfce4-terminal", "mousepad")
    assert (
        editor.start_state == (AppRunning(app="xfce4-terminal"), Not(of=AppRunning(app="mousepad")))
        and not editor.continues
    )


def test_a_segment_in_which_nothing_moves_is_dropped_whoever_mined_it() -> None:
    segment = TaskSegment(
        video_id="v", index=0, t_start=2, t_end=12, instruction="x", app="mousepad", annotator="model"
    )
    spoken = transcript(*SAVE)
    assert check_segments([segment], spoken, 80.0, reel((3, 13)))[0]
    kept, dropped = check_segments([segment], spoken, 80.0, reel((40, 50)))
    assert kept == [] and [item.reason for item in dropped] == ["nothing-operated"]


def test_coarse_frames_leave_single_operations_to_the_words() -> None:
    coarse = Reel((t, np.full((20, 20, 3), 200, np.uint8)) for t in range(0, 80, 6))
    assert len(mine(SAVE, coarse)) == 1
