"""End to end: server, worker, `prefect deployment run ...`, until verified trajectories lie in the workspace and in Parquet."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cuamaster.adapters.desktops.libvirt_root import qemu_pids
from cuamaster.records.episode import Episode
from cuamaster.stages.collecting import released
from cuamaster.stages.exporting import tasks_of
from cuamaster.tables import Workspace
from flows.deploy import SILENCE_SECONDS
from tests.flows.server import Prefect, server


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Prefect]:
    with server(tmp_path / "prefect") as prefect:
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


@pytest.mark.slow
@pytest.mark.xdist_group("prefect")
def test_simulated_desktops_and_a_kill_9_in_the_middle(deployed: Prefect, tmp_path: Path) -> None:
    """Worker and flow run are killed during an episode; nobody helps: the dead run is noticed and the next one finishes."""
    workspace = tmp_path / "w"
    env = {"CUAMASTER_WORKSPACE": str(workspace), "CUAMASTER_DESKTOP": "simulated", "CUAMASTER_ROUND_TASKS": "3"}
    turn(deployed, ["propagate"], 300, env)
    folder = Workspace(workspace).round(1)
    tasks = released(folder, tasks_of(folder))
    begun = set(workspace.glob("journals/*"))
    with deployed.worker(**env) as worker:
        killed = deployed.start("collect-trajectories")
        deadline = time.monotonic() + 120
        while not set(workspace.glob("journals/*")) - begun:  # no episode has begun yet
            assert time.monotonic() < deadline, (deployed.home / "worker.log").read_text()
            time.sleep(0.05)
        worker.kill()
    assert folder.stage("collect").items() < len(tasks)

    turn(deployed, ["collect-trajectories", "export-datasets"], 2 * SILENCE_SECONDS, env)
    assert deployed.finished(killed, 5)["type"] == "CRASHED"
    episodes = folder.stage("collect").kept(Episode)
    assert {episode.task_id for episode in episodes if episode.outcome == "passed"} == {task.id for task in tasks}
    assert len({episode.id for episode in episodes}) == len(episodes)
    done = deployed.ask(
        "task_runs/filter", {"task_runs": {"name": {"like_": "collect: "}, "state": {"type": {"any_": ["COMPLETED"]}}}}
    )
    assert {run["name"] for run in done} == {f"collect: {task.instruction}" for task in tasks}
    # A simulated desktop proves nothing: its episodes are exported apart.
    assert pq.read_metadata(workspace / "exports" / "sft.parquet").num_rows == 0
    assert set(pq.read_table(workspace / "exports" / "unproven.parquet")["reason"].to_pylist()) == {"simulated-desktop"}


@pytest.fixture
def root() -> Iterator[Path]:
    """A libvirt root whose sockets have short enough paths."""
    with tempfile.TemporaryDirectory(prefix="cuam-flows-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.mark.vm
@pytest.mark.xdist_group("programs")
def test_a_real_guest(deployed: Prefect, tmp_path: Path, root: Path) -> None:
    """Propagate over the curated library alone: composed on the spot, certified and collected on QEMU, exported for training."""
    env = {
        "CUAMASTER_WORKSPACE": str(tmp_path / "w"),
        "CUAMASTER_LIBVIRT_URI": f"qemu:///embed?root={root}",  # other tests may hold the shared one
        "CUAMASTER_ROUND_TASKS": "2",
        "CUAMASTER_MAX_PRIMITIVES": "2",
        "CUAMASTER_FAULT_SHARE": "0",
        "CUAMASTER_CACHE": os.environ.get("CUAMASTER_CACHE", str(Path.home() / ".cache" / "cuamaster")),
    }
    turn(deployed, ["propagate", "collect-trajectories", "export-datasets"], 900, env)
    assert not qemu_pids(root)
    folder = Workspace(tmp_path / "w").round(1)
    tasks = released(folder, tasks_of(folder))
    passed = [episode for episode in folder.stage("collect").kept(Episode) if episode.outcome == "passed"]
    assert passed
    assert {episode.task_id for episode in passed} <= {task.id for task in tasks}
    assert not any(episode.image_digest.startswith("simulated") for episode in passed)
    assert pq.read_metadata(tmp_path / "w" / "exports" / "sft.parquet").num_rows == len(passed)
    assert pq.read_metadata(tmp_path / "w" / "exports" / "rl.parquet").num_rows == len(tasks)
