"""What prefect.yaml promises of the flows, and how their parameters become settings."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from prefect.client.schemas.objects import TaskRun
from prefect.flows import load_flow_from_entrypoint
from prefect.states import Failed

from cuamaster import errors
from cuamaster.settings import Settings
from flows.deploy import POOL
from flows.items import LIMIT_OF, LIMITS, ON_DESKTOPS, only_transient, tasks_for, workers_of
from flows.rounds import open_wheel

CHECKOUT = Path(__file__).parents[2]
FILE = yaml.safe_load((CHECKOUT / "prefect.yaml").read_text())
RUN = TaskRun(task_key="t", dynamic_key="0", flow_run_id=uuid4())


@pytest.mark.parametrize("deployment", FILE["deployments"], ids=lambda item: item["name"])
def test_a_deployment_is_named_like_its_flow_and_passes_what_it_takes(
    deployment: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CHECKOUT)
    flow = load_flow_from_entrypoint(deployment["entrypoint"])
    taken = inspect.signature(flow.fn).parameters
    assert flow.name == deployment["name"]
    assert deployment["work_pool"]["name"] == POOL
    assert {"workspace", "round", "settings"} <= set(taken)
    assert all(parameter.default is not inspect.Parameter.empty for parameter in taken.values())
    for schedule in deployment.get("schedules", ()):
        assert set(schedule.get("parameters", {})) <= set(taken)


def test_runs_of_a_flow_on_desktops_wait_for_each_other() -> None:
    alone = {item["name"] for item in FILE["deployments"] if item.get("concurrency_limit", {}).get("limit") == 1}
    source = {
        item["name"]: (CHECKOUT / item["entrypoint"].partition(":")[0]).read_text() for item in FILE["deployments"]
    }
    assert alone == {name for name, text in source.items() if "desktop_ports(" in text}


def everything_below(kind: type[errors.CuamasterError]) -> list[type[errors.CuamasterError]]:
    return [kind, *(deeper for child in kind.__subclasses__() for deeper in everything_below(child))]


@pytest.mark.parametrize("kind", everything_below(errors.CuamasterError))
def test_the_error_tree_decides_what_is_tried_again(kind: type[errors.CuamasterError]) -> None:
    given = {"reason": "black", "field": "x", "dialect": "qwen3-vl", "offset": 3, "capability": "shell"}
    named = {name: value for name, value in given.items() if name in inspect.signature(kind).parameters}
    assert only_transient(None, RUN, Failed(data=kind("x", **named))) is issubclass(kind, errors.Transient)


def test_a_fault_that_nobody_foresaw_is_not_tried_again() -> None:
    assert not only_transient(None, RUN, Failed(data=KeyError("x")))


def test_every_stage_with_a_limit_has_one_that_deploy_makes() -> None:
    assert set(LIMIT_OF.values()) <= set(LIMITS)
    assert not set(LIMIT_OF) & set(ON_DESKTOPS)
    assert workers_of("transcribe", Settings()) == LIMITS["asr"]


def test_quick_items_need_no_flow_run() -> None:
    done: list[str] = []
    tasks_for(Settings())("screen", ["a", "b"], done.append, str)
    assert done == ["a", "b"]


def test_parameters_win_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUAMASTER_WORKSPACE", "/from/the/environment")
    monkeypatch.setenv("CUAMASTER_ROUND_TASKS", "3")
    monkeypatch.setenv("CUAMASTER_MODE", "cli")
    wheel = open_wheel(str(tmp_path), {"round_tasks": 5})
    assert (wheel.workspace.root, wheel.settings.round_tasks, wheel.settings.mode) == (tmp_path, 5, "cli")
    assert open_wheel(None, None).workspace.root == Path("/from/the/environment")


@pytest.mark.parametrize(("given", "named"), [({"mode": "telepathy"}, "mode"), ({"vm_capcity": 2}, "vm_capcity")])
def test_a_wrong_setting_is_named(given: dict[str, Any], named: str) -> None:
    with pytest.raises(errors.InvalidInput, match=f"setting {named}:"):
        open_wheel(None, given)
