"""Answers as the models really write them, family by family, and what becomes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.dialects.coordinates import Screen, SmartResize
from cuamaster.dialects.registry import dialect
from cuamaster.errors import Inexpressible, UnreadableAnswer

SCREEN = Screen(1000, 500)
"""One pixel is one thousandth across: what is read shows the dialect's own numbers."""


def _read(name: str, text: str, cursor: tuple[float, float] | None = None) -> list[tuple[str, dict[str, Any]]]:
    actions = dialect(name).parse(text, Screen(SCREEN.width, SCREEN.height, cursor))
    return [(action.type, {k: _rounded(v) for k, v in action.to_dict()["args"].items()}) for action in actions]


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return int(value) if isinstance(value, float) else value


def _computer_call(*actions: dict[str, Any]) -> str:
    return json.dumps({"output": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "why"}]},
                                  {"type": "computer_call", "id": "c", "call_id": "d", "actions": actions}]})  # fmt: skip


CASES: list[tuple[str, str, list[tuple[str, dict[str, Any]]]]] = [
    (
        "openai-computer",
        _computer_call(
            {"type": "click", "button": "wheel", "x": 10, "y": 20, "keys": ["CTRL"]},
            {"type": "scroll", "x": 1, "y": 1, "scroll_x": 0, "scroll_y": 250},
            {"type": "keypress", "keys": ["CTRL", "ARROWLEFT"]},
            {"type": "drag", "path": [{"x": 1, "y": 2}, [3, 4], {"x": 5, "y": 6}]},
            {"type": "screenshot"},
        ),
        [
            ("mouse.click", {"x": 10, "y": 41, "button": "middle", "modifiers": ["ctrl"]}),
            ("mouse.scroll", {"x": 1, "y": 3, "dy": 2}),
            ("keyboard.press", {"keys": ["ctrl", "left"]}),
            ("mouse.drag", {"path": [[1, 5], [3, 9], [5, 13]]}),
            ("wait", {"seconds": 0}),
        ],
    ),
    (
        "openai-computer-preview",
        '{"type": "computer_call", "action": {"type": "double_click", "x": 3, "y": 4, "unknown": 1}}',
        [("mouse.click", {"x": 3, "y": 9, "count": 2})],
    ),
    (
        "openai-computer",
        '[{"type": "message", "content": [{"type": "output_text", "text": "42"}]}]',
        [("finish", {"status": "success", "answer": "42"})],
    ),
    (
        "anthropic-computer-20250124",
        json.dumps(
            {"content": [
                {"type": "text", "text": "I will."},
                {"type": "tool_use", "name": "computer", "input": {"action": "left_click", "coordinate": [10, 20], "text": "ctrl+shift"}},
                {"type": "tool_use", "name": "computer", "input": {"action": "key", "text": "ctrl+Page_Down Return"}},
                {"type": "tool_use", "name": "computer", "input": {"action": "scroll", "coordinate": [1, 1], "scroll_direction": "left", "scroll_amount": 3}},
                {"type": "tool_use", "name": "computer", "input": {"action": "left_click_drag", "start_coordinate": [1, 1], "coordinate": [2, 2]}},
                {"type": "tool_use", "name": "computer", "input": {"action": "hold_key", "text": "KP_0", "duration": 2}},
            ]}
        ),
        [
            ("mouse.click", {"x": 10, "y": 41, "modifiers": ["ctrl", "shift"]}),
            ("keyboard.press", {"keys": ["ctrl", "pagedown"]}),
            ("keyboard.press", {"keys": ["enter"]}),
            ("mouse.scroll", {"x": 1, "y": 3, "dx": -3}),
            ("mouse.drag", {"path": [[1, 3], [2, 5]]}),
            ("keyboard.hold", {"keys": ["kp0"], "seconds": 2}),
        ],
    ),
    (
        "anthropic-computer-20251124",
        '{"type": "tool_use", "name": "left_click", "input": {"coordinate": [10, 20]}}',
        [("mouse.click", {"x": 10, "y": 41})],
    ),
    (
        "qwen2.5-vl",  # the picture is 1008x504
        '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [504, 252]}}</tool_call>',
        [("mouse.click", {"x": 500, "y": 500})],
    ),
    (
        "qwen3.5",
        "Action: Save it.\n<tool_call>\n<function=computer_use>\n<parameter=action>\nleft_click\n</parameter>\n"
        "<parameter=coordinate>\n[500, 300]\n</parameter>\n<parameter=text>\nctrl\n</parameter>\n</function>\n</tool_call>\n"
        "<tool_call><function=computer_use><parameter=action>type</parameter><parameter=text>12</parameter></function></tool_call>",
        [("mouse.click", {"x": 500, "y": 300, "modifiers": ["ctrl"]}), ("keyboard.type", {"text": "12"})],
    ),
    (
        "gui-owl",
        '<thinking>x</thinking>{"name": "computer_use", "arguments": {"action": "type", "text": "a", "clear": 1, "enter": 1}}'
        "<conclusion>typed</conclusion>",
        [
            ("keyboard.press", {"keys": ["ctrl", "a"]}),
            ("keyboard.type", {"text": "a"}),
            ("keyboard.press", {"keys": ["enter"]}),
        ],
    ),
    (
        "gui-owl-1.5",
        "<tool_call>{'name': 'computer_use', 'arguments': {'action': 'scroll', 'pixels': -5}}</tool_call>",
        [("mouse.scroll", {"dy": 5})],
    ),
    (
        "evocua",
        '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [999, 0]}}</tool_call>',
        [("mouse.click", {"x": 1000, "y": 0})],
    ),
    (
        "ui-tars",
        "Thought: Click (there).\nAction: click(start_box='<|box_start|>(100,200)<|box_end|>')\n\ntype(content='it's done\\n')",
        [("mouse.click", {"x": 100, "y": 200}), ("keyboard.type", {"text": "it's done\n"})],
    ),
    (
        "ui-tars",
        "Action: drag(start_box='[100, 100, 200, 200]', end_box='(1,2)')\nhotkey(key='ctrl c')",
        [("mouse.drag", {"path": [[150, 150], [1, 2]]}), ("keyboard.press", {"keys": ["ctrl", "c"]})],
    ),
    (
        "ui-tars-1.5",
        "Thought: x\nAction: left_double(point='<point>504 252</point>')",
        [("mouse.click", {"x": 500, "y": 500, "count": 2})],
    ),
    ("ui-tars-1.5", 'Action: type(content="hello", )', [("keyboard.type", {"text": "hello"})]),
    ("ui-tars-1.5", "Action: type(content='hello)", [("keyboard.type", {"text": "hello"})]),
    ("ui-tars-1.5", "Action: type(content='turn')", [("keyboard.type", {"text": "turn"})]),
    (
        "ui-tars",
        "Thought: first\nAction: hotkey(key='ctrl s')\nAction: wait()",
        [("keyboard.press", {"keys": ["ctrl", "s"]}), ("wait", {"seconds": 5})],
    ),
    ("ui-tars-1.5", "Action: call_user()", [("finish", {"status": "infeasible"})]),
    (
        "osworld-computer-13",
        'I click.\n```json\n{"action_type": "CLICK", "button": "right", "x": 10, "y": 20, "num_clicks": 2}\n```\n'
        '```json\n{"action_type": "SCROLL", "parameters": {"dx": 0, "dy": -3}}\n```\n```\nWAIT\n```',
        [
            ("mouse.click", {"x": 10, "y": 41, "button": "right", "count": 2}),
            ("mouse.scroll", {"dy": 3}),
            ("wait", {"seconds": 2}),
        ],
    ),
    ("osworld-computer-13", "FAIL", [("finish", {"status": "infeasible"})]),
    (
        "osworld-pyautogui",
        "```python\nimport pyautogui\nx, y = 10, 20\nfor i in range(2):\n    pyautogui.click(x + 10 * i, y, clicks=2)\n```\n```DONE```",
        [
            ("mouse.click", {"x": 10, "y": 41, "count": 2}),
            ("mouse.click", {"x": 20, "y": 41, "count": 2}),
            ("finish", {"status": "success"}),
        ],
    ),
    (
        "osworld-pyautogui",
        "```python\npyautogui.write('it's done')\npyautogui.hotkey('ctrl', 's')\n```",
        [("keyboard.type", {"text": "it's done"}), ("keyboard.press", {"keys": ["ctrl", "s"]})],
    ),
    (
        "osworld-pyautogui",
        "```python\nimport pyperclip\npyperclip.copy('日本')\npyautogui.hotkey('ctrl', 'v')\n```",
        [("keyboard.type", {"text": "日本"})],
    ),
    (
        "opencua",
        "# Step 3:\n## Action:\nFinish.\n\n## Code:\n```code\ncomputer.terminate(status='success', answer='4')\n```",
        [("finish", {"status": "success", "answer": "4"})],
    ),
    (
        "agentnet",
        "pyautogui.moveTo(x=0.1, y=0.2)\npyautogui.dragTo(x=0.5, y=0.5, button='left')\npyautogui.hotkey(['ctrl', 'a'])",
        [("mouse.drag", {"path": [[100, 200], [500, 500]]}), ("keyboard.press", {"keys": ["ctrl", "a"]})],
    ),
    (
        "scalecua",
        "<think>pyautogui.click(1, 1)</think><operation>Go</operation><action>\nrightClick(x=504, y=252)\nwait(seconds=2)\n</action>",
        [("mouse.click", {"x": 500, "y": 500, "button": "right"}), ("wait", {"seconds": 2})],
    ),
    (
        "cua-bench",
        "ClickAction(x=10, y=20)\nScrollAction(direction='up')\nHotkeyAction(keys=['ctrl', 'c'])\ndone()",
        [
            ("mouse.click", {"x": 10, "y": 41}),
            ("mouse.scroll", {"dy": -1}),
            ("keyboard.press", {"keys": ["ctrl", "c"]}),
            ("finish", {"status": "success"}),
        ],
    ),
    ("cua-bench", '{"type": "TypeAction", "text": "a"}', [("keyboard.type", {"text": "a"})]),
    (
        "gemini",
        '{"candidates": [{"content": {"parts": [{"text": "I click", "thought": true}, '
        '{"functionCall": {"name": "click", "args": {"x": 999, "y": 0, "intent": "go"}}}]}}]}',
        [("mouse.click", {"x": 999, "y": 0})],
    ),
    (
        "gemini",
        '{"name": "type_text_at", "arguments": {"x": 500, "y": 500, "text": "a", "press_enter": false}}',
        [
            ("mouse.click", {"x": 500, "y": 500}),
            ("keyboard.press", {"keys": ["ctrl", "a"]}),
            ("keyboard.press", {"keys": ["delete"]}),
            ("keyboard.type", {"text": "a"}),
        ],
    ),
    (
        "gemini",
        '{"name": "key_combination", "args": {"keys": "Control+A"}}',
        [("keyboard.press", {"keys": ["ctrl", "a"]})],
    ),
    (
        "glm",
        "I see it.\nAction: <|begin_of_box|>left_double_click(start_box='[999,0]', element_info='OK (1)')<|end_of_box|>\nMemory:\n[]",
        [("mouse.click", {"x": 1000, "y": 0, "count": 2})],
    ),
    (
        "glm",
        '{"action": "scroll", "start_box": [0, 0], "direction": "down"}',
        [("mouse.scroll", {"x": 0, "y": 0, "dy": 5})],
    ),
    # GLM's own runner: words before the box may name what was done; DONE bare; held keys; the last key named again
    (
        "glm",
        "Earlier: left_click(start_box='[1,2]').\n<|begin_of_box|>left_click(start_box='[999,999]', hold_keys='ctrl')<|end_of_box|>",
        [("mouse.click", {"x": 1000, "y": 1000, "modifiers": ["ctrl"]})],
    ),
    ("glm", "left_click(start_box='[1,2]') worked. <|begin_of_box|>done<|end_of_box|>\nMemory:\n[]", [("finish", {"status": "success"})]),
    ("glm", "Nothing yet, WAIT\nMemory:\n[]", [("wait", {"seconds": 5})]),
    ("glm", "key(keys='ctrl+tab+tab')", [("keyboard.press", {"keys": ["ctrl", "tab"]})] * 2),
    # code as GPT and Claude write it for OSWorld
    (
        "osworld-pyautogui",
        "```python\nimport pyautogui as pg\nfor n, word in enumerate(['a', 'b']):\n    spot = (10, 20 + n)\n    pg.moveTo(*spot, 1, pg.easeInQuad)\n"
        "    pg.write(f'{word}{n}')\nfor key in 'xy':\n    pg.press(key)\npg.click(spot[0], spot[1])\n```",
        [
            ("mouse.move", {"x": 10, "y": 41}),
            ("keyboard.type", {"text": "a0"}),
            ("mouse.move", {"x": 10, "y": 43}),
            ("keyboard.type", {"text": "b1"}),
            ("keyboard.press", {"keys": ["x"]}),
            ("keyboard.press", {"keys": ["y"]}),
            ("mouse.click", {"x": 10, "y": 43}),
        ],
    ),
    (
        "qwen3.5",
        "<function=computer_use><parameter=action>key</parameter><parameter=keys>\nctrl+a\n</parameter></function>"
        "<function=computer_use><parameter=action>left_click</parameter><parameter=coordinate>500, 300</parameter></function>",
        [("keyboard.press", {"keys": ["ctrl", "a"]}), ("mouse.click", {"x": 500, "y": 300})],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), CASES, ids=[f"{n}-{c[0]}" for n, c in enumerate(CASES)])
def test_real_words_are_understood(name: str, text: str, expected: list[tuple[str, dict[str, Any]]]) -> None:
    assert _read(name, text) == expected


def test_forgiven_are_broken_quotes_fences_reasoning_and_text_around() -> None:
    click = [("mouse.click", {"x": 5, "y": 6})]
    call = '{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [5, 6]}}'
    for text in (
        f"Sure!\n```json\n{call}\n```\nDone.",
        f"I will click. {call} That is all.",
        f"<think>maybe <tool_call>{{</think>\n<tool_call>{call}</tool_call>",
        f"no opening tag</think>\n<tool_call>{call}</tool_call> and so on",
        "<tool_call>{name: 'computer_use', arguments: {action: 'left_click', coordinate: [5, 6,],},}</tool_call>",
        '<tool_call>{"action": "left_click", "coordinate": [5, 6], "why": null}</tool_call>',
        '<tool_call>{"action": "left_click", "coordinate": "(5, 6)"}</tool_call>',
        f"<tool_call>{json.dumps({'name': 'computer_use', 'arguments': json.dumps({'action': 'left_click', 'coordinate': [5, 6]})})}",
    ):
        assert _read("qwen3-vl", text) == click, text
    for arguments in (
        '"coordinate": [[5, 6]]',
        '"coordinate": ["5", "6"]',
        '"coordinate": {"x": 5, "y": 6}',
        '"coordinate": (5, 6)',
        '"x": 5, "y": 6',
    ):
        assert _read("qwen3-vl", f'<tool_call>{{"action": "left_click", {arguments}}}</tool_call>', (1, 1)) == click, (
            arguments
        )
    assert _read("qwen3-vl", f"<tool_call>\n{call[:-1]}\n</tool_call>") == click  # a brace is missing
    for arguments in (
        '"start_coordinate": [1, 2], "coordinate": [3, 4]',
        '"coordinate": [1, 2], "end_coordinate": [3, 4]',
    ):
        drag = f'<tool_call>{{"action": "left_click_drag", {arguments}}}</tool_call>'
        assert _read("qwen3-vl", drag, (9, 9)) == [("mouse.drag", {"path": [[1, 2], [3, 4]]})]
    keys = '<tool_call>{"action": "key", "keys": ["ctrl+shift+t"]}</tool_call>'
    assert _read("qwen3-vl", keys) == [("keyboard.press", {"keys": ["ctrl", "shift", "t"]})]
    assert _read("qwen3-vl", f"```json\n[{call}, {call}]\n```") == click * 2
    said = '<tool_call>{"name": "computer_use", "arguments": {"action": "type", "text": "say "hi", ok"}}</tool_call>'
    assert _read("qwen3-vl", said) == [("keyboard.type", {"text": 'say "hi", ok'})]
    two = f"<tool_call>{call}\n{call}</tool_call>\n<tool_call>{call}</tool_call>"
    assert _read("qwen3-vl", two) == click * 3


@pytest.mark.parametrize(
    ("name", "text", "field", "offset"),
    [
        ("qwen3-vl", "I would click.", "tool_call", 0),
        ("ui-tars", "Thought: x\nAction: click(start_box='(1,2", "call", 19),
        ("ui-tars", "Action: click(start_box='(10,2000)')", "y", 8),
        ("osworld-pyautogui", "```python\npyautogui.click(1, 1)\npyautogui.click(5000, 1)\n```", "x", 32),
        ("osworld-pyautogui", "```python\nimport os\nos.remove('x')\npyautogui.click(1, 1)\n```", "call", 20),
        ("osworld-pyautogui", "```python\npyautogui.locateOnScreen('x.png')\n```", "call", 10),
        ("osworld-pyautogui", "```python\nprint('pyautogui.click(1, 1)')\n```", "tool_call", 0),
        ("qwen3-vl", '<tool_call>{"action": "type", "text": "cut off</tool_call>', "tool_call", 38),
        ("glm", "left_click(start_box='[1,2]') was it. <|begin_of_box|>nothing<|end_of_box|>", "tool_call", 54),
        ("osworld-pyautogui", "```python\npyperclip.copy('x')\npyautogui.click(1, 1)\n```", "text", 30),
        ("anthropic-computer-20251124", '{"action": "zoom", "region": [0, 0, 1, 1]}', "action", 0),
        ("gemini", '{"name": "navigate", "args": {"url": "https://example.org"}}', "name", 0),
        ("openai-computer", '{"type": "click", "x": 1, "y": 1, "button": "left", "keys": ["HYPER"]}', "keys[0]", 0),
        ("osworld-computer-13", '{"action_type": "FLY"}', "action_type", 0),
        ("openai-computer", '{"type": ["click"]}', "tool_call", 0),
        ("qwen3.5", "<function=computer_use><parameter=action>left", "tool_call", 23),
        ("agentnet", "pyautogui.click(x=960, y=540)", "x", 0),
        ("agentnet", "browser.select_option(x=0.1, y=0.2, value='a')", "call", 0),
        ("ui-tars", "Action: click(start_box='(0.5,0.5)')", "x", 8),
        ("cua-bench", "ScrollAction(direction='round')", "direction", 0),
    ],
)
def test_faults_are_located_and_say_what_to_do(name: str, text: str, field: str, offset: int) -> None:
    with pytest.raises(UnreadableAnswer) as caught:
        dialect(name).parse(text, SCREEN)
    assert (caught.value.dialect, caught.value.field, caught.value.offset) == (name, field, offset)
    assert str(caught.value).startswith(f"{name}, character {offset}: ")


def test_the_pointer_gives_what_a_call_leaves_out() -> None:
    drag = '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click_drag", "coordinate": [9, 9]}}</tool_call>'
    assert _read("qwen3-vl", drag, (3, 4)) == [("mouse.drag", {"path": [[3, 4], [9, 9]]})]
    assert _read("osworld-pyautogui", "```python\npyautogui.moveTo(10, 5)\npyautogui.click()\n```") == [
        ("mouse.move", {"x": 10, "y": 11}),
        ("mouse.click", {"x": 10, "y": 11}),
    ]
    with pytest.raises(UnreadableAnswer, match="where the pointer is is not known"):
        _read("qwen3-vl", drag)


def test_what_cannot_be_said_is_named_and_losses_are_only_taken_when_asked_for() -> None:
    screen = Screen(1920, 1080)
    openai = dialect("openai-computer")
    with pytest.raises(Inexpressible, match="2 clicks of the right button"):
        openai.render([CUAAction("mouse.click", {"x": 1, "y": 1, "button": "right", "count": 2})], screen)
    wait = [CUAAction("wait", {"seconds": 5})]
    with pytest.raises(Inexpressible, match="a wait of 5 s becomes one of 4 s"):
        openai.render(wait, screen)
    assert openai.parse(openai.render(wait, screen, lossy=True), screen) == [CUAAction("wait", {"seconds": 2})] * 2
    assert [
        str(loss) for loss in dialect("ui-tars").express([CUAAction("mouse.scroll", {"dy": 3})], screen).losses
    ] == ["dy: 3 notches become 5: one scroll is 5"]
    with pytest.raises(Inexpressible, match="a command for the shell"):
        dialect("agentnet").render([CUAAction("shell.exec", {"command": "ls"})], screen)


def test_openai_items_are_those_of_its_own_library() -> None:
    from openai.types.responses import ResponseComputerToolCall

    actions = [CUAAction("mouse.click", {"x": 1, "y": 1}), CUAAction("mouse.scroll", {"x": 1, "y": 1, "dy": 2})]
    for name in ("openai-computer", "openai-computer-preview"):
        for item in json.loads(dialect(name).render(actions, SCREEN)):
            ResponseComputerToolCall.model_validate(item)


def test_smart_resize_gives_the_sizes_of_the_original() -> None:
    qwen25, qwen3 = SmartResize(28, 3136, 12_845_056), SmartResize(32, 65_536, 16_777_216)
    assert qwen25.size(1920, 1080) == (1932, 1092)
    assert qwen3.size(1920, 1080) == (1920, 1088)
    assert SmartResize(28, 3136, 2_109_744).size(1920, 1080) == (1932, 1092)
    assert SmartResize(28, 3136, 2_109_744).size(3840, 2160) == (1932, 1064)
    assert SmartResize(28, 78_400, 12_845_056).size(100, 100) == (280, 280)
