"""Strategies for every action of the action space, and the screens and resizers that dialects are tried on."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cuamaster.action_space import BUTTONS, KEYS, MODIFIERS, CUAAction

SCREENS = ((1024, 768), (1280, 800), (1920, 1080), (2560, 1440), (3840, 2160))
coords = st.one_of(st.integers(0, 1000), st.floats(0, 1000))
seconds = st.one_of(st.integers(0, 300), st.floats(0, 300))
texts = st.one_of(
    st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), min_size=1),
    st.sampled_from(
        [
            "it's done", 'say "hi", ok', "C:\\new\\temp\\", "a\nb\n", "```", "</tool_call>", "</think>", "')", "<|box_end|>",
            "\nAction: click(start_box='(1,1)')", "{\"action\": \"wait\"}", "naïve ☕ 日本語", "\\'", "-->", "</action>", "\t\r\n",
        ]
    ),
)  # fmt: skip
keys = st.sampled_from(sorted(KEYS))
modifiers = st.lists(st.sampled_from(MODIFIERS), unique=True, min_size=1)
points = st.tuples(coords, coords).map(list)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=5,
)


def _built(name: str, required: dict[str, Any], optional: dict[str, Any] | None = None) -> st.SearchStrategy[CUAAction]:
    return st.fixed_dictionaries(required, optional=optional or {}).map(lambda args: CUAAction(name, args))


def _scroll(pair: tuple[int, int], point: list[Any] | None, held: list[str] | None) -> CUAAction:
    args: dict[str, Any] = {"dx": pair[0], "dy": pair[1]} | ({"modifiers": held} if held else {})
    return CUAAction("mouse.scroll", args if point is None else {**args, "x": point[0], "y": point[1]})


def _button(kind: str) -> st.SearchStrategy[CUAAction]:
    button = {"button": st.sampled_from(BUTTONS)}
    return _built(kind, {"x": coords, "y": coords}, button) | _built(kind, {}, button)


ANY_ACTION = st.one_of(
    _built(
        "mouse.click",
        {"x": coords, "y": coords},
        {"button": st.sampled_from(BUTTONS), "count": st.integers(1, 3), "modifiers": modifiers},
    ),
    _built("mouse.move", {"x": coords, "y": coords}),
    _built("mouse.move_relative", {"dx": st.integers(-9, 9), "dy": st.integers(-9, 9)}),
    _built(
        "mouse.drag",
        {"path": st.lists(points, min_size=2, max_size=4)},
        {"button": st.sampled_from(BUTTONS), "modifiers": modifiers},
    ),
    st.builds(
        _scroll,
        st.tuples(st.integers(-100, 100), st.integers(-100, 100)).filter(any),
        st.none() | points,
        st.none() | modifiers,
    ),
    _button("mouse.down"),
    _button("mouse.up"),
    _built("keyboard.type", {"text": texts}),
    _built("keyboard.press", {"keys": st.lists(keys, min_size=1, max_size=4)}),
    _built("keyboard.hold", {"keys": st.lists(keys, min_size=1, max_size=3), "seconds": seconds}),
    _built("keyboard.down", {"key": keys}),
    _built("keyboard.up", {"key": keys}),
    _built("shell.exec", {"command": texts}, {"cwd": texts, "timeout": st.floats(0, 3600)}),
    _built("tool.call", {"name": texts}, {"arguments": st.dictionaries(texts, json_values)}),
    _built("wait", {"seconds": seconds}),
    _built(
        "finish", {"status": st.sampled_from(["success", "failure", "infeasible"])}, {"answer": st.just("") | texts}
    ),
)
