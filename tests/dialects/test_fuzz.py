"""No words crash, hang or run: any text gives valid actions or an UnreadableAnswer that names dialect and place."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuamaster.action_space import CUAAction
from cuamaster.dialects.coordinates import Screen
from cuamaster.dialects.dialect import Dialect
from cuamaster.dialects.registry import DIALECTS
from cuamaster.errors import UnreadableAnswer

EVERY = pytest.mark.parametrize("spoken", DIALECTS.values(), ids=DIALECTS)
SCREEN = Screen(1920, 1080, (500, 500))
PIECES = st.sampled_from(
    [
        "<tool_call>", "</tool_call>", '{"name": "computer_use", "arguments": {', '"action": "left_click"', '"coordinate": [', "}}", "]",
        "<function=computer_use>", "<parameter=action>", "</parameter>", "</function>", "```python\n", "```", "\n", "Thought: ", "Action: ",
        "click(", "start_box='(", "<|box_start|>", "<point>1 2</point>", ")", "'", '"', "\\", "type(content='", "pyautogui.", "write(", "x=", "1e999",
        "for i in range(3):\n    ", "with pyautogui.hold('shift'): ", "import os\n", "lambda: ", "**{}", "[]" , "computer.terminate(", "WAIT", "DONE",
        "<action>", "</action>", "<think>", "</think>", "ClickAction(", "{'type':", "TypeAction(text=", "[{", ",", ":", "null", "-1", "é", "\ud800", "\x00",
        '{"type": "computer_call", "actions": [', '{"type": "tool_use", "input": ', '{"functionCall": {"name": "click", "args": ', '{"action_type": "CLICK"',
    ]
)  # fmt: skip
SOUP = st.lists(PIECES | st.text(max_size=6), max_size=25).map("".join)


def _read(spoken: Dialect, text: str) -> None:
    try:
        actions = spoken.parse(text, SCREEN)
    except UnreadableAnswer as exc:
        assert exc.dialect == spoken.name and 0 <= exc.offset <= len(text) and exc.field
        assert spoken.name in str(exc) and len(str(exc)) < 1500
        return
    for action in actions:
        action.validate()


@EVERY
@given(SOUP)
def test_any_soup_of_pieces_is_read_or_refused(spoken: Dialect, text: str) -> None:
    _read(spoken, text)


CALLS: tuple[dict[str, Any], ...] = (
    {"type": "computer_call", "action": {"type": "drag", "path": [{"x": 1, "y": 2}, [3, 4]], "keys": ["CTRL"]}},
    {"type": "computer_call", "actions": [{"type": "scroll", "x": 1, "y": 2, "scroll_y": 100}, {"type": "keypress", "keys": ["A"]}]},
    {"type": "tool_use", "name": "computer", "input": {"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [3, 4], "text": "shift"}},
    {"type": "tool_use", "name": "computer", "input": {"action": "key", "text": "a", "repeat": 2}},
    {"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [1, 2], "x": 1, "y": 2, "text": "ctrl", "pixels": 1}},
    {"name": "computer_use", "arguments": {"action": "drag", "coordinate": [1, 2], "coordinate2": [3, 4], "keys": ["a"], "time": 1}},
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "scroll", "args": {"x": 1, "y": 2, "direction": "up", "keys": ["a"]}}}]}}]},
    {"action_type": "CLICK", "parameters": {"x": 1, "y": 2, "button": "left", "num_clicks": 1, "dx": 1, "keys": ["a"], "text": "t"}},
    {"action": "left_click", "start_box": [1, 2], "end_box": "[3,4]", "hold_keys": "ctrl", "direction": "up", "step": 1, "keys": "a"},
    {"type": "DragAction", "from_x": 1, "from_y": 2, "to_x": 3, "to_y": 4, "keys": ["a"], "amount": 100},
)  # fmt: skip
OTHER: tuple[Any, ...] = (None, True, -1, 1.5, "", "x", [], ["a"], [[1, 2]], {}, {"a": 1})


def _changed(value: Any) -> Iterator[Any]:
    """The value with one of its parts, at any depth, of another type."""
    yield from OTHER
    if isinstance(value, dict):
        for key, item in value.items():
            yield from ({**value, key: other} for other in _changed(item))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from ([*value[:index], other, *value[index + 1 :]] for other in _changed(item))


@EVERY
def test_no_value_of_a_call_may_be_of_any_type_and_break_it(spoken: Dialect) -> None:
    for call in CALLS:
        for other in _changed(call):
            _read(spoken, json.dumps(other))


@EVERY
@given(st.data())
@settings(max_examples=60)
def test_a_damaged_answer_is_read_or_refused(spoken: Dialect, data: st.DataObject) -> None:
    text = spoken.render(
        [CUAAction("mouse.click", {"x": 5, "y": 6}), CUAAction("keyboard.type", {"text": 'it\'s "so"\n'})], SCREEN
    )
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(at, len(text)))
    _read(spoken, text[:at] + data.draw(st.text(max_size=3)) + text[end:])


BOMBS = {
    "open brackets": "[" * 100_000,
    "open objects": '{"a":' * 60_000,
    "open calls": "pyautogui.click(" * 20_000,
    "unclosed strings": "type(content='x)\n" * 20_000,
    "minus signs": "pyautogui.click(" + "-" * 100_000 + "1, 2)",
    "attributes": "a" + ".a" * 100_000,
    "additions": "pyautogui.click(" + "1+" * 50_000 + "1, 2)",
    "powers": "```python\npyautogui.click(9**9**9**9, 1)\n```",
    "long loops": "```python\nfor i in range(10**9):\n    pyautogui.click(1, 1)\n```",
    "nested loops": "```python\n" + "".join("    " * n + "for i in range(100):\n" for n in range(8)) + "    " * 8 + "pyautogui.press('a')\n```",
    "empty nested loops": "```python\n" + "".join("    " * n + "for i in range(100):\n" for n in range(8)) + "    " * 8 + "pass\n```",
    "doubling strings": "```python\na = 'x' * 10\n" + "a = a + a\n" * 60 + "pyautogui.write(a)\n```",
    "doubling lists": "```python\na = ['x']\n" + "a = [a, a]\n" * 60 + "pyautogui.press(a)\n```",
    "deepening lists": "```python\na = ['x']\n" + "a = [a]\n" * 5000 + "pyautogui.press(a)\n```",
    "deep coordinates": '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": ' + "[" * 850 + "]" * 850 + "}}",
    "deep arguments": '<tool_call>{"name": "tool_call", "arguments": {"name": "x", "arguments": {"a": ' + "[" * 850 + "]" * 850 + "}}}",
    "fences": "```" * 100_000,
    "tags": "<tool_call>" * 30_000,
    "functions": "<function=computer_use><parameter=text>" * 9_000,
    "quotes": "\"'" * 100_000,
    "object quotes": '{"a": "' + '" ' * 150_000,
    "backslashes": "type(content='" + "\\" * 200_000,
    "digits": '<tool_call>{"name": "computer_use", "arguments": {"action": "wait", "time": ' + "9" * 100_000 + "}}",
    "big coordinates": '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [' + "9" * 400 + ", 1]}}",
    "too long": "x" * 1_000_000,
    "blanks": "click(" + " " * 300_000,
    "actions": "Action:\n" * 50_000,
    "thinks": "<think>" * 50_000 + "</think>",
}  # fmt: skip


@pytest.mark.timeout(90)  # a hang, not a claim about speed: each takes less than a second
@EVERY
@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_no_bomb_goes_off(spoken: Dialect, bomb: str) -> None:
    _read(spoken, bomb)


_SEEN: list[str] = []
_LISTENING: list[bool] = []


def _listen(event: str, args: Any) -> None:
    # an audit hook can never be taken off again, so it only counts while a test asks for it; where the code does not parse,
    # Python itself looks for a file of the parser's made-up name to show the line
    if _LISTENING and event in ("exec", "import", "open", "os.system", "subprocess.Popen") and args[0] != "<unknown>":
        _SEEN.append(event)


sys.addaudithook(_listen)


@EVERY
def test_nothing_is_ever_run(spoken: Dialect) -> None:
    _SEEN.clear()
    for code in (
        "__import__('os').system('true')",
        "pyautogui.write(open('/etc/passwd').read())",
        "pyautogui.click(__import__('os').getpid(), 1)",
        "import subprocess\nsubprocess.run(['true'])",
        "(lambda: 1)()",
        "exec('1')",
    ):
        for text in (
            f"```python\n{code}\n```",
            f"<action>{code}</action>",
            f"Action: {code}",
            code,
            json.dumps({"code": code}),
        ):
            _LISTENING.append(True)
            try:
                with pytest.raises(UnreadableAnswer):
                    spoken.parse(text, SCREEN)
            finally:
                _LISTENING.clear()
    assert _SEEN == []
