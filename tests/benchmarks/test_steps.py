"""The benchmark of steps without a guest: its rollout is a real one, and its ratios are those of what was measured."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuamaster.adapters.desktops.simulated import SimulatedDesktop

_FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def bench() -> Iterator[Any]:
    sys.path.insert(0, str(_FOLDER))
    yield importlib.import_module("steps")
    sys.path.remove(str(_FOLDER))


def test_the_steps_of_a_rollout_are_timed_one_by_one(bench: Any, tmp_path: Path) -> None:
    desktop = SimulatedDesktop("light-desktop")
    assert bench.prefix(desktop, 2) > 0
    seconds = bench.rollout_steps(desktop, tmp_path, 4)
    assert len(seconds) == 3 and min(seconds) > 0, "from each key to the next"
    assert "word0 word1 aaaa" in str(desktop.world.windows[-1].__dict__)


def test_going_back_is_compared_with_doing_the_prefix_again(bench: Any) -> None:
    found = bench.compared(30.0, {"clone": [1.0, 1.0, 9.0], "prefix": [4.0], "rollback": [0.5]})
    assert found["clone_and_replay_over_rollback"] == 10.0
    assert found["boot_and_replay_over_rollback"] == 68.0
    assert found["range_s"]["clone"] == [1.0, 9.0]
