"""The benchmark of mining: its figures fall when spans are wrong, and it runs on a bundled tutorial as the product does."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cuamaster.adapters.annotators.rules import RulesAnnotator
from cuamaster.adapters.screens.rapidocr import RapidOcrReader
from cuamaster.assets import samples_folder
from cuamaster.records.condition import AppRunning
from cuamaster.records.transcript import Transcript
from cuamaster.records.video import TaskSegment
from cuamaster.seeding.taxonomy import load

_BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SILENT = Transcript(video_id="v", language="en", origin="vtt", sentences=(), trust=1.0)
TRUTH: dict[str, Any] = {
    "tasks": [
        {"t_start": 10.0, "t_end": 20.0, "instruction": "Save the list as list.txt", "app": "mousepad"},
        {"t_start": 40.0, "t_end": 50.0, "instruction": "Close the window", "app": "mousepad", "continues": True},
    ],
    "actions": [{"id": 0, "type": "click", "t_start": 12.0}, {"id": 1, "type": "type", "t_start": 15.0}, {"id": 2, "type": "key", "t_start": 45.0}],
    "non_operations": [[0.0, 10.0], [20.0, 40.0], [50.0, 60.0]],
    "parts": [{"kind": "sponsor", "t_start": 20.0, "t_end": 30.0}, {"kind": "talk", "t_start": 30.0, "t_end": 40.0}],
}  # fmt: skip


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_mining", _BENCHMARKS / "mining.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def segment(start: float, end: float, instruction: str, **more: Any) -> TaskSegment:
    fields = {
        "video_id": "v",
        "index": 0,
        "app": "mousepad",
        "annotator": "rules",
        "start_state": (AppRunning(app="mousepad"),),
        **more,
    }
    return TaskSegment(t_start=start, t_end=end, instruction=instruction, **fields)


def test_right_spans(bench: ModuleType) -> None:
    found = [
        segment(10.5, 20, "In Mousepad, save the list as list.txt."),
        segment(40, 49, "Close the window", continues=True),
    ]
    row = bench.figures(TRUTH, found, SILENT)
    assert (row["paired"], row["whole"], row["app_right"], row["start_state_right"]) == (2, 2, 2, 2)
    assert (row["start_errors"], row["end_errors"], row["words"]) == ([0.5, 0.0], [0.0, -1.0], [1.0, 1.0])
    assert row["parts"] == {"sponsor": [0.0, 10.0], "talk": [0.0, 10.0]}
    pooled = bench.pooled([{**row, "set": "x"}])
    assert (pooled["recall"], pooled["precision"], pooled["left_in_all"]) == (1.0, 1.0, 0.0)
    assert (pooled["boundary_median_s"], pooled["boundary_p90_s"]) == (0.25, 1.0)


def test_wrong_spans(bench: ModuleType) -> None:
    row = bench.figures(
        TRUTH, [segment(12, 45, "In Gimp, crop.", app="gimp", start_state=()), segment(50, 55, "x")], SILENT
    )
    assert (row["paired"], row["whole"], row["start_errors"]) == (0, 0, [])
    assert row["parts"] == {"sponsor": [10.0, 10.0], "talk": [10.0, 10.0]} and row["quiet_seconds_mined"] == 25.0
    pooled = bench.pooled([row])
    assert (pooled["recall"], pooled["left_in"], pooled["boundary_median_s"]) == (
        0.0,
        {"sponsor": 1.0, "talk": 1.0},
        None,
    )
    half = bench.figures(TRUTH, [segment(10, 20, "In Gimp, crop.", app="gimp", start_state=())], SILENT)
    assert (half["app_right"], half["start_state_right"], half["words"]) == (0, 0, [0.0])


def test_every_tutorial_says_what_is_no_task() -> None:
    for folder in sorted(path.parent for path in _BENCHMARKS.glob("tutorials/*/scenario.yaml")):
        truth = json.loads((folder / "truth.json").read_text())
        assert 2 <= len(truth["tasks"]) <= 4 and all(task["app"] and task["instruction"] for task in truth["tasks"])
        assert {part["kind"] for part in truth["parts"]} >= {"intro", "outro"}
        assert all(part["t_start"] < part["t_end"] <= truth["duration"] for part in truth["parts"])
        assert 50 <= truth["duration"] <= 160


@pytest.mark.slow
def test_a_bundled_tutorial(bench: ModuleType) -> None:
    (row,) = bench.run(samples_folder() / "mousepad-notes", RulesAnnotator(load()), reader=RapidOcrReader())
    assert (row["tasks"], row["mined"], row["whole"], row["dropped"]) == (2, 2, 2, [])
    assert all(abs(error) <= 1.5 for error in row["start_errors"] + row["end_errors"])
    assert bench.report([row], frames=True)["sets"]["bundled"]["recall"] == 1.0


def test_covered_are_the_stretches_without_a_task(bench: ModuleType) -> None:
    from footage.cover import stretches

    assert stretches(TRUTH["tasks"], 60.0) == [(0.0, 9.0), (21.0, 39.0), (51.0, 60.0)]
    assert stretches(TRUTH["tasks"][:1], 23.0) == [(0.0, 9.0)], "a moment is not worth it"
