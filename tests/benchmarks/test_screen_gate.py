"""The benchmark's clips are what their truth says, and its figures fall when the gate errs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from cuamaster.assets import samples_folder

_FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "screen_gate.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_screen_gate", _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_clips_have_their_size_and_no_name_twice(bench: ModuleType) -> None:
    clips = [*bench.tuned(), *bench.held()]
    assert len({clip.name for clip in clips}) == len(clips)
    assert {clip.seed for clip in bench.tuned()}.isdisjoint(clip.seed for clip in bench.held())
    assert {clip.kind for clip in clips} == set(bench.KINDS)
    for clip in clips[: len(clips) // 4 : 3]:
        frame = next(iter(clip.frames()))
        assert frame.shape == (clip.size[1], clip.size[0], 3) and frame.dtype == np.uint8
        for box in (clip.region, clip.camera):
            assert box is None or (0 <= box[0] < box[2] <= clip.size[0] and 0 <= box[1] < box[3] <= clip.size[1])
        assert (clip.region is not None) == (clip.share > 0) == (clip.kind == "screen")


def test_figures_fall_with_mistakes_and_displaced_places(bench: ModuleType) -> None:
    right = {
        "family": "desk+corner-camera", "true_kind": "screen", "kind": "screen", "share": 1.0, "true_share": 1.0, "camera": (0, 0, 9, 9),
        "region_iou": 1.0, "camera_iou": 0.9,
    }  # fmt: skip
    wrong = {"family": "hands", "true_kind": "camera", "kind": "screen", "share": 1.0, "camera": None}
    found = bench.figures([right, wrong])
    assert found["kinds"]["screen"] == {"clips": 1, "precision": 0.5, "recall": 1.0}
    assert found["kinds"]["camera"]["recall"] == 0.0 and found["mistakes"] == {"camera taken for screen": 1}
    assert found["camera_iou"]["mean"] == 0.9
    assert (
        bench.overlap((0, 0, 10, 10), (5, 0, 15, 10)) == pytest.approx(1 / 3)
        and bench.overlap(None, (0, 0, 1, 1)) == 0.0
    )


@pytest.mark.slow
def test_the_bundled_tutorials_are_screens(bench: ModuleType) -> None:
    for name in ("mousepad-notes", "pcmanfm-folders"):
        row = bench.judged(samples_folder() / name / "tutorial.mp4")
        assert (row["kind"], row["share"], row["region"], row["camera"]) == ("screen", 1.0, (0, 0, 1280, 800), None)
