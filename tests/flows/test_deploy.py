"""`python -m flows.deploy` against a fresh server, the literal command, and a failed flow that says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.items import LIMITS
from tests.flows.server import PREFECT, Prefect, server

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect")]

FLOWS = {"collect-trajectories", "export-datasets", "flywheel", "propagate", "seed-videos"}


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prefect]:
    with server(tmp_path_factory.mktemp("prefect")) as prefect:
        prefect.deploy()
        yield prefect


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


def test_a_second_deploy_keeps_the_limits_their_owner_set(deployed: Prefect) -> None:
    deployed.prefect("gcl", "update", "ingest", "--limit", "9")
    deployed.prefect("--no-prompt", "deploy", "--all")
    assert deployed.ask("v2/concurrency_limits/ingest")["limit"] == 9


def test_an_unknown_deployment_is_told(deployed: Prefect) -> None:
    done = deployed.run(PREFECT, "deployment", "run", "collect-trajectory")
    assert done.returncode == 1
    assert "not found" in done.stdout


def test_a_bad_setting_fails_the_run_and_names_it(deployed: Prefect, tmp_path: Path) -> None:
    with deployed.worker(CUAMASTER_WORKSPACE=str(tmp_path)):
        state = deployed.finished(deployed.start("seed-videos", "-p", 'settings={"annotator": "oracle"}'), 120)
    assert state["type"] == "FAILED"
    assert "InvalidInput: setting annotator" in state["message"]


def test_a_round_that_holds_nothing_yet_exports_empty_files_and_shows_its_table(
    deployed: Prefect, tmp_path: Path
) -> None:
    with deployed.worker(CUAMASTER_WORKSPACE=str(tmp_path)):
        assert deployed.finished(deployed.start("export-datasets"), 120)["type"] == "COMPLETED"
    assert (tmp_path / "exports" / "sft.parquet").exists()
    table = deployed.ask("artifacts/round-summary/latest")
    assert "sft.parquet" in table["data"]
