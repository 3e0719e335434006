"""Items as Prefect tasks: every item once, bounded, only what may pass is tried again, a failure ends the stage and the flow."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import State
from prefect.testing.utilities import prefect_test_harness

from cuamaster.errors import BudgetExceeded, EndpointUnavailable
from cuamaster.settings import Settings
from flows.items import tasks_for, workers_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect")]


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with prefect_test_harness(server_startup_timeout=120):
        yield


def run(name: str, items: list[str], work: object, settings: Settings) -> State[None]:
    each = tasks_for(settings, retry_delays=(0.1, 0.1))

    @flow(name="items")
    def stage() -> None:
        each(name, items, work, lambda item: f"item {item}")  # type: ignore[arg-type]

    state: State[None] = stage(return_state=True)
    return state


def runs_of(state: State[None]) -> dict[str, tuple[str, int]]:
    """Task run name -> (state type, how often it ran)."""
    assert state.state_details.flow_run_id is not None
    only = FlowRunFilter(id=FlowRunFilterId(any_=[state.state_details.flow_run_id]))
    with get_client(sync_client=True) as client:
        return {
            run.name: (str(run.state_type.value), run.run_count) for run in client.read_task_runs(flow_run_filter=only)
        }  # type: ignore[union-attr]


def test_every_item_is_one_named_task(workspace: Path) -> None:
    done: list[str] = []
    state = run("mine", ["a", "b {x}", "c"], done.append, Settings())
    assert state.is_completed()
    assert sorted(done) == ["a", "b {x}", "c"]


def test_nothing_to_do_is_done(workspace: Path) -> None:
    assert run("mine", [], pytest.fail, Settings()).is_completed()


def test_what_may_pass_is_tried_again(workspace: Path) -> None:
    tries: list[str] = []

    def work(item: str) -> None:
        tries.append(item)
        if len(tries) < 3:
            raise EndpointUnavailable("429")

    assert run("score", ["a"], work, Settings()).is_completed()
    assert tries == ["a"] * 3


@pytest.mark.parametrize("fault", [BudgetExceeded("spent"), ValueError("a bug")])
def test_what_will_fail_again_is_not_and_ends_the_stage(fault: Exception, workspace: Path) -> None:
    tries: list[str] = []

    def work(item: str) -> None:
        tries.append(item)
        raise fault

    state = run("collect", ["a", "b", "c"], work, Settings(vm_capacity=1))
    assert state.is_failed()
    assert tries == ["a"]
    with pytest.raises(type(fault), match=str(fault)):
        state.result()


def test_tries_end_and_the_flow_fails(workspace: Path) -> None:
    tries: list[str] = []

    def work(item: str) -> None:
        tries.append(item)
        raise EndpointUnavailable("still down")

    assert run("score", ["a"], work, Settings()).is_failed()
    assert tries == ["a"] * 3


def test_runs_in_hand_end_before_a_failure_is_raised(workspace: Path) -> None:
    """The second item is finished although the first has failed meanwhile; the third is not begun."""
    second, third = threading.Event(), threading.Event()
    done: list[str] = []

    def work(item: str) -> None:
        if item == "a":
            assert second.wait(20)
            raise BudgetExceeded("spent")
        if item == "b":
            second.set()
            assert not third.wait(2)  # time enough for a third to begin, if the failure did not stop it
        else:
            third.set()
        done.append(item)

    assert run("collect", ["a", "b", "c"], work, Settings(vm_capacity=2)).is_failed()
    assert done == ["b"]


@pytest.mark.parametrize("capacity", [1, 3])
def test_desktops_are_never_asked_for_more_than_they_hold(capacity: int, workspace: Path) -> None:
    settings = Settings(vm_capacity=capacity)
    together = threading.Barrier(capacity)
    lock, at_once, most = threading.Lock(), 0, 0

    def work(item: str) -> None:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        together.wait(20)
        with lock:
            at_once -= 1

    assert run("collect", [str(number) for number in range(2 * capacity)], work, settings).is_completed()
    assert most == capacity == workers_of("collect", settings)


def test_task_runs_carry_stage_and_label(workspace: Path) -> None:
    state = run("mine", ["a", "b {x}"], lambda _: None, Settings())
    assert runs_of(state) == {"mine: item a": ("COMPLETED", 1), "mine: item b {x}": ("COMPLETED", 1)}
