"""The model annotator against a compatible server: answers become records; bad, missing and impossible ones typed errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuamaster.adapters.annotators.openai_api import BATCH, MAX_FRAMES, OpenAIAnnotator
from cuamaster.adapters.chat import ChatClient
from cuamaster.adapters.meters.jsonl import JsonlMeter
from cuamaster.errors import BudgetExceeded, EndpointUnavailable, ModelAnswerError, ModelRefusal
from cuamaster.ports import Candidate
from cuamaster.records.chapters import Chapter
from cuamaster.records.condition import AppRunning, FileExists, Not, WindowTitle
from cuamaster.records.transcript import Sentence, Transcript
from cuamaster.records.video import TaskSegment, Video
from cuamaster.seeding.taxonomy import load
from cuamaster.vision.reel import Reel

VIDEO = Video(source="local", source_id="v", url="file:///v", title="GIMP tutorial", app="gimp", duration=60.0)
SPOKEN = Transcript(
    video_id="v", language="en", origin="vtt", sentences=(Sentence(text="Click File.", start=1, end=2),), trust=1.0
)
FRAMES = [(float(n), np.zeros((20, 2000, 3), np.uint8)) for n in range(12)]
SCORE = {
    "suitability": 4,
    "has_computer_operation": True,
    "reconstructible": True,
    "clear_picture": False,
    "reason": "fine",
}


def annotator(server: Any, meter: JsonlMeter | None = None, timeout: float = 5.0) -> OpenAIAnnotator:
    record = meter.record if meter else None
    chat = ChatClient(server.url, "k", "judge-1", timeout, record, retries=1, wait=lambda _: None, price_prompt=1e6)
    return OpenAIAnnotator(chat)


def tasks(*spans: tuple[float, float]) -> str:
    return json.dumps(
        {
            "tasks": [
                {"t_start": a, "t_end": b, "instruction": f"Do {a}", "app": "GIMP", "evidence": "words"}
                for a, b in spans
            ]
        }
    )


def test_score_sends_words_and_frames_and_books_the_cost(chat_server: Any, tmp_path: Path) -> None:
    chat_server.script = [json.dumps(SCORE)]
    meter = JsonlMeter(tmp_path / "usage.jsonl")
    judgement = annotator(chat_server, meter).score(VIDEO, SPOKEN, FRAMES)
    assert (judgement.suitability, judgement.clear_picture, judgement.annotator) == (4, False, "openai_api:judge-1")
    content = chat_server.requests[0]["messages"][1]["content"]
    assert "[1.00-2.00] Click File." in content[0]["text"]
    assert sum(part["type"] == "image_url" for part in content) == MAX_FRAMES
    assert meter.total().purpose == "score" and meter.total().cost_usd == 100.0


def test_mined_spans_are_ordered_clipped_and_never_overlap(chat_server: Any) -> None:
    chat_server.script = [tasks((30, 99), (5, 32))]
    segments = annotator(chat_server).mine(VIDEO, SPOKEN, FRAMES)
    assert [(item.index, item.t_start, item.t_end) for item in segments] == [(0, 5.0, 32.0), (1, 32.0, 60.0)]
    assert {item.app for item in segments} == {"gimp"} and segments[0].video_id == VIDEO.id
    chat_server.script = [tasks((70, 80))]
    with pytest.raises(ModelAnswerError, match="outside the video"):
        annotator(chat_server).mine(VIDEO, SPOKEN, [])
    chat_server.script = [json.dumps({"tasks": []})]
    assert annotator(chat_server).mine(VIDEO, SPOKEN, []) == []


def test_a_mined_task_has_instruction_application_and_start_state(chat_server: Any) -> None:
    plain = {"t_start": 5, "t_end": 20, "instruction": "Scale the picture", "app": "GIMP"}
    started = {
        "t_start": 30, "t_end": 50, "instruction": "Write a note", "app": "mousepad", "running": False, "window": "ignored",
        "files": ["~/a.txt", "relative.txt"], "continues": False,
    }  # fmt: skip
    on = {**plain, "t_start": 52, "t_end": 59, "instruction": "Export it", "window": "photo.png", "continues": True}
    chat_server.script = [json.dumps({"tasks": [plain, started, on]})]
    chat = ChatClient(chat_server.url, "k", "judge-1", 5.0, None, retries=1, wait=lambda _: None)
    segments = OpenAIAnnotator(chat, load()).mine(VIDEO, SPOKEN, Reel(FRAMES))
    assert [segment.app for segment in segments] == ["gimp", "mousepad", "gimp"]
    assert [segment.continues for segment in segments] == [False, False, True]
    gimp = AppRunning(app="gimp")
    assert segments[0].start_state == (gimp,)
    assert segments[1].start_state == (Not(of=AppRunning(app="mousepad")), FileExists(path="~/a.txt"))
    assert segments[2].start_state == (gimp, WindowTitle(title="photo.png", app="gimp", active=True))
    content = chat_server.requests[0]["messages"][1]["content"]
    assert sum(part["type"] == "image_url" for part in content) == MAX_FRAMES


def test_chapters_are_told_to_the_model(chat_server: Any) -> None:
    chat_server.script = [json.dumps({"tasks": []})]
    told = VIDEO.model_copy(
        update={"chapters": (Chapter(t_start=0, title="Intro"), Chapter(t_start=12, title="Scale"))}
    )
    annotator(chat_server).mine(told, SPOKEN, [])
    assert "Chapters: 0 Intro; 12 Scale" in chat_server.requests[0]["messages"][1]["content"][0]["text"]


def test_review_is_asked_in_batches_and_answers_each_candidate_in_order(chat_server: Any) -> None:
    def answer(count: int) -> str:
        rows = [
            {"index": n, "keep": n % 2 == 0, "kind": "click" if n else "", "t": None, "reason": "r"}
            for n in range(count)
        ]
        return json.dumps({"decisions": rows[::-1]})

    chat_server.script = [answer(BATCH), answer(2)]
    picture = np.zeros((20, 30, 3), np.uint8)
    candidates = [
        Candidate(
            t=n, t_semantic=n, t_visual=n, clause="double click it", verb="double_click", before=picture, after=picture
        )
        for n in range(BATCH + 2)
    ]
    segment = TaskSegment(video_id="v", index=0, t_start=0, t_end=9, instruction="x", app="gimp", annotator="a")
    reviews = annotator(chat_server).review(candidates, segment)
    assert [item.keep for item in reviews] == [n % 2 == 0 for n in range(BATCH)] + [True, False]
    assert reviews[0].kind == "double_click" and reviews[2].kind == "click"
    assert len(chat_server.requests) == 2
    chat_server.script = [answer(1)]
    with pytest.raises(ModelAnswerError, match="left out"):
        annotator(chat_server).review(candidates[:2], segment)


def test_an_opinion_left_out_is_an_error(chat_server: Any) -> None:
    chat_server.script = [json.dumps({"videos": [{"index": 0, "tutorial": True}]})]
    with pytest.raises(ModelAnswerError, match=r"left out videos \[1\]"):
        annotator(chat_server).tell([VIDEO, VIDEO.model_copy(update={"source_id": "w"})])


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (["{", "{"], ModelAnswerError), ([json.dumps({**SCORE, "suitability": 9})], ModelAnswerError), ([500], EndpointUnavailable),
        ([429], EndpointUnavailable), ([{"content": None, "refusal": "no"}], ModelRefusal), ([None], EndpointUnavailable),
    ],
)  # fmt: skip
def test_bad_endpoints_are_typed_errors(chat_server: Any, script: list[Any], error: type[Exception]) -> None:
    chat_server.script = script
    with pytest.raises(error):
        annotator(chat_server, timeout=0.5).score(VIDEO, SPOKEN, [])


def test_malformed_then_good_and_429_then_good(chat_server: Any) -> None:
    chat_server.script = [429, "not json", json.dumps(SCORE)]
    assert annotator(chat_server).score(VIDEO, SPOKEN, []).suitability == 4


def test_the_budget_ends_the_work(chat_server: Any, tmp_path: Path) -> None:
    chat_server.script = [json.dumps(SCORE)]
    with pytest.raises(BudgetExceeded):
        annotator(chat_server, JsonlMeter(tmp_path / "u.jsonl", budget_tokens=50)).score(VIDEO, SPOKEN, [])
