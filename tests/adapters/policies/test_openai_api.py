"""The endpoint policy over real HTTP: what it sends is what SFT rows hold, what it parses are actions, faults are typed."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuamaster.action_space import CUAAction, to_pixel
from cuamaster.adapters.chat import ChatClient
from cuamaster.adapters.policies.openai_api import OpenAIPolicy
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.dialects import qwen
from cuamaster.dialects.coordinates import Screen
from cuamaster.dialects.registry import dialect
from cuamaster.errors import EndpointUnavailable, InvalidInput, ModelAnswerError, UnknownName
from cuamaster.ports import Frame
from cuamaster.records.episode import Node, Receipt, Usage
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action, Observation, Step

CLICK = 'Action: Open the menu.\n<tool_call>\n{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [12, 34]}}\n</tool_call>'


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "blobs")


@pytest.fixture
def used() -> list[Usage]:
    return []


@pytest.fixture
def policy(endpoint: Any, store: LocalStore, used: list[Usage], task: Task) -> OpenAIPolicy:
    chat = ChatClient(endpoint.url, "none", "qwen3-vl", 10.0, used.append, retries=0, wait=lambda _: None)
    policy = OpenAIPolicy(chat, store, "mixed")
    policy.begin(task)
    return policy


def test_an_answer_becomes_actions_and_usage_is_counted(
    policy: OpenAIPolicy, endpoint: Any, make_frame: Callable[..., Frame], used: list[Usage]
) -> None:
    endpoint.answers = [CLICK]
    decision = policy.decide(make_frame(), [], "")
    assert [item.action for item in decision.actions] == [CUAAction("mouse.click", {"x": 12, "y": 34})]
    assert (decision.thought, decision.raw) == ("Open the menu.", CLICK)
    assert [(usage.purpose, usage.prompt_tokens) for usage in used] == [("policy", 7)]


def test_what_is_sent_is_the_training_row_with_pictures_in_place(
    policy: OpenAIPolicy, endpoint: Any, make_frame: Callable[..., Frame], store: LocalStore, task: Task
) -> None:
    before, now = make_frame(10), make_frame(200)
    observation = Observation(screenshot=store.put(before.png), width=100, height=80)
    action = Action(action=CUAAction("shell.exec", {"command": "ls"}))
    receipt = Receipt(action_id="1", status="effect_seen", response="a.txt", exit_code=0)
    node = Node(index=0, parent=-1, observation=observation, actions=(action,), receipts=(receipt,), thought="Look")
    endpoint.answers = [CLICK]
    policy.decide(now, [node], "the folder is not there")
    sent = endpoint.requests[0]["messages"]
    current = Observation(screenshot=store.put(now.png), width=100, height=80, response="a.txt\n[exit status 0]")
    row = qwen.render_steps(
        [Step(observation=observation, actions=(action,), thought="Look")],
        instruction=task.instruction,
        mode="mixed",
        current=current,
        hint="the folder is not there",
    )
    pictures = [
        part["image_url"]["url"] for message in sent for part in message["content"] if part["type"] == "image_url"
    ]
    assert [base64.b64decode(url.removeprefix("data:image/png;base64,")) for url in pictures] == [before.png, now.png]
    for message in sent:
        message["content"] = [{"type": "image"} if part["type"] == "image_url" else part for part in message["content"]]
    assert sent == row
    assert task.plan[0].arguments["name"] not in json.dumps(sent), "the plan is not shown"


def test_calls_parsed_by_the_server_are_understood(
    policy: OpenAIPolicy, endpoint: Any, make_frame: Callable[..., Frame]
) -> None:
    function = {"name": "shell_exec", "arguments": json.dumps({"command": "ls"})}
    endpoint.answers = [{"content": "Look", "tool_calls": [{"id": "1", "type": "function", "function": function}]}]
    decision = policy.decide(make_frame(), [], "")
    assert [item.action for item in decision.actions] == [CUAAction("shell.exec", {"command": "ls"})]


def test_a_drag_starts_where_the_last_action_left_the_cursor(
    policy: OpenAIPolicy, endpoint: Any, make_frame: Callable[..., Frame], store: LocalStore
) -> None:
    endpoint.answers = [
        '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click_drag", "coordinate": [9, 9]}}</tool_call>'
    ]
    action = Action(action=CUAAction("mouse.click", {"x": 5, "y": 6}))
    observation = Observation(screenshot=store.put(make_frame().png), width=100, height=80)
    node = Node(
        index=0,
        parent=-1,
        observation=observation,
        actions=(action,),
        receipts=(Receipt(action_id="1", status="sent"),),
    )
    decision = policy.decide(make_frame(), [node], "")
    assert decision.actions[0].action == CUAAction("mouse.drag", {"path": [[5, 6], [9, 9]]})


def test_an_unreadable_answer_is_asked_for_once_more(
    policy: OpenAIPolicy, endpoint: Any, make_frame: Callable[..., Frame]
) -> None:
    endpoint.answers = ["I would click.", CLICK]
    assert policy.decide(make_frame(), [], "").actions[0].action.type == "mouse.click"
    assert "no <tool_call>" in endpoint.requests[1]["messages"][-1]["content"]


def test_two_unreadable_answers_are_an_answer_error(
    policy: OpenAIPolicy, endpoint: Any, make_frame: Callable[..., Frame]
) -> None:
    endpoint.answers = ["I would click.", CLICK.replace("[12, 34]", "[12, 3400]")]
    with pytest.raises(ModelAnswerError, match="0-1000"):
        policy.decide(make_frame(), [], "")


@pytest.mark.parametrize(
    ("speaks", "answer", "told"),
    [
        ("ui-tars-1.5", "Thought: Open it.\nAction: click(point='<point>{x} {y}</point>')", "<point>x1 y1</point>"),
        (
            "qwen3.5",
            "Action: Open it.\n<tool_call><function=computer_use><parameter=action>left_click</parameter>"
            "<parameter=coordinate>[{x}, {y}]</parameter></function></tool_call>",
            "<function=function-name>",
        ),
        ("evocua", CLICK.replace("[12, 34]", "[{x}, {y}]").replace("Open the menu", "Open it"), "0-999"),
    ],
)
def test_a_model_is_spoken_to_in_its_own_dialect(
    endpoint: Any, store: LocalStore, task: Task, make_frame: Callable[..., Frame], speaks: str, answer: str, told: str
) -> None:
    chat = ChatClient(endpoint.url, "none", "model", 10.0, lambda _: None, retries=0, wait=lambda _: None)
    policy = OpenAIPolicy(chat, store, "gui", speaks=speaks)
    policy.begin(task)
    frame = make_frame()
    height, width = frame.image.shape[:2]
    x, y = dialect(speaks).space.write((500, 500), Screen(width, height))
    answer = answer.replace("{x}", str(x)).replace("{y}", str(y))
    endpoint.answers = [answer, answer]
    decision = policy.decide(frame, [], "")
    click = decision.actions[0].action
    pixel = (to_pixel(click.args["x"], width), to_pixel(click.args["y"], height))
    assert click.type == "mouse.click" and abs(pixel[0] - width / 2) <= 1 and abs(pixel[1] - height / 2) <= 1
    assert decision.thought.startswith("Open it")
    assert told in endpoint.requests[0]["messages"][0]["content"][0]["text"]
    # what was done is told in the same words
    observation = Observation(screenshot=store.put(frame.png), width=width, height=height)
    node = Node(index=0, parent=-1, observation=observation, actions=decision.actions, thought=decision.thought)
    policy.decide(make_frame(9), [node], "")
    said = endpoint.requests[1]["messages"][2]["content"][0]["text"]
    assert dialect(speaks).parse(said, Screen(width, height)) == [click]


def test_a_format_without_a_prompt_or_words_for_the_mode_is_refused(endpoint: Any, store: LocalStore) -> None:
    chat = ChatClient(endpoint.url, "none", "model", 10.0, lambda _: None, retries=0, wait=lambda _: None)
    with pytest.raises(InvalidInput, match="has no prompt"):
        OpenAIPolicy(chat, store, speaks="gemini")
    with pytest.raises(InvalidInput, match="has no words for the shell"):
        OpenAIPolicy(chat, store, "mixed", speaks="ui-tars")
    with pytest.raises(UnknownName, match="ui-tars"):
        OpenAIPolicy(chat, store, speaks="klingon")


def test_a_failing_endpoint_is_unavailable(
    policy: OpenAIPolicy, endpoint: Any, make_frame: Callable[..., Frame]
) -> None:
    endpoint.answers = [500]
    with pytest.raises(EndpointUnavailable):
        policy.decide(make_frame(), [], "")
