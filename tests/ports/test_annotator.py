"""The conformance suite of the Annotator port: the rules, and a model behind a compatible server."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from cuamaster.adapters.annotators.openai_api import OpenAIAnnotator
from cuamaster.adapters.annotators.rules import RulesAnnotator
from cuamaster.adapters.chat import ChatClient
from cuamaster.ports import Annotator, Candidate
from cuamaster.records.lexicon import KINDS
from cuamaster.records.speech import spread
from cuamaster.records.transcript import Sentence, Transcript
from cuamaster.records.video import Video
from cuamaster.seeding.taxonomy import load

VIDEO = Video(source="local", source_id="v", url="file:///v", title="GIMP tutorial", app="gimp", duration=40.0)
ROWS = [
    (0, 4, "Welcome to this lesson."),
    (5, 9, "Click the File menu and choose New."),
    (10, 14, "Type poster and press Enter."),
    (16, 20, "Thank you for watching."),
]
SPOKEN = Transcript(
    video_id=VIDEO.id, language="en", origin="vtt", trust=1.0,
    sentences=tuple(Sentence(text=text, start=a, end=b, words=spread(text, a, b)) for a, b, text in ROWS),
)  # fmt: skip
FRAMES = [(float(t), np.full((400, 640, 3), 200, np.uint8)) for t in (5, 15, 25)]
ANSWERS = {
    "tell": {
        "videos": [
            {"index": 1, "tutorial": False, "kind": "review"},
            {"index": 0, "tutorial": True, "reason": "shows how"},
        ]
    },
    "score": {
        "suitability": 4,
        "has_computer_operation": True,
        "reconstructible": True,
        "clear_picture": True,
        "reason": "clear",
    },
    "mine": {
        "tasks": [{"t_start": 5, "t_end": 16, "instruction": "Make a poster.", "app": "gimp", "evidence": "click"}]
    },
    "review": {"decisions": [{"index": 0, "keep": True, "kind": "click"}, {"index": 1, "keep": False}]},
}


@pytest.fixture(params=["rules", "openai_api"])
def annotator(request: pytest.FixtureRequest, chat_server: Any) -> Annotator:
    if request.param == "rules":
        return RulesAnnotator(load())
    chat_server.script = [json.dumps(ANSWERS[request.node.originalname.split("_")[1]])] * 3
    return OpenAIAnnotator(ChatClient(chat_server.url, "k", "m", 5.0))


def test_tell_says_nothing_or_one_opinion_per_video_in_order(annotator: Annotator) -> None:
    other = VIDEO.model_copy(update={"source_id": "w", "title": "Is GIMP worth it?"})
    told = annotator.tell([VIDEO, other])
    assert [(item.video_id, item.tutorial) for item in told] in ([], [(VIDEO.id, True), (other.id, False)])
    assert all(item.annotator == annotator.name for item in told)


def test_score_is_a_judgement_of_this_video(annotator: Annotator) -> None:
    judgement = annotator.score(VIDEO, SPOKEN, FRAMES)
    assert 0 <= judgement.suitability <= 5 and judgement.has_computer_operation
    assert judgement.annotator == annotator.name and judgement.reason and judgement.video_id == VIDEO.id
    assert annotator.score(VIDEO, SPOKEN, FRAMES) == judgement


def test_mine_gives_ordered_spans_inside_the_video(annotator: Annotator) -> None:
    segments = annotator.mine(VIDEO, SPOKEN, FRAMES)
    assert [item.index for item in segments] == [0]
    assert 4 <= segments[0].t_start <= 5 and 14 <= segments[0].t_end <= 16
    assert segments[0].app == "gimp" and segments[0].instruction and segments[0].video_id == VIDEO.id
    assert segments[0].annotator == annotator.name


def test_review_decides_each_candidate_in_order(annotator: Annotator) -> None:
    picture = np.zeros((40, 60, 3), np.uint8)
    candidates = [
        Candidate(
            t=5.5,
            t_semantic=5.0,
            t_visual=5.5,
            clause="Click the File menu",
            verb="click",
            before=picture,
            after=picture,
        ),
        Candidate(t=18.0, t_semantic=None, t_visual=18.0, clause="", verb="", before=picture, after=picture, score=0.1),
    ]
    segment = annotator_segment()
    reviews = annotator.review(candidates, segment)
    assert [item.keep for item in reviews] == [True, False]
    assert reviews[0].kind == "click" in KINDS
    assert annotator.review([], segment) == []


def annotator_segment() -> Any:
    return RulesAnnotator(load()).mine(VIDEO, SPOKEN, [])[0]
