"""The bundled tutorials come back: the floors that the project promises, through the benchmark that reports them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from cuamaster.assets import samples_folder
from cuamaster.records.trajectory import Trajectory

_FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "reconstruction.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_reconstruction", _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _kinds(trajectory: Trajectory) -> set[str]:
    assert trajectory.verifier is not None
    return {part.kind for part in getattr(trajectory.verifier, "of", (trajectory.verifier,))}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "transcript", "verifiers"),
    [
        ("mousepad-notes", "vtt", [{"file.exists", "file.text"}, {"file.text", "not"}]),
        ("pcmanfm-folders", "faster-whisper", [{"file.exists", "window.title"}]),
    ],
)
def test_floors(bench: ModuleType, tmp_path: Path, name: str, transcript: str, verifiers: list[set[str]]) -> None:
    row, segments, trajectories = bench.run(samples_folder() / name, tmp_path)
    assert row["transcript"].startswith(transcript)
    for figure, floor in bench.FLOORS.items():
        assert row[figure] >= floor, (figure, row)
    assert row["invented"] == 0, row
    assert len(segments) == len(verifiers)
    assert [_kinds(trajectory) for trajectory in trajectories] == verifiers
    assert all(t.start_state and t.lineage.t_end and t.lineage.video_id for t in trajectories)


def test_samples_are_small_and_complete() -> None:
    for folder in (samples_folder() / "mousepad-notes", samples_folder() / "pcmanfm-folders"):
        assert (folder / "tutorial.mp4").stat().st_size <= 1_500_000
        truth = json.loads((folder / "truth.json").read_text())
        spans = [(task["t_start"], task["t_end"]) for task in truth["tasks"]]
        assert all(any(a <= action["t_start"] <= b for a, b in spans) for action in truth["actions"])
        assert truth["non_operations"][0][0] == 0.0 and truth["non_operations"][-1][1] == truth["duration"]
        assert (folder / "scenario.yaml").exists()
    assert len(json.loads((samples_folder() / "mousepad-notes" / "truth.json").read_text())["tasks"]) == 2
    assert not list((samples_folder() / "pcmanfm-folders").glob("*.vtt"))


def test_a_figure_falls_when_actions_are_missed_misplaced_or_invented(bench: ModuleType) -> None:
    from cuamaster.action_space import CUAAction
    from cuamaster.records.trajectory import Action

    def click(t: float, x: float) -> Action:
        return Action(action=CUAAction("mouse.click", {"x": x, "y": 500.0}), t_start=t, t_end=t)

    def typed(t: float, text: str) -> Action:
        return Action(action=CUAAction("keyboard.type", {"text": text}), t_start=t, t_end=t)

    truth = {
        "size": [1000, 1000],
        "non_operations": [[0.0, 1.0], [9.0, 12.0]],
        "actions": [
            {"id": 0, "type": "click", "t_start": 2.0, "x": 100, "y": 500},
            {"id": 1, "type": "type", "t_start": 4.0, "text": "Hello"},
            {"id": 2, "type": "click", "t_start": 6.0, "x": 300, "y": 500},
        ],
    }
    good = bench.figures(truth, [click(2.4, 110), typed(4.1, "Hello"), click(6.9, 300)])
    assert (good["recall"], good["precision"], good["clicks_within_20"], good["typed_exact"], good["invented"]) == (
        1,
        1,
        1,
        1,
        0,
    )
    bad = bench.figures(truth, [click(3.4, 100), typed(4.1, "hello"), click(6.1, 330), click(10.0, 1)])
    assert (bad["recall"], bad["precision"]) == (0.667, 0.5)
    assert (bad["clicks_within_20"], bad["typed_exact"], bad["invented"]) == (0.0, 0.0, 1)
    assert len(bad["missed"]) == 1 and len(bad["extra"]) == 2
