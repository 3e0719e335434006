"""The rollback benchmark on a tiny grid: rates that fit, episodes that are real, a state that a killed run goes on from."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def bench() -> Iterator[Any]:
    sys.path.insert(0, str(_FOLDER))
    yield importlib.import_module("rollback")
    sys.path.remove(str(_FOLDER))


def options(state: Path) -> argparse.Namespace:
    return argparse.Namespace(
        state=state, desktop="simulated", mode="mixed", detector_errors=0.0, snapshots=6, seed=0, part=(1, 1)
    )


def test_the_rate_of_every_cell_gives_the_seeds_figure_from_scratch(bench: Any) -> None:
    cells = {cell.name: cell for cell in bench.CELLS}
    for cell in bench.CELLS:
        expected = cell.seed_scratch / 100
        if cell.name != "50/8":
            assert sys.modules["_rollback_cells"].scratch_success(bench.fault_rate(cell), cell.k) == pytest.approx(
                expected
            )
    assert bench.fault_rate(cells["50/8"]) == bench.fault_rate(cells["40/5"])


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"), [(0, 0, 0, 100), (10, 10, 72.2, 100), (0, 10, 0, 27.8), (50, 100, 40.4, 59.6)]
)
def test_wilson_intervals(bench: Any, passed: int, total: int, low: float, high: float) -> None:
    assert bench.wilson(passed, total) == (pytest.approx(low, abs=0.1), pytest.approx(high, abs=0.1))


def test_an_oracle_executes_no_more_when_it_knows_sooner(bench: Any) -> None:
    task = importlib.import_module("_rollback_run").compose(bench.simulated(), bench.CELLS[3], 0, "mixed")
    bound = [
        [bench.least(task, f"t{number}", rate=rate, seed=0, mode="mixed", at_once=at_once) for number in range(60)]
        for rate, at_once in ((0.0, True), (0.2, True), (0.2, False))
    ]
    assert set(bound[0]) == {task.k}
    none, sooner, later = (sum(executed) / 60 / task.k for executed in bound)
    assert none < sooner < later <= 3
    assert sooner == pytest.approx(1 / 0.8, rel=0.1)


@pytest.mark.slow
def test_a_killed_run_goes_on_and_both_arms_are_told_beside_the_seed(bench: Any, tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    cells = [cell for cell in bench.CELLS if cell.name in ("5/1", "10/3")]
    world = bench.simulated()
    measured = bench.measure(world, cells, 2, options(state))
    with state.open("w") as out:
        for _ in range(3):
            out.write(json.dumps(next(measured)) + "\n")
        out.write('{"cell": "10/3", "number"')  # the line in which it was killed
    first = bench.rows(state)
    assert len(first) == 3
    bench.mend(state)
    assert state.read_text().endswith("}\n") and bench.rows(state) == first
    other = argparse.Namespace(**{**vars(options(state)), "part": (3, 3)})
    assert list(bench.measure(world, cells, 2, other)) == [], "the third of every three: none of two"
    rest = list(bench.measure(world, cells, 2, options(state)))
    assert len(rest) == 5
    told = {(row["cell"], row["number"], row["arm"]) for row in [*first, *rest]}
    assert len(told) == 8
    lines = bench.summary([*first, *rest], cells)
    assert [line["cell"] for line in lines] == ["5/1", "10/3"]
    for line in lines:
        assert line["rollback"]["tasks"] == line["scratch"]["tasks"] == 2
        assert 1 <= line["rollback"]["executed_over_k"] <= 3
        assert all(1 <= value <= 3 for value in line["rollback"]["least_over_k"].values())
    assert "74.0" in bench.table(lines) and "62.3" in bench.table(lines)


@pytest.mark.slow
def test_late_faults_are_located_and_no_hint_leaks(bench: Any) -> None:
    detector = importlib.import_module("detector")
    found = detector.measure(bench.simulated(), "mixed", 8, 3)
    assert found["delayed"]["count"] >= 1 and found["own"]["count"] >= 1
    assert found["delayed"]["exact"] >= 90 and found["own"]["exact"] >= 90
    assert found["feedbacks"] >= 8 and found["leaking"] == found["replaced_at_the_gate"] == 0
    recall = detector.planted(bench.simulated(), 1, 1)["recall_per_cent"]
    assert min(recall.values()) >= 95
