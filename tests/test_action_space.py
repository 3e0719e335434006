"""The action space rejects everything outside it, names the field, and survives a JSON round trip."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.action_space import (
    KEY_ALIASES,
    KEYS,
    SPECS,
    CUAAction,
    canonical_key,
    from_pixel,
    json_schema,
    to_pixel,
)
from cuamaster.errors import InvalidAction

LEGAL: list[tuple[str, dict[str, Any]]] = [
    ("mouse.click", {"x": 0, "y": 1000}),
    ("mouse.click", {"x": 1.5, "y": 2, "button": "forward", "count": 3, "modifiers": ["ctrl", "Shift_L"]}),
    ("mouse.move", {"x": 10, "y": 20}),
    ("mouse.move_relative", {"dx": -3.5, "dy": 0}),
    ("mouse.drag", {"path": [[0, 0], [10, 10], [1000, 1000]], "button": "left"}),
    ("mouse.scroll", {"dx": 0, "dy": -3}),
    ("mouse.scroll", {"x": 500, "y": 500, "dx": 2}),
    ("mouse.down", {}),
    ("mouse.up", {"button": "right", "x": 1, "y": 1}),
    ("keyboard.type", {"text": "héllo 世界 🙂 <>&|\"'\n"}),
    ("keyboard.press", {"keys": ["ctrl", "s"]}),
    ("keyboard.hold", {"keys": ["w"], "seconds": 0.5}),
    ("keyboard.down", {"key": "Return"}),
    ("keyboard.up", {"key": "KP_0"}),
    ("shell.exec", {"command": "ls", "cwd": "/", "timeout": 5}),
    ("tool.call", {"name": "search", "arguments": {"q": "x", "n": [1, None]}}),
    ("wait", {"seconds": 1}),
    ("finish", {"status": "infeasible", "answer": ""}),
]

ILLEGAL: list[tuple[Any, Any, str]] = [
    ("mouse.tap", {}, "type"),
    (None, {}, "type"),
    ("mouse.click", None, "args"),
    ("mouse.click", {"x": 1}, "y"),
    ("mouse.click", {"x": math.nan, "y": 1}, "x"),
    ("mouse.click", {"x": math.inf, "y": 1}, "x"),
    ("mouse.click", {"x": "1", "y": 1}, "x"),
    ("mouse.click", {"x": True, "y": 1}, "x"),
    ("mouse.click", {"x": 1000.01, "y": 1}, "x"),
    ("mouse.click", {"x": -0.01, "y": 1}, "x"),
    ("mouse.click", {"x": 1, "y": 1, "z": 1}, "z"),
    ("mouse.click", {"x": 1, "y": 1, "button": "wheel"}, "button"),
    ("mouse.click", {"x": 1, "y": 1, "count": 4}, "count"),
    ("mouse.click", {"x": 1, "y": 1, "count": True}, "count"),
    ("mouse.click", {"x": 1, "y": 1, "count": 1.0}, "count"),
    ("mouse.click", {"x": 1, "y": 1, "modifiers": ["a"]}, "modifiers[0]"),
    ("mouse.click", {"x": 1, "y": 1, "modifiers": "ctrl"}, "modifiers"),
    ("mouse.down", {"x": 1}, "y"),
    ("mouse.drag", {"path": [[0, 0]]}, "path"),
    ("mouse.drag", {"path": [[0, 0], [0, 1001]]}, "path[1].y"),
    ("mouse.drag", {"path": [[0, 0], [0]]}, "path[1]"),
    ("mouse.scroll", {"x": 1, "y": 1}, "dy"),
    ("mouse.scroll", {"dx": 0, "dy": 0}, "dy"),
    ("mouse.scroll", {"dy": 101}, "dy"),
    ("mouse.scroll", {"dy": 0.5}, "dy"),
    ("keyboard.type", {"text": ""}, "text"),
    ("keyboard.type", {"text": "a\x00"}, "text"),
    ("keyboard.type", {"text": 5}, "text"),
    ("keyboard.press", {"keys": []}, "keys"),
    ("keyboard.press", {"keys": "ctrl+s"}, "keys"),
    ("keyboard.press", {"keys": ["ctrl", "hyperdrive"]}, "keys[1]"),
    ("keyboard.hold", {"keys": ["a"], "seconds": -1}, "seconds"),
    ("keyboard.down", {"key": ""}, "key"),
    ("shell.exec", {"command": ""}, "command"),
    ("shell.exec", {"command": "ls", "timeout": math.nan}, "timeout"),
    ("tool.call", {"name": "x", "arguments": {"a": math.nan}}, "arguments"),
    ("tool.call", {"name": "x", "arguments": {1: 2}}, "arguments"),
    ("wait", {"seconds": 301}, "seconds"),
    ("finish", {"status": "done"}, "status"),
    ("finish", {}, "status"),
]


@pytest.mark.parametrize(("kind", "args"), LEGAL)
def test_legal_actions_validate_and_round_trip(kind: str, args: dict[str, Any]) -> None:
    action = CUAAction(kind, args)
    action.validate()
    assert CUAAction.from_json(action.to_json()) == action
    assert copy.deepcopy(action) == action
    assert action.category == SPECS[kind].category


@pytest.mark.parametrize(("kind", "args", "field"), ILLEGAL)
def test_illegal_actions_name_the_field(kind: Any, args: Any, field: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        CUAAction(kind, args).validate()
    assert caught.value.field == field
    assert field.split("[")[0].split(".")[0] in str(caught.value)


def test_every_type_has_a_legal_example() -> None:
    assert {kind for kind, _ in LEGAL} == set(SPECS)


def test_actions_are_frozen_all_the_way_down() -> None:
    source = {"path": [[0, 0], [1, 1]]}
    action = CUAAction("mouse.drag", source)
    source["path"].append([2, 2])
    assert len(action.args["path"]) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        action.type = "wait"  # type: ignore[misc]
    with pytest.raises(TypeError):
        action.args["path"] = []  # type: ignore[index]


def test_equal_actions_hash_alike() -> None:
    assert CUAAction("mouse.move", {"x": 5, "y": 5}) == CUAAction("mouse.move", {"x": 5.0, "y": 5.0})
    assert len({CUAAction("mouse.move", {"x": 5, "y": 5}), CUAAction("mouse.move", {"x": 5.0, "y": 5.0})}) == 1


@pytest.mark.parametrize("text", ["", "[]", '"x"', "{}", '{"type":"wait","args":{"seconds":1},"extra":1}', "{'type'"])
def test_malformed_json_is_an_invalid_action(text: str) -> None:
    with pytest.raises(InvalidAction):
        CUAAction.from_json(text)


def test_key_aliases_lead_to_known_keys() -> None:
    assert all(target in KEYS for target in KEY_ALIASES.values())
    assert canonical_key("Return") == canonical_key("ENTER") == "enter"
    assert canonical_key("A") == "a"


@given(st.integers(1, 8000), st.data())
def test_pixels_survive_normalization_at_any_resolution(size: int, data: st.DataObject) -> None:
    pixel = data.draw(st.integers(0, size - 1))
    assert to_pixel(from_pixel(pixel, size), size) == pixel


@pytest.mark.parametrize("size", [1, 720, 768, 1080, 1280, 1920, 3840])
def test_the_ends_of_the_range_stay_on_the_screen(size: int) -> None:
    assert to_pixel(0, size) == 0
    assert to_pixel(1000, size) == size - 1


def test_json_schema_covers_every_type_and_is_plain_json() -> None:
    schema = json_schema()
    assert [variant["properties"]["type"]["const"] for variant in schema["oneOf"]] == list(SPECS)
    assert json.loads(json.dumps(schema)) == schema
