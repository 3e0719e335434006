"""The fault wrapper: same seed, same faults; at most one a first attempt; marked, and really different from the right action."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.policies.faults import DELAY, STRAY
from cuamaster.adapters.policies.faulty import FaultyPolicy
from cuamaster.ports import Decision, Frame
from cuamaster.records.condition import FileExists, FileText, Not
from cuamaster.records.episode import Node
from cuamaster.records.task import PrimitiveUse, Task
from cuamaster.records.trajectory import Action


class Clerk:
    """An inner policy of `uses` uses with three steps each: click, type, commit."""

    name, mode = "clerk", "gui"

    def __init__(self, uses: int = 4) -> None:
        self.uses, self.at = uses, 0

    def begin(self, task: Task) -> None:
        self.at = 0

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
        use, step = divmod(self.at, 3)
        self.at += 1
        if use == self.uses:
            return Decision(actions=(Action(action=CUAAction("finish", {"status": "success"})),))
        action = (
            CUAAction("mouse.click", {"x": 30.0, "y": 970.0}),
            CUAAction("keyboard.type", {"text": "q"}),
            CUAAction("keyboard.press", {"keys": ["enter"]}),
        )[step]
        return Decision(actions=(Action(action=action),), use=use, done_use=step == 2)

    def state(self) -> dict[str, Any]:
        return {"at": self.at}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.at = state["at"]


def run(policy: FaultyPolicy, task: Task, frame: Frame, count: int = 12) -> list[Decision]:
    policy.begin(task)
    return [policy.decide(frame, [], "") for _ in range(count)]


@pytest.fixture
def frame(make_frame: Callable[..., Frame]) -> Frame:
    return make_frame()


def test_the_same_seed_gives_the_same_faults_and_another_gives_others(task: Task, frame: Frame) -> None:
    runs = [run(FaultyPolicy(Clerk(), seed=seed, rate=1.0, episode_id="e"), task, frame) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    other = run(FaultyPolicy(Clerk(), seed=1, rate=1.0, episode_id="f"), task, frame)
    assert other != runs[0]


@pytest.mark.parametrize("seed", range(20))
def test_every_first_attempt_errs_once_at_rate_one_and_never_at_rate_zero(task: Task, frame: Frame, seed: int) -> None:
    right = run(FaultyPolicy(Clerk(), seed=seed, rate=0.0), task, frame)
    assert not any(decision.injected for decision in right)
    wrong = run(FaultyPolicy(Clerk(), seed=seed, rate=1.0), task, frame)
    for use in range(4):
        assert sum(decision.injected for decision in wrong if decision.use == use) == 1
    for honest, spoiled in zip(right, wrong, strict=True):
        if spoiled.injected:
            assert spoiled.actions != honest.actions
            for item in spoiled.actions:
                item.action.validate()
        else:
            assert spoiled == honest


def test_the_rate_is_a_share_of_uses(task: Task, frame: Frame) -> None:
    decisions = run(FaultyPolicy(Clerk(400), seed=5, rate=0.3), task, frame, 1200)
    assert 0.22 < sum(decision.injected for decision in decisions) / 400 < 0.38


@pytest.mark.parametrize(("retries", "expected"), [(False, 0), (True, 1)])
def test_a_second_attempt_is_honest_unless_retries_err_too(
    task: Task, frame: Frame, retries: bool, expected: int
) -> None:
    policy = FaultyPolicy(Clerk(), seed=1, rate=1.0, retries=retries)
    run(policy, task, frame, 3)
    policy.restore({"at": 0})
    again = [policy.decide(frame, [], "hint") for _ in range(3)]
    assert sum(decision.injected for decision in again) == expected


def test_the_end_is_never_spoiled(task: Task, frame: Frame) -> None:
    last = run(FaultyPolicy(Clerk(1), seed=1, rate=1.0), task, frame, 4)[-1]
    assert last.actions[0].action.type == "finish"
    assert not last.injected


@pytest.mark.parametrize("seed", range(20))
def test_every_episode_has_a_fault_even_at_a_small_rate(task: Task, frame: Frame, seed: int) -> None:
    decisions = run(FaultyPolicy(Clerk(len(task.plan)), seed=seed, rate=1e-9), task, frame, 3 * len(task.plan))
    assert sum(decision.injected for decision in decisions) == 1


class Files(Clerk):
    """A clerk with a shell: one command a use, by keyboard when a use is tried again."""

    mode = "mixed"

    def __init__(self, uses: int) -> None:
        super().__init__(uses)
        self.other_way = False

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
        use, self.at = self.at, self.at + 1
        if use == self.uses:
            return Decision(actions=(Action(action=CUAAction("finish", {"status": "success"})),))
        command = CUAAction("shell.exec", {"command": f"mv draft{use} final{use}"})
        keys = CUAAction("keyboard.press", {"keys": ["f2"]})
        return Decision(actions=(Action(action=keys if self.other_way else command),), use=use, done_use=True)


def consuming(task: Task, uses: int) -> Task:
    """A plan whose every use turns a file of its own into another."""
    primitive = task.plan[0].primitive.model_copy(
        update={
            "preconditions": (FileText(path="~/draft{name}", text="words"),),
            "effects": (FileText(path="~/final{name}", text="words"), Not(of=FileExists(path="~/draft{name}"))),
        }
    )
    plan = tuple(PrimitiveUse(primitive=primitive, arguments={"name": str(number)}) for number in range(uses))
    return task.model_copy(update={"plan": plan})


def test_a_delayed_fault_harms_what_one_of_the_next_five_uses_needs(task: Task, frame: Frame) -> None:
    task = consuming(task, 12)
    policy = FaultyPolicy(Files(12), seed=2, rate=1.0, manners=("delayed",))
    for use, decision in enumerate(run(policy, task, frame, 11)):
        assert decision.injected
        harm, right = (item.action for item in decision.actions)
        victim = int(harm.args["command"].removeprefix("echo mislaid > ~/draft"))
        assert use < victim <= use + DELAY
        assert right.args["command"] == f"mv draft{use} final{use}"
        assert decision.actions[0].evidence == STRAY
    last = run(FaultyPolicy(Files(1), seed=2, rate=1.0, manners=("delayed",)), consuming(task, 1), frame, 1)[0]
    assert last.injected and len(last.actions) == 1, "nothing later to harm: it shows at once"


def test_a_persistent_fault_comes_back_until_the_way_is_changed(task: Task, frame: Frame) -> None:
    inner = Files(3)
    policy = FaultyPolicy(inner, seed=1, rate=1.0, manners=("persistent",))
    policy.begin(task)
    assert policy.decide(frame, [], "").injected
    for _ in range(4):
        policy.restore({"at": 0})
        assert policy.decide(frame, [], "").injected
    inner.other_way = True
    policy.restore({"at": 0})
    assert not policy.decide(frame, [], "").injected
