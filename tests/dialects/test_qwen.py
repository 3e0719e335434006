"""Qwen3-VL as policies and training rows speak it: what is not changed on the way, broken answers, messages, modes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.action_space import KEYS, CUAAction
from cuamaster.dialects import qwen
from cuamaster.dialects.conversation import newest
from cuamaster.errors import InvalidAction
from cuamaster.records.trajectory import Action, Observation, Step


@given(st.sampled_from(sorted(KEYS)))
def test_an_expressible_action_is_not_changed(key: str) -> None:
    for action in (
        CUAAction("mouse.click", {"x": 5, "y": 1000, "count": 2}),
        CUAAction("mouse.click", {"x": 0, "y": 7, "button": "right"}),
        CUAAction("mouse.drag", {"path": [[1, 2], [30, 40]]}),
        CUAAction("mouse.scroll", {"x": 1, "y": 2, "dy": -3}),
        CUAAction("keyboard.press", {"keys": ["ctrl", key]}),
        CUAAction("finish", {"status": "success", "answer": "42"}),
    ):
        assert qwen.parse(qwen.render_answer("do", [action])) == [action]


def test_modifiers_are_held_around_the_click() -> None:
    action = CUAAction("mouse.click", {"x": 10.4, "y": 20.6, "modifiers": ["ctrl", "shift"]})
    assert [(part.type, dict(part.args)) for part in qwen.parse(qwen.render_answer("", [action]))] == [
        ("keyboard.down", {"key": "ctrl"}),
        ("keyboard.down", {"key": "shift"}),
        ("mouse.click", {"x": 10, "y": 21}),
        ("keyboard.up", {"key": "shift"}),
        ("keyboard.up", {"key": "ctrl"}),
    ]


def _call(**arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': 'computer_use', 'arguments': arguments})}</tool_call>"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("I would click there.", "tool_call"),
        ('<tool_call>{"name": "computer_use", "arguments": {"action": "left_cl', "tool_call"),
        ("<tool_call>[1]</tool_call>", "tool_call"),
        ('<tool_call>{"name": "computer_use", "arguments": "{}"}</tool_call>', "action"),
        ('<tool_call>{"name": "computer_use", "arguments": 5}</tool_call>', "arguments"),
        ('<tool_call>{"name": "os_system", "arguments": {}}</tool_call>', "name"),
        (_call(action="fly"), "action"),
        (_call(action=["key"]), "action"),
        (_call(action="left_click"), "coordinate"),
        (_call(action="left_click", coordinate=[1]), "coordinate"),
        (_call(action="left_click", coordinate=["one", 2]), "x"),
        (_call(action="left_click", coordinate=[1, 1001]), "y"),
        (_call(action="left_click_drag", coordinate=[1, 2]), "coordinate"),
        (_call(action="key", keys=5), "keys"),
        (_call(action="key", keys=["hyper"]), "keys[0]"),
        (_call(action="scroll", pixels="down"), "pixels"),
        (_call(action="scroll", pixels=0), "pixels"),
        (_call(action="type"), "text"),
        (_call(action="type", text=""), "text"),
        (_call(action="wait", time=-1), "seconds"),
        (_call(action="terminate", status="done"), "status"),
    ],
)
def test_broken_answers_name_the_field(text: str, field: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        qwen.parse(text)
    assert caught.value.field == field


def test_a_missing_closing_tag_is_forgiven_only_after_a_whole_object() -> None:
    whole = _call(action="wait", time=1).removesuffix("</tool_call>")
    assert qwen.parse(whole) == [CUAAction("wait", {"seconds": 1})]
    with pytest.raises(InvalidAction, match="cut off"):
        qwen.parse(whole[:-1])


def test_the_cursor_gives_what_a_call_leaves_out() -> None:
    assert qwen.parse(_call(action="left_click_drag", coordinate=[9, 9]), cursor=(3, 4)) == [
        CUAAction("mouse.drag", {"path": [[3, 4], [9, 9]]})
    ]
    assert qwen.parse(_call(action="left_click"), cursor=(3, 4)) == [CUAAction("mouse.click", {"x": 3, "y": 4})]


def _steps() -> list[Step]:
    def action(kind: str, **args: Any) -> Action:
        return Action(action=CUAAction(kind, args))

    return [
        Step(
            observation=Observation(screenshot="a" * 64, width=10, height=10),
            actions=(action("mouse.click", x=1, y=2),),
            thought="Click it",
        ),
        Step(
            observation=Observation(
                screenshot="b" * 64, width=10, height=10, response="exit 0", feedback="secret feedback"
            ),
            actions=(action("keyboard.type", text="</tool_call> naïve ☕"), action("keyboard.press", keys=["enter"])),
            thought="Type",
        ),
    ]


@pytest.mark.parametrize("mode", ["gui", "cli", "mixed"])
def test_messages_alternate_and_what_the_policy_sends_is_a_prefix_of_the_training_row(mode: Any) -> None:
    steps = _steps()
    row = qwen.render_steps(steps, instruction="Do it", mode=mode)
    assert [message["role"] for message in row] == ["system", "user", "assistant", "user", "assistant"]
    sent = qwen.render_steps(steps[:1], instruction="Do it", mode=mode, current=steps[1].observation)
    assert sent == row[:4]
    assert sum(part["type"] == "image" for message in row for part in message["content"]) == len(qwen.images_of(steps))
    assert qwen.parse(row[4]["content"][0]["text"]) == [item.action for item in steps[1].actions]
    assert "secret feedback" not in json.dumps(row)


def test_only_the_newest_pictures_are_kept_on_request_and_the_hint_goes_to_the_last_turn() -> None:
    steps = _steps()
    now = Observation(screenshot="c" * 64, width=10, height=10)
    sent = qwen.render_steps(steps, instruction="Do it", current=now, hint="nothing was saved", max_images=2)
    assert [[part["type"] for part in message["content"]] for message in sent if message["role"] == "user"] == [
        ["text", "text"],
        ["text", "image"],
        ["text", "image"],
    ]
    assert qwen.images_of(steps, now, 2) == ["b" * 64, "c" * 64]
    assert "nothing was saved" in sent[-1]["content"][0]["text"]
    assert "nothing was saved" not in json.dumps(sent[:-1])


@pytest.mark.parametrize("shown", [1, 2, 9])
def test_a_row_a_step_is_cut_from_the_whole_and_is_what_a_policy_was_sent(shown: int) -> None:
    steps = [*_steps(), *_steps()]
    whole = qwen.render_steps(steps, instruction="Do it")
    for end in range(1, len(steps) + 1):
        row = newest(whole[: 1 + 2 * end], shown)
        past, now = steps[: end - 1], steps[end - 1].observation
        assert row[:-1] == qwen.render_steps(past, instruction="Do it", current=now, max_images=shown)
        assert row[-1] == whole[2 * end]
    assert sum(part["type"] == "image" for turn in whole for part in turn["content"]) == len(steps), (
        "it stays as it was"
    )


def test_modes_offer_only_their_functions() -> None:
    names = {mode: [tool["function"]["name"] for tool in qwen.tools(mode)] for mode in ("gui", "cli", "mixed")}  # type: ignore[arg-type]
    assert names == {
        "gui": ["computer_use", "tool_call"],
        "cli": ["computer_use", "shell_exec", "tool_call"],
        "mixed": ["computer_use", "shell_exec", "tool_call"],
    }
    offered = qwen.tools("cli")[0]["function"]["parameters"]["properties"]
    assert offered["action"]["enum"] == ["wait", "terminate", "answer"]
    assert "coordinate" not in offered
