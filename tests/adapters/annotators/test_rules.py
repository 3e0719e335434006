"""The embedded annotator on the bundled recordings and on narrations of other kinds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cuamaster.adapters.annotators.rules import RulesAnnotator
from cuamaster.adapters.transcribers.captions import parse
from cuamaster.assets import samples_folder
from cuamaster.ports import Candidate
from cuamaster.records.speech import spread
from cuamaster.records.transcript import Sentence, Transcript
from cuamaster.records.video import TaskSegment, Video
from cuamaster.seeding.taxonomy import load

TAXONOMY = load()
RULES = RulesAnnotator(TAXONOMY)


def transcript(*rows: tuple[float, float, str], trust: float = 1.0, language: str = "en") -> Transcript:
    sentences = tuple(
        Sentence(text=text, start=start, end=end, words=spread(text, start, end)) for start, end, text in rows
    )
    return Transcript(video_id="v", language=language, origin="vtt", sentences=sentences, trust=trust)


def video(title: str = "GIMP tutorial", app: str | None = "gimp", duration: float | None = 120.0) -> Video:
    return Video(source="local", source_id="v", url="file:///v", title=title, app=app, duration=duration)


def sample(name: str) -> tuple[Video, Transcript, dict]:
    """A bundled recording: its captions, or the recorded narration where it has none."""
    folder = samples_folder() / name
    truth, info = json.loads((folder / "truth.json").read_text()), json.loads((folder / "info.json").read_text())
    captions = folder / "tutorial.vtt"
    if captions.exists():
        spoken = Transcript(
            video_id="v", language="en", origin="vtt", sentences=tuple(parse(captions.read_text(), "vtt")), trust=1.0
        )
    else:
        spoken = transcript(*((row["t_start"], row["t_start"] + row["dur"], row["text"]) for row in truth["narration"]))
    return video(info["title"], info["application"], info["duration"]), spoken, truth


@pytest.mark.parametrize("name", ["mousepad-notes", "pcmanfm-folders"])
def test_tasks_of_the_bundled_recordings(name: str) -> None:
    item, spoken, truth = sample(name)
    segments = RULES.mine(item, spoken, [])
    assert len(segments) == len(truth["tasks"])
    for segment, task in zip(segments, truth["tasks"], strict=True):
        assert abs(segment.t_start - task["t_start"]) <= 1.0 and abs(segment.t_end - task["t_end"]) <= 1.0
        inside = [act for act in truth["actions"] if task["t_start"] <= act["t_start"] <= task["t_end"]]
        assert all(segment.t_start <= act["t_start"] and act["t_end"] <= segment.t_end for act in inside)
        assert segment.app == item.app and segment.evidence
    for start, end in truth["non_operations"]:
        assert all(min(end, segment.t_end) - max(start, segment.t_start) <= 0.5 for segment in segments)
    typed = [act["text"] for act in truth["actions"] if act["type"] == "type"]
    said = " ".join(segment.instruction for segment in segments)
    assert all(f'"{text}"' in said for text in typed), said


def test_instructions_say_the_goal() -> None:
    item, spoken, _ = sample("mousepad-notes")
    first = RULES.mine(item, spoken, [])[0]
    assert first.instruction == 'In Mousepad, type "milk, eggs and bread" and save it as "groceries.txt".'
    item, spoken, _ = sample("pcmanfm-folders")
    assert (
        RULES.mine(item, spoken, [])[0].instruction == 'In PCManFM, create a folder named "reports" and open "reports".'
    )


def test_talk_without_operations_is_no_task() -> None:
    spoken = transcript(
        (0, 5, "Hello, today we talk about the history of image editors."),
        (6, 12, "GIMP was written by two students, and people like it."),
    )
    assert RULES.mine(video(), spoken, []) == []
    judgement = RULES.score(video(), spoken, [])
    assert (judgement.suitability, judgement.has_computer_operation, judgement.reconstructible) == (0, False, False)


def test_appeals_to_subscribe_are_no_operations() -> None:
    spoken = transcript(
        (0, 4, "Click the subscribe button and hit the bell."), (5, 8, "Click the File menu."), (9, 12, "Choose Export and press Enter."),
        (14, 18, "Click the like button and type a comment below."),
    )  # fmt: skip
    segments = RULES.mine(video(), spoken, [])
    assert [(segment.t_start, segment.t_end) for segment in segments] == [(4.0, 14.0)]


def test_explanations_inside_a_task_do_not_split_it_and_bridges_do() -> None:
    rows = [
        (0, 3, "Welcome to this tutorial."), (4, 7, "Click the Layer menu."), (8, 10, "Choose New Layer."), (11, 14, "A layer is like a sheet of glass."),
        (15, 18, "Type background as the name and press Enter."),
    ]  # fmt: skip
    assert len(RULES.mine(video(), transcript(*rows), [])) == 1
    bridge = [
        (20, 24, "Great. The layer is now ready. Next we want to crop the picture."),
        (25, 28, "Click the Crop button."),
        (29, 32, "Drag from the left corner to the right corner and press Enter."),
    ]
    segments = RULES.mine(video(), transcript(*rows, *bridge), [])
    assert [(segment.index, segment.t_start) for segment in segments] == [(0, 3.0), (1, 24.0)]
    assert segments[0].t_end <= 20.0 and segments[1].t_end <= 120.0
    numbered = [(20, 23, "The second task is about fonts."), *bridge[1:]]
    assert len(RULES.mine(video(), transcript(*rows, *numbered), [])) == 2


def test_automatic_captions_without_punctuation() -> None:
    spoken = transcript(
        (0, 3, "hey guys welcome back to my channel"), (4, 8, "so first go to file click new and type the name poster"),
        (8, 12, "then hit enter and double click the layer"), (14, 17, "okay thanks for watching bye bye"),
    )  # fmt: skip
    segments = RULES.mine(video(duration=18.0), spoken, [])
    assert len(segments) == 1 and segments[0].t_start >= 3.0 and segments[0].t_end <= 14.0
    assert '"poster"' in segments[0].instruction


def test_applications_come_from_the_video_the_title_or_the_words() -> None:
    rows = [(0, 3, "Click the Insert menu."), (4, 7, "Choose Table and press Enter."), (8, 10, "Gnumeric shows it.")]
    assert RULES.mine(video(app="krita"), transcript(*rows), [])[0].app == "krita"
    assert RULES.mine(video("Inkscape text", None), transcript(*rows), [])[0].app == "inkscape"
    assert RULES.mine(video("My video", None), transcript(*rows), [])[0].app == "gnumeric"
    assert RULES.mine(video("My video", None), transcript(*rows[:2]), [])[0].app == ""
    assert RulesAnnotator().mine(video("Inkscape text", None), transcript(*rows), [])[0].app == ""


def test_each_task_of_a_video_about_two_applications_has_its_own() -> None:
    spoken = transcript(
        (0, 3, "Two small programs."), (4, 8, "In the calculator, click the 7 button and click plus."), (9, 11, "Great, that is done."),
        (12, 15, "Let us move on to the terminal."), (16, 20, "Click inside the terminal window, type date and press Enter."),
    )  # fmt: skip
    item = video("galculator and LXTerminal for beginners", "galculator")
    assert [segment.app for segment in RULES.mine(item, spoken, [])] == ["galculator", "lxterminal"]


def test_scores_rise_with_operations_and_fall_with_trust() -> None:
    item, spoken, _ = sample("mousepad-notes")
    frames = [(float(n), np.zeros((40, 60, 3), np.uint8)) for n in range(3)]
    good = RULES.score(item, spoken, frames)
    assert (good.suitability, good.has_computer_operation, good.reconstructible, good.clear_picture) == (
        5,
        True,
        True,
        True,
    )
    assert good.video_id == item.id and good.annotator == "rules"
    doubted = RULES.score(item, spoken.model_copy(update={"trust": 0.2}), frames)
    assert doubted.suitability <= 1 and not doubted.reconstructible
    assert RULES.score(item, spoken, []).suitability == 4, "nobody has seen it"


def candidate(
    said: float | None, seen: float | None, clause: str = "", verb: str = "", score: float = 0.0
) -> Candidate:
    return Candidate(t=seen or said or 0.0, t_semantic=said, t_visual=seen, clause=clause, verb=verb, score=score)


def test_review() -> None:
    segment = TaskSegment(video_id="v", index=0, t_start=0, t_end=9, instruction="x", app="gimp", annotator="rules")
    candidates = [
        candidate(1, 1.5, "click File", "click"), candidate(2, None, "click File", "click"), candidate(3, None, "press control c", "key"),
        candidate(None, 4, score=0.9), candidate(None, 5, score=0.1), candidate(6, None, "press the magic", "key"), candidate(7, 7.2, "double click it"),
    ]  # fmt: skip
    reviews = RULES.review(candidates, segment)
    assert [item.keep for item in reviews] == [True, False, True, True, False, False, True]
    assert [item.kind for item in reviews if item.keep] == ["click", "key", "click", "double_click"]
    assert all(item.reason for item in reviews)


def test_unknown_gnumeric_like_recording_is_one_task() -> None:
    text = (Path(__file__).parent / "budget.vtt").read_text()
    spoken = Transcript(video_id="v", language="en", origin="vtt", sentences=tuple(parse(text, "vtt")), trust=1.0)
    segments = RULES.mine(video("Gnumeric budget", "gnumeric", 65.7), spoken, [])
    assert len(segments) == 1
    assert 5.0 <= segments[0].t_start <= 7.2 and 60.4 <= segments[0].t_end <= 61.9
