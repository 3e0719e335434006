"""OSWorld's result folders as trajectories: which picture stands before which action, and what the benchmark said of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cuamaster.adapters.stores.local import LocalStore
from cuamaster.importers.found import Found
from cuamaster.importers.osworld import read_osworld
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Trajectory
from tests.importers.conftest import DATA

OSWORLD = DATA / "osworld"
FOLDER = "results/pyautogui/screenshot/some-model/os"
NOTES, FILES, EITHER = (
    "695b7f37-5154-5ac1-86c4-7b75863f0285", "9b48b446-5305-5f42-ae02-221c5043654b", "49682dea-7f0a-57b1-b4d3-007bb9afed14",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the fixture that a test may damage."""
    return Path(shutil.copytree(OSWORLD, tmp_path / "osworld"))


def read(folder: Path, store: LocalStore) -> dict[str, Found]:
    """What became of each task's file and result: `task:<id>` and `result:<id>`."""
    found = read_osworld([folder / "examples", folder / "results"], store, image="i", files=folder / "files")
    return {
        ("result:" if "result" in item.id else "task:") + item.id.rpartition("/")[2].rpartition(":")[2]: item
        for item in found
    }


def kept(item: Found) -> Trajectory:
    (trajectory,) = item.kept
    assert isinstance(trajectory, Trajectory)
    return trajectory


def test_each_action_stands_on_the_picture_before_it(folder: Path, store: LocalStore) -> None:
    found = read(folder, store)
    trajectory = kept(found[f"result:{NOTES}"])
    (task,) = found[f"task:{NOTES}"].kept
    assert isinstance(task, Task)
    pictures = [folder / FOLDER / NOTES / "initial_state.png", *sorted((folder / FOLDER / NOTES).glob("step_*.png"))]
    seen = [store.get(step.observation.screenshot) for step in trajectory.steps]
    assert [*seen, store.get(trajectory.final.screenshot)] == [path.read_bytes() for path in pictures]
    assert [[a.action.type for a in step.actions] for step in trajectory.steps] == [
        ["mouse.click", "wait"], ["keyboard.type"], ["keyboard.press"], ["finish"],
    ]  # fmt: skip
    assert trajectory.steps[0].thought == "I click into the text."
    assert (trajectory.task_id, trajectory.verifier) == (task.id, task.verifier)
    assert found[f"result:{NOTES}"].dropped == ()


def test_without_a_first_picture_the_first_action_is_left_out_by_name(folder: Path, store: LocalStore) -> None:
    item = read(folder, store)[f"result:{FILES}"]
    assert [step.actions[0].action.type for step in kept(item).steps] == ["mouse.click", "keyboard.type", "finish"]
    assert kept(item).steps[0].actions[0].action.args["count"] == 2
    (row,) = item.dropped
    assert row.reason == "not-mapped" and "first action (wait): no picture before it x1" in row.detail


def test_an_action_that_does_nothing_is_left_out_and_the_next_one_stands_on_its_picture(
    folder: Path, store: LocalStore
) -> None:
    lines = folder / FOLDER / NOTES / "traj.jsonl"
    told = [json.loads(line) for line in lines.read_text().splitlines()]
    told[1]["action"] = "pyautogui.scroll(0)"
    lines.write_text("\n".join(map(json.dumps, told)))
    item = read(folder, store)[f"result:{NOTES}"]
    assert [step.actions[0].action.type for step in kept(item).steps] == ["mouse.click", "keyboard.press", "finish"]
    shown = (folder / FOLDER / NOTES / told[1]["screenshot_file"]).read_bytes()
    assert store.get(kept(item).steps[1].observation.screenshot) == shown
    assert "step that does nothing x1" in item.dropped[0].detail


def test_a_folder_that_was_run_twice_is_refused(folder: Path, store: LocalStore) -> None:
    lines = folder / FOLDER / NOTES / "traj.jsonl"
    lines.write_text(lines.read_text() * 2)
    item = read(folder, store)[f"result:{NOTES}"]
    assert item.kept == () and "two runs in one file" in item.dropped[0].detail


def test_a_run_that_the_benchmark_scored_zero_is_refused(folder: Path, store: LocalStore) -> None:
    item = read(folder, store)[f"result:{EITHER}"]
    assert item.kept == () and [row.reason for row in item.dropped] == ["source-says-failed"]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda run: next(run.glob("step_2_*.png")).unlink(), "no-picture"),
        (lambda run: next(run.glob("step_2_*.png")).write_bytes(b"\x89PNG\r\n\x1a\n"), "bad-picture"),
        (lambda run: (run / "traj.jsonl").write_text('{"step_num": 1, "action"'), "not-json"),
        (lambda run: (run / "traj.jsonl").write_text(""), "no-steps"),
        (lambda run: (run / "result.txt").write_text("good"), "malformed"),
        (lambda run: (run / "result.txt").write_text("nan"), "source-says-failed"),
        (lambda run: run.rename(run.with_name("of-no-task")), "no-task"),
        (lambda run: (run / "traj.jsonl").write_text('{"action": "import os; os.system(\'x\')", "screenshot_file": "initial_state.png"}\n' * 2), "unknown-action"),
        (lambda run: (run / "traj.jsonl").write_text('{"action": {"action_type": 5}, "screenshot_file": "initial_state.png"}\n'), "unknown-action"),
    ],
)  # fmt: skip
def test_damaged_runs_are_refused_with_a_reason(folder: Path, store: LocalStore, damage: object, reason: str) -> None:
    assert callable(damage)
    damage(folder / FOLDER / NOTES)
    rows = [
        row for item in read(folder, store).values() if "result" in item.id for row in item.dropped if not item.kept
    ]
    assert reason in [row.reason for row in rows if EITHER not in row.item_id]
