"""The endurance benchmark on a few rollbacks: what it watches is there, and the simulated desktop does not grow."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from cuamaster.adapters.desktops.simulated import SimulatedDesktop

_FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "endurance.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_endurance", _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rollbacks_leave_nothing_open(bench: ModuleType) -> None:
    desktop = SimulatedDesktop("light-desktop")
    report = bench.growth(bench.turns(desktop, 20, samples=5))
    assert {"rss_mib", "files", "threads", "turn_ms"} <= set(report)
    assert report["files"]["ratio"] == report["threads"]["ratio"] == 1.0
    assert desktop.snapshot_sizes() == {}, "the boundaries were given back"
    assert desktop.read_file("~/more.txt") is None
    assert desktop.read_file("~/note.txt") == b"start"
