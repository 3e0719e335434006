"""The main job on a real guest: one round over the bundled tutorials, killed in the middle, run again to its end, and resumed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cuamaster import stages
from cuamaster.records.episode import Episode, RoundPlan
from cuamaster.records.primitive import Primitive
from cuamaster.records.record import Record
from cuamaster.records.task import Certificate, Task
from cuamaster.records.trajectory import Trajectory
from cuamaster.tables import RoundFolder, Workspace

pytestmark = [pytest.mark.vm, pytest.mark.timeout(3000), pytest.mark.xdist_group("programs")]
DEADLINE_S = 1400
SEED = 20261130
TASKS = "6"
"""Composed tasks: each of the four strategies, two of them twice."""

EMBED = Path(tempfile.gettempdir()) / f"cua-e2e-{os.getpid()}"
"""A libvirt root of its own (the path must be short): other tests in this process own the default one."""


def _start(root: Path, *args: str, **settings: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cuamaster.cli", *args, "--workspace", str(root)]
    root_uri = f"qemu:///embed?root={EMBED}"
    env = {**os.environ, "CUAMASTER_LIBVIRT_URI": root_uri, "CUAMASTER_ROUND_TASKS": TASKS, **settings}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=env
    )


def _finish(process: subprocess.Popen[str], timeout: float) -> str:
    out, err = process.communicate(timeout=timeout)
    assert process.returncode == 0, err[-3000:]
    return out


def _guests() -> list[int]:
    """Pids of QEMU processes of our libvirt root."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if line[0].endswith(b"qemu-system-x86_64") and any(str(EMBED).encode() in part for part in line):
                found.append(int(entry.name))
    return found


@pytest.fixture(scope="module")
def round_one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, RoundFolder]]:
    """A workspace whose first round was killed -9 at a random moment on the desktops and then run to its end."""
    root = tmp_path_factory.mktemp("flywheel") / "workspace"
    first = _start(root, "flywheel", "run")
    certify = root / "round=001" / "certify" / "parts"
    deadline = time.monotonic() + DEADLINE_S
    while not certify.is_dir() and first.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert first.poll() is None, first.communicate()[1][-3000:]
    time.sleep(random.Random(SEED).uniform(0, 40))  # the moment of the kill
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    _finish(_start(root, "flywheel", "run"), DEADLINE_S)
    yield root, Workspace(root).round(1)
    shutil.rmtree(EMBED, ignore_errors=True)


def _kept(folder: RoundFolder, stage: str, record: type[Record]) -> list[Record]:
    return folder.stage(stage).kept(record)


def test_no_row_twice_and_no_orphan_guest(round_one: tuple[Path, RoundFolder]) -> None:
    _, folder = round_one
    kinds: dict[str, type[Record]] = {
        "reconstruct": Trajectory, "prove": Primitive, "compose": Task, "seed-tasks": Task, "collect": Episode,
    }  # fmt: skip
    for stage, record in kinds.items():
        ids = [item.id for item in _kept(folder, stage, record)]  # type: ignore[attr-defined]
        assert len(ids) == len(set(ids)), stage
        assert folder.stage(stage).manifest() is not None
    certified = [item.task_id for item in folder.stage("certify").kept(Certificate)]
    assert len(certified) == len(set(certified))
    assert _guests() == []


def test_the_wheel_turns(round_one: tuple[Path, RoundFolder]) -> None:
    """A released task contains a primitive that this run learned from a video and that primitives/ does not have."""
    _, folder = round_one
    curated = {primitive.id for primitive in stages.curated()}
    learned = {item.id for item in folder.stage("prove").kept(Primitive)} - curated
    released = _released(folder)
    assert any(use.primitive.id in learned for task in released for use in task.plan if task.strategy != "seed")


def _released(folder: RoundFolder) -> list[Task]:
    passed = {item.task_id for item in folder.stage("certify").kept(Certificate) if item.released}
    tasks = [*folder.stage("compose").kept(Task), *folder.stage("seed-tasks").kept(Task)]
    return [task for task in tasks if task.id in passed]


def test_a_task_of_every_strategy_is_released(round_one: tuple[Path, RoundFolder]) -> None:
    _, folder = round_one
    composed = [task for task in _released(folder) if task.strategy != "seed"]
    assert {task.strategy for task in composed} == {
        "sequential",
        "parameterized",
        "state_dependent",
        "cross_app_handoff",
    }
    assert any(task.n >= 2 for task in composed)
    assert any(task.k >= 3 for task in composed)


def test_an_episode_diverged_was_rolled_back_and_passed(round_one: tuple[Path, RoundFolder]) -> None:
    _, folder = round_one
    episodes = folder.stage("collect").kept(Episode)
    assert Counter(episode.outcome for episode in episodes)["passed"] >= 4
    assert any(episode.outcome == "passed" and episode.rollbacks and episode.injected_faults for episode in episodes)


def test_exports_hold_only_what_was_proven(round_one: tuple[Path, RoundFolder]) -> None:
    root, folder = round_one
    passed = {episode.id for episode in folder.stage("collect").kept(Episode) if episode.outcome == "passed"}
    rows = pq.read_table(root / "exports" / "sft.parquet", columns=["id", "proof", "n_rollbacks"]).to_pylist()
    assert {row["id"] for row in rows if row["proof"] == "verified"} <= passed
    assert any(row["proof"] == "replayed" for row in rows)
    assert any(row["n_rollbacks"] for row in rows)
    unproven = pq.read_table(root / "exports" / "unproven.parquet", columns=["proof"]).to_pylist()
    assert all(row["proof"] == "none" for row in unproven)


def test_the_next_round_has_its_plan_and_the_second_call_resumes(round_one: tuple[Path, RoundFolder]) -> None:
    root, _ = round_one
    plan = RoundPlan.model_validate_json((root / "round=002" / "plan.json").read_bytes())
    assert plan.round == 2
    assert plan.cells
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*.parquet")}
    rows = json.loads(_finish(_start(root, "flywheel", "run", "--json"), 120))
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*.parquet")} == before
    assert {"search", "collect", "export", "next"} <= {row["stage"] for row in rows}


def test_exported_tasks_run_in_a_fresh_workspace(round_one: tuple[Path, RoundFolder], tmp_path: Path) -> None:
    root, _ = round_one
    tasks = str(root / "exports" / "rl.parquet")
    _finish(_start(tmp_path / "fresh", "collect", "--tasks", tasks, "--limit", "1", CUAMASTER_FAULT_SHARE="0"), 600)
    _finish(_start(tmp_path / "fresh", "export"), 120)
    assert pq.read_metadata(tmp_path / "fresh" / "exports" / "sft.parquet").num_rows == 1
    episodes = Workspace(tmp_path / "fresh").round(1).stage("collect").kept(Episode)
    assert [episode.outcome for episode in episodes] == ["passed"]
    assert all(receipt.status != "rejected" for node in episodes[0].path() for receipt in node.receipts)
