"""End to end: server, worker, `prefect deployment run ...`, until verified trajectories lie in the workspace and in Parquet."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cuamaster.records.episode import Episode
from cuamaster.records.task import Certificate
from cuamaster.stages.collecting import released
from cuamaster.stages.exporting import tasks_of
from cuamaster.tables import Workspace
from tests.flows.server import Prefect, server

LEASE_SECONDS = 30
"""How long a killed flow run keeps its deployment's slot; the least that the server accepts."""


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prefect]:
    home = tmp_path_factory.mktemp("prefect")
    with server(home, PREFECT_SERVER_CONCURRENCY_INITIAL_DEPLOYMENT_LEASE_DURATION=str(LEASE_SECONDS)) as prefect:
        prefect.deploy()
        prefect.pause_schedules()
        yield prefect


def turn(prefect: Prefect, names: list[str], seconds: float, env: dict[str, str]) -> None:
    """Run deployments one after the other on one worker; each must end well."""
    with prefect.worker(**env):
        for name in names:
            state = prefect.finished(prefect.start(name), seconds)
            assert state["type"] == "COMPLETED", (
                f"{name}: {state['message']}\n{(prefect.home / 'worker.log').read_text()}"
            )


def simulated(workspace: Path) -> dict[str, str]:
    return {
        "CUAMASTER_WORKSPACE": str(workspace),
        "CUAMASTER_DESKTOP": "simulated",
        "CUAMASTER_ROUND_TASKS": "3",
    }


@pytest.mark.slow
@pytest.mark.xdist_group("prefect")
def test_the_literal_command_collects_on_the_simulated_desktop(deployed: Prefect, tmp_path: Path) -> None:
    turn(deployed, ["propagate", "collect-trajectories", "export-datasets"], 300, simulated(tmp_path))
    folder = Workspace(tmp_path).round(1)
    tasks = released(folder, tasks_of(folder))
    episodes = folder.stage("collect").kept(Episode)
    assert tasks
    assert {episode.task_id for episode in episodes if episode.outcome == "passed"} == {task.id for task in tasks}
    # A simulated desktop proves nothing: its episodes are exported apart.
    assert pq.read_metadata(tmp_path / "exports" / "sft.parquet").num_rows == 0
    assert set(pq.read_table(tmp_path / "exports" / "unproven.parquet")["reason"].to_pylist()) == {"simulated-desktop"}
    runs = deployed.ask("task_runs/filter", {"task_runs": {"name": {"like_": "collect: "}}})
    assert {run["name"] for run in runs} == {f"collect: {task.instruction}" for task in tasks}
    assert {run["state_type"] for run in runs} == {"COMPLETED"}


@pytest.mark.slow
@pytest.mark.xdist_group("prefect")
def test_after_kill_9_of_the_worker_another_run_finishes(deployed: Prefect, tmp_path: Path) -> None:
    env = simulated(tmp_path)
    turn(deployed, ["propagate"], 300, env)
    stage = Workspace(tmp_path).round(1).stage("collect")
    with deployed.worker(**env) as worker:
        deployed.start("collect-trajectories")
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("journals/*.jsonl")):  # an episode has begun
            assert time.monotonic() < deadline, (deployed.home / "worker.log").read_text()
            time.sleep(0.05)
        worker.kill()
    before = stage.items()
    turn(deployed, ["collect-trajectories"], 300, env)
    folder = Workspace(tmp_path).round(1)
    tasks = released(folder, tasks_of(folder))
    episodes = folder.stage("collect").kept(Episode)
    assert before < len(tasks)
    assert {episode.task_id for episode in episodes if episode.outcome == "passed"} == {task.id for task in tasks}
    assert len({episode.id for episode in episodes}) == len(episodes)


@pytest.mark.vm
def test_the_literal_command_collects_on_a_real_guest(tmp_path: Path) -> None:
    """Propagate over the curated library alone: composed on the spot, certified and collected on QEMU, exported for training."""
    env = {
        "CUAMASTER_WORKSPACE": str(tmp_path / "w"),
        "CUAMASTER_LIBVIRT_URI": f"qemu:///embed?root={tmp_path / 'lv'}",  # other tests may hold the shared one
        "CUAMASTER_ROUND_TASKS": "1",
        "CUAMASTER_MAX_PRIMITIVES": "2",
        "CUAMASTER_FAULT_SHARE": "0",
        "CUAMASTER_CACHE": os.environ.get("CUAMASTER_CACHE", str(Path.home() / ".cache" / "cuamaster")),
    }
    with server(tmp_path / "prefect") as prefect:
        prefect.deploy()
        prefect.pause_schedules()
        turn(prefect, ["propagate", "collect-trajectories", "export-datasets"], 900, env)
    folder = Workspace(tmp_path / "w").round(1)
    assert [item.released for item in folder.stage("certify").kept(Certificate)] == [True]
    [episode] = folder.stage("collect").kept(Episode)
    assert episode.outcome == "passed"
    assert pq.read_metadata(tmp_path / "w" / "exports" / "sft.parquet").num_rows == 1
    assert pq.read_metadata(tmp_path / "w" / "exports" / "rl.parquet").num_rows == 1
