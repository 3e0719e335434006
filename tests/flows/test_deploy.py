"""`python -m flows.deploy` against a fresh server, the literal command, and a failed flow that says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cuamaster.tables import Workspace
from flows.deploy import DEAD_RUNS
from flows.items import LIMITS
from tests.flows.server import PREFECT, Prefect, server

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect")]

FLOWS = {"collect-trajectories", "export-datasets", "flywheel", "propagate", "seed-videos"}


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prefect]:
    with server(tmp_path_factory.mktemp("prefect")) as prefect:
        prefect.deploy()
        yield prefect


@pytest.fixture(scope="module")
def working(deployed: Prefect) -> Iterator[Prefect]:
    """The same with a worker; runs are given their workspace as a parameter."""
    with deployed.worker():
        yield deployed


def test_every_flow_is_deployed_under_its_own_name(deployed: Prefect) -> None:
    assert {item["name"] for item in deployed.ask("deployments/filter", {})} == FLOWS
    for name in FLOWS:
        assert deployed.deployment(name)["work_pool_name"] == "cuamaster"


def test_schedules_and_limits_are_on_the_server(deployed: Prefect) -> None:
    flywheel, collect = deployed.deployment("flywheel"), deployed.deployment("collect-trajectories")
    assert [(item["slug"], item["parameters"]) for item in flywheel["schedules"]] == [("nightly", {"next": True})]
    assert [(item["slug"], item["active"]) for item in collect["schedules"]] == [("twice-a-day", True)]
    for name in ("flywheel", "propagate", "collect-trajectories"):
        assert deployed.deployment(name)["global_concurrency_limit"]["limit"] == 1
    for name, slots in LIMITS.items():
        assert deployed.ask(f"v2/concurrency_limits/{name}")["limit"] == slots
    assert [item["name"] for item in deployed.ask("automations/filter", {})] == [DEAD_RUNS.name]


def test_a_second_deploy_keeps_the_limits_their_owner_set(deployed: Prefect) -> None:
    deployed.prefect("gcl", "update", "ingest", "--limit", "9")
    deployed.prefect("--no-prompt", "deploy", "--all")
    assert deployed.ask("v2/concurrency_limits/ingest")["limit"] == 9
    assert len(deployed.ask("automations/filter", {})) == 1


def test_an_unknown_deployment_is_told(deployed: Prefect) -> None:
    done = deployed.run(PREFECT, "deployment", "run", "collect-trajectory")
    assert done.returncode == 1
    assert "not found" in done.stdout


def test_a_bad_setting_fails_the_run_and_names_it(working: Prefect) -> None:
    state = working.finished(working.start("seed-videos", "-p", 'settings={"annotator": "oracle"}'), 120)
    assert state["type"] == "FAILED"
    assert "InvalidInput: setting annotator" in state["message"]


def test_a_workspace_that_holds_nothing_yet_exports_empty_files_and_shows_its_table(
    working: Prefect, tmp_path: Path
) -> None:
    run_id = working.start("export-datasets", "-p", f"workspace={tmp_path}")
    assert working.finished(run_id, 120)["type"] == "COMPLETED"
    assert pq.read_metadata(tmp_path / "exports" / "sft.parquet").num_rows == 0
    table = working.ask("artifacts/round-summary/latest")
    assert "sft.parquet" in table["data"]


def test_a_recording_that_cannot_be_used_is_dropped_with_its_reason_and_the_run_goes_on(
    working: Prefect, tmp_path: Path
) -> None:
    places = tmp_path / "places"
    places.mkdir()
    (places / "broken.mp4").touch()
    run_id = working.start("seed-videos", "-p", f"workspace={tmp_path / 'w'}", "-p", f'places=["{places}"]')
    assert working.finished(run_id, 180)["type"] == "COMPLETED"
    [dropped] = Workspace(tmp_path / "w").round(1).stage("fetch").dropped()
    assert dropped.reason == "empty-file"
    runs = working.ask("task_runs/filter", {"flow_runs": {"id": {"any_": [run_id]}}})
    assert {run["name"] for run in runs} == {"search: everything", "fetch: broken"}
    assert working.ask("v2/concurrency_limits/ingest")["active_slots"] == 0
    assert working.logged(run_id, "broken dropped")
