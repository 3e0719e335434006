"""The recordings that reconstruction is measured on: their truth does what the scenario says, and each belongs to one set."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from cuamaster.samples.record import Recorder

_BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
_FOLDERS = {
    path.parent.name: path.parent
    for kind in ("recordings", "tutorials")
    for path in _BENCHMARKS.glob(f"{kind}/*/scenario.yaml")
}
_NAMES = sorted(_FOLDERS)
_ACTS = ("click", "right_click", "double_click", "drag", "scroll", "type", "key")


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_module", _BENCHMARKS / name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _scenario(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((_FOLDERS[name] / "scenario.yaml").read_text())
    return loaded


@pytest.mark.parametrize("kind", ["recordings", "tutorials"])
def test_half_of_the_recordings_and_more_were_never_tuned_on(kind: str) -> None:
    sets = [_scenario(name)["set"] for name in _NAMES if _FOLDERS[name].parent.name == kind]
    assert set(sets) == {"development", "held-out"}
    assert sets.count("held-out") >= 5


@pytest.mark.parametrize("name", _NAMES)
def test_truth_is_the_scenario_with_times(name: str) -> None:
    scenario = _scenario(name)
    truth = json.loads((_FOLDERS[name] / "truth.json").read_text())
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
    assert bool(list(_FOLDERS[name].glob("tutorial*.vtt"))) == bool(scenario["captions"])


def test_a_recording_published_smaller_has_its_places_in_its_own_pixels(tmp_path: Path) -> None:
    recorder = Recorder({"size": [1600, 900]}, tmp_path, ":1", "root")
    recorder.actions = [{"type": "drag", "x": 800, "y": 450, "x2": 1600, "y2": 900}, {"type": "key", "keys": "a"}]
    recorder.cursor = [(0.5, 400, 300)]
    recorder.scale(1280, 720)
    assert recorder.actions[0] == {"type": "drag", "x": 640, "y": 360, "x2": 1280, "y2": 720}
    assert recorder.cursor == [(0.5, 320, 240)] and recorder.size == (1280, 720)
    assert recorder.as_user("date") == ("runuser", "-u", "root", "--", "date")
    assert Recorder({"size": [8, 8]}, tmp_path, ":1").as_user("date") == ("date",)


def test_figures_of_a_set_weigh_every_action_alike() -> None:
    bench = _module("reconstruction.py")
    row = {"set": "held-out", "actions": 10, "reconstructed": 8, "clicks": 4, "typed": 0, "recall": 0.8, "precision": 1.0,
           "clicks_within_20": 1.0, "typed_exact": 1.0, "invented": 1}  # fmt: skip
    other = {
        **row,
        "actions": 30,
        "reconstructed": 32,
        "clicks": 4,
        "typed": 2,
        "recall": 0.4,
        "precision": 0.5,
        "clicks_within_20": 0.5,
    }
    assert bench.pooled([row, other, {**row, "set": "bundled"}])["held-out"] == {
        "recordings": 2, "actions": 40, "recall": 0.5, "precision": 0.6, "clicks_within_20": 0.75, "typed_exact": 1.0, "invented": 2,
    }  # fmt: skip


def test_a_recording_that_does_other_things_is_refused(tmp_path: Path) -> None:
    maker = _module("recordings/make.py")
    source, made = tmp_path / "source" / "one", tmp_path / "out" / "one"
    for folder in (source, made):
        folder.mkdir(parents=True)
        (folder / "scenario.yaml").write_text("set: development\n")
    (source / "truth.json").write_text('{"actions": [{"type": "key", "keys": "a", "t_start": 1.0, "t_end": 1.1}]}')
    (made / "truth.json").write_text('{"actions": [{"type": "key", "keys": "a", "t_start": 2.0, "t_end": 2.1}]}')
    assert maker.make(source, tmp_path / "out", "nobody-here") == made  # only the times differ
    (made / "truth.json").write_text('{"actions": []}')
    with pytest.raises(SystemExit, match="does other things"):
        maker.make(source, tmp_path / "out", "nobody-here")
    (made / "scenario.yaml").write_text("set: held-out\n")
    with pytest.raises(SystemExit, match="no user 'nobody-here'"):
        maker.make(source, tmp_path / "out", "nobody-here")
