"""The recordings that reconstruction is measured on: their truth does what the scenario says, and each belongs to one set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

_FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "recordings"
_NAMES = sorted(path.parent.name for path in _FOLDER.glob("*/scenario.yaml"))
_ACTS = ("click", "right_click", "double_click", "drag", "scroll", "type", "key")


def _scenario(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((_FOLDER / name / "scenario.yaml").read_text())
    return loaded


def test_half_of_the_recordings_and_more_were_never_tuned_on() -> None:
    sets = [_scenario(name)["set"] for name in _NAMES]
    assert set(sets) == {"development", "held-out"}
    assert sets.count("held-out") >= 5


@pytest.mark.parametrize("name", _NAMES)
def test_truth_is_the_scenario_with_times(name: str) -> None:
    scenario = _scenario(name)
    truth = json.loads((_FOLDER / name / "truth.json").read_text())
    steps = [next(iter(step.items())) for step in scenario["steps"]]
    told = [(kind, value) for kind, value in steps if kind in _ACTS]
    across = truth["size"][0] / scenario["size"][0]
    assert [action["type"] for action in truth["actions"]] == [kind for kind, _ in told]
    for action, (_, value) in zip(truth["actions"], told, strict=True):
        assert all(action[part] == value[part] for part in ("text", "keys", "amount") if part in value)
        if "at" in value:
            assert action["x"] == pytest.approx(value["at"][0] * across, abs=0.1)
    times = [action["t_start"] for action in truth["actions"]]
    assert times == sorted(times)
    spans = [(task["t_start"], task["t_end"]) for task in truth["tasks"]]
    assert all(any(start <= t <= end for start, end in spans) for t in times)
    assert [line["text"] for line in truth["narration"]] == [value for kind, value in steps if kind == "say"]
    assert bool(list((_FOLDER / name).glob("tutorial*.vtt"))) == bool(scenario["captions"])
