"""What TRL sees of the desktop: tools by name and schema, pictures in every answer, None where nothing is known."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image
from transformers.utils import get_json_schema

from cuamaster.adapters.desktops.simulated import SimulatedHost
from cuamaster.dialects import qwen
from cuamaster.errors import HostBusy, IntegrityError, InvalidInput, UnknownName
from cuamaster.records.primitive import Mode
from cuamaster.training.trl_environment import environment_factory
from scripts.train_smoke.demonstrations import nothing_to_read

MODES: tuple[Mode, ...] = ("gui", "cli", "mixed")


def made(mode: Mode = "gui", **more: Any) -> Any:
    return environment_factory(SimulatedHost(), nothing_to_read(), mode, **more)()


def tools(environment: Any) -> dict[str, Any]:
    """As GRPOTrainer finds them: public functions of the class but `reset` and `get_reward`."""
    found = inspect.getmembers(type(environment), predicate=inspect.isfunction)
    return {
        name: getattr(environment, name)
        for name, _ in found
        if not name.startswith("_") and name not in ("reset", "get_reward")
    }


@pytest.mark.parametrize("mode", MODES)
def test_the_tools_are_those_that_the_prompt_tells_of(mode: Mode) -> None:
    told = {tool["function"]["name"]: tool["function"]["parameters"] for tool in qwen.tools(mode)}
    found = tools(made(mode))
    assert set(found) == set(told)
    for name, tool in found.items():
        parameters = get_json_schema(tool)["function"]["parameters"]
        assert set(told[name]["properties"]) <= set(parameters["properties"])
        assert set(parameters["required"]) == set(told[name]["required"])


def test_an_episode_as_the_trainer_plays_it(row: dict[str, Any], clock: Callable[[], float]) -> None:
    environment = made(max_side=112, clock=clock)
    (first,) = environment.reset(**row)
    assert first["type"] == "image" and isinstance(first["image"], Image.Image) and first["image"].size == (112, 70)
    calls = [
        {"action": "type", "text": "milk"},
        {"action": "key", "keys": ["ctrl", "s"]},
        {"action": "type", "text": "a.txt\n"},
    ]
    for call in calls:
        text, seen = tools(environment)["computer_use"](**call)
        assert text == {"type": "text", "text": "Done."} and seen["image"].size == (112, 70)
    assert seen["image"].tobytes() != first["image"].tobytes()
    text, _ = environment.computer_use(action="terminate", status="success")
    assert text["text"] == "The episode is over."
    assert (environment.get_reward(), environment.outcome, environment.steps) == (1.0, "passed", 4)
    environment.reset(**row)
    assert environment.get_reward() == 0.0, "one instance plays one episode after the other"


def test_tools_and_shell_answer_in_text(row: dict[str, Any]) -> None:
    environment = made("mixed")
    environment.reset(**{**row, "mode": "mixed"})
    assert environment.tool_call(name="windows.list")[0]["text"].startswith("mousepad: Untitled")
    assert environment.shell_exec(command="pwd")[0]["text"] == "/home/user\n\n[exit status 0]"
    assert "unknown tool" in environment.tool_call(name="reward.give", arguments={})[0]["text"]
    assert "cannot be carried out" in environment.computer_use(action="left_click")[0]["text"]


def test_screens_keep_their_size_where_nothing_is_said(row: dict[str, Any]) -> None:
    assert made().reset(**row)[0]["image"].size == (1280, 800)


def test_rows_that_are_not_as_exported_are_refused(row: dict[str, Any]) -> None:
    environment = made()
    for name in ("task_json", "verifier_sha256", "action_space_version"):
        with pytest.raises(InvalidInput, match=f"no column {name}"):
            environment.reset(**{key: value for key, value in row.items() if key != name})
    with pytest.raises(IntegrityError, match="changed after its release"):
        environment.reset(**{**row, "task_json": row["task_json"].replace("a.txt", "b.txt")})
    with pytest.raises(InvalidInput, match="not a task"):
        environment.reset(**{**row, "task_json": "{"})
    with pytest.raises(InvalidInput, match="action space"):
        environment.reset(**{**row, "action_space_version": "0"})
    with pytest.raises(InvalidInput, match="mode gui, this environment those of cli"):
        made("cli").reset(**row)


def test_a_host_that_is_full_stops_the_training(row: dict[str, Any]) -> None:
    make = environment_factory(SimulatedHost(capacity=1), nothing_to_read(), "gui")
    first = make()
    first.reset(**row)
    with pytest.raises(HostBusy):
        make().reset(**row)


def test_a_dialect_nobody_knows_is_found_before_training() -> None:
    with pytest.raises(UnknownName):
        environment_factory(SimulatedHost(), nothing_to_read(), "gui", speaks="klingon")
