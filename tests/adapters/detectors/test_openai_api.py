"""The model detector against a compatible server: a usable answer becomes a divergence, anything else the other detector's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.chat import ChatClient
from cuamaster.adapters.desktops.simulated import SimulatedDesktop
from cuamaster.adapters.detectors.openai_api import MAX_IMAGES, OpenAIDetector
from cuamaster.adapters.meters.jsonl import JsonlMeter
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.errors import BudgetExceeded, InvalidInput
from cuamaster.ports import Desktop
from cuamaster.records.condition import FileText
from cuamaster.records.episode import Boundary, Node, Usage
from cuamaster.records.task import Environment, Task
from cuamaster.records.trajectory import Action, Observation, StateSignature
from cuamaster.records.verdict import Check, Divergence, Verdict

GOAL = FileText(path="~/plants.txt", text="water twice")
TASK = Task(
    instruction="Write the note.", environment=Environment(image="i", image_digest="d"), verifier=GOAL, plan=(), strategy="imported",
)  # fmt: skip
FAILED = Verdict(status="failed", checks=(Check(condition=GOAL, holds=False, observed="no such file"),))
BOUNDARIES = [Boundary(label=f"s{n}", node=n, use=0, signature=StateSignature(active=None)) for n in (-1, 1, 3)]


class Other:
    """A detector that always says the same."""

    name = "rules"

    def locate(
        self, task: Task, path: Sequence[Node], desktop: Desktop, boundaries: Sequence[Boundary], verdict: Verdict,
        *, history: Sequence[Boundary] = (),
    ) -> Divergence:  # fmt: skip
        return Divergence(step=0, snapshot=boundaries[0].label, feedback="Something is missing.", detector=self.name)


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "blobs")


@pytest.fixture
def path(store: LocalStore) -> list[Node]:
    with_picture = store.put(SimulatedDesktop("i").screenshot().png)
    return [
        Node(
            index=index,
            parent=index - 1,
            observation=Observation(screenshot=with_picture, width=1280, height=800),
            actions=(Action(action=CUAAction("keyboard.type", {"text": f"word{index}"})),),
        )
        for index in range(MAX_IMAGES + 4)
    ]


def ask(server: Any, store: LocalStore, path: list[Node], **options: Any) -> Divergence:
    chat = ChatClient(server.url, "k", "critic", 5.0, retries=0, wait=lambda _: None, **options)
    return OpenAIDetector(chat, store, Other()).locate(TASK, path, SimulatedDesktop("i"), BOUNDARIES, FAILED)


def answer(step: int, feedback: str = "The file is not there.") -> str:
    return json.dumps({"step": step, "feedback": feedback})


@pytest.mark.parametrize(("step", "snapshot"), [(1, "s0"), (2, "s0"), (3, "s1"), (4, "s1"), (5, "s2"), (16, "s2")])
def test_the_named_step_leads_to_the_boundary_before_it(
    chat_server: Any, store: LocalStore, path: list[Node], step: int, snapshot: str
) -> None:
    labels = {"s0": "s-1", "s1": "s1", "s2": "s3"}
    chat_server.script = [answer(step)]
    found = ask(chat_server, store, path)
    assert (found.step, found.snapshot, found.detector) == (step - 1, labels[snapshot], "openai_api:critic")
    assert found.feedback == "The file is not there."


def test_what_is_sent_holds_steps_and_pictures_but_no_expected_value(
    chat_server: Any, store: LocalStore, path: list[Node]
) -> None:
    chat_server.script = [answer(1)]
    ask(chat_server, store, path)
    sent = chat_server.requests[0]["messages"]
    words = json.dumps([part for part in sent[1]["content"] if part["type"] == "text"])
    assert "Write the note." in words and "word0" in words and "word15" in words
    assert "water twice" not in words and "plants.txt" not in words
    assert sum(part["type"] == "image_url" for part in sent[1]["content"]) == MAX_IMAGES


@pytest.mark.parametrize(
    "script",
    [
        [answer(17)],
        [answer(0), answer(0)],
        ["step four", "I said: four"],
        ['{"step": 2, "feedback": ""}', "{}"],
        [{"content": None, "refusal": "I will not"}],
        [500],
    ],
)
def test_without_a_usable_answer_the_other_detector_decides(
    chat_server: Any, store: LocalStore, path: list[Node], script: list[Any]
) -> None:
    chat_server.script = script
    found = ask(chat_server, store, path)
    assert (found.detector, found.step, found.snapshot) == ("rules", 0, "s-1")


def test_spent_money_and_a_wrong_key_are_not_passed_over(
    chat_server: Any, store: LocalStore, path: list[Node], tmp_path: Path
) -> None:
    chat_server.script = [401]
    with pytest.raises(InvalidInput, match="401"):
        ask(chat_server, store, path)
    meter = JsonlMeter(tmp_path / "usage.jsonl", budget_tokens=1)
    with pytest.raises(BudgetExceeded):
        meter.record(Usage(endpoint="e", model="m", purpose="p", prompt_tokens=5))
    with pytest.raises(BudgetExceeded):
        ask(chat_server, store, path, before_call=meter.check)
