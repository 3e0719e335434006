"""Composing: real progression of facts, four different strategies, verifiers that mean something, the same seed the same tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest

from cuamaster.errors import InvalidInput
from cuamaster.propagation.generation.composer import EVENLY, Guest, PrimitiveComposer, _Search
from cuamaster.propagation.generation.facts import START, Fact, satisfied, setup_facts
from cuamaster.propagation.generation.plan import Plan, extend, ground, simulate
from cuamaster.propagation.generation.strategies import ALL_STRATEGIES, fits, handoffs
from cuamaster.propagation.generation.verifier import goals_of, idle_uses, synthesize
from cuamaster.records.condition import FileExists, FileText, Not, WindowTitle
from cuamaster.records.parts import conjuncts
from cuamaster.records.primitive import Parameter, Primitive, SetupStep
from cuamaster.records.reasoning import conflicts_with, consistent
from cuamaster.records.task import Strategy, Task
from tests.propagation.generation import primitives_made as made

GUEST = Guest("image", "digest", made.CAPABILITIES)


def _tasks(count: int = 24, seed: int = 1, strategies: Mapping[Strategy, float] = EVENLY, **more: object) -> list[Task]:
    return PrimitiveComposer(strategies=strategies).compose(made.EVERYTHING, GUEST, count=count, seed=seed, **more)  # type: ignore[arg-type]


def _chain(*primitives: Primitive, seed: int = 0) -> Plan | None:
    """The first plan that uses the primitives in this order."""
    plans = [Plan()]
    for primitive in primitives:
        plans = [grown for plan in plans for grown in extend(plan, primitive, Random(seed))]
    return plans[0] if plans else None


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return _tasks()


def test_every_strategy_gives_tasks(tasks: list[Task]) -> None:
    assert {task.strategy for task in tasks} == set(ALL_STRATEGIES)
    assert len({task.id for task in tasks}) == len(tasks) >= 12


def test_a_strategy_that_found_nothing_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, in_vain = _Search.plan, list[_Search]()

    def searched(self: _Search, size: int, required: str | None) -> Plan | None:
        if self._strategy == "cross_app_handoff" and in_vain in ([], [self]):
            in_vain[:] = [self]
            return None
        return plan(self, size, required)

    monkeypatch.setattr(_Search, "plan", searched)
    assert {task.strategy for task in _tasks(count=6)} == set(ALL_STRATEGIES)
    assert in_vain


def test_a_strategy_that_never_finds_anything_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _Search.plan

    def searched(self: _Search, size: int, required: str | None) -> Plan | None:
        return None if self._strategy == "sequential" else plan(self, size, required)

    monkeypatch.setattr(_Search, "plan", searched)
    assert len(_tasks(count=12)) == 12
    assert len(_tasks(count=1)) == 1


def test_sizes_and_labels(tasks: list[Task]) -> None:
    assert all(2 <= task.k <= 4 for task in tasks)
    assert {task.k for task in tasks} == {2, 3, 4}
    assert all(task.n == len({use.primitive.app for use in task.plan}) for task in tasks)


def test_every_precondition_is_met_when_its_turn_comes(tasks: list[Task]) -> None:
    for task in tasks:
        plan = simulate(task.environment.setup, task.plan)
        assert plan is not None
        assert fits(task.strategy, plan)
        assert not idle_uses(plan)
        for use in task.plan:
            assert consistent(ground(use.primitive.preconditions, use.arguments))
            assert consistent(ground(use.primitive.effects, use.arguments))


def test_the_verifier_fails_at_the_start_and_holds_at_the_end(tasks: list[Task]) -> None:
    for task in tasks:
        plan = simulate(task.environment.setup, task.plan)
        assert plan is not None
        assert not satisfied(task.verifier, plan.start)
        assert satisfied(task.verifier, plan.facts)
        parts = conjuncts(task.verifier)
        assert not any(conflicts_with(a, b) for a in parts for b in parts if a is not b)


def test_established_conditions_hold_after_setup_and_are_ground(tasks: list[Task]) -> None:
    for task in tasks:
        start = tuple(Fact(condition) for condition in setup_facts(task.environment.setup))
        assert all(satisfied(condition, start) for condition in task.environment.established)
        assert "{" not in task.to_json().replace('{"', "").split('"plan"')[0].replace("{}", "")


def test_the_same_seed_gives_the_same_tasks_and_another_seed_others() -> None:
    one, again, other = _tasks(8, 5), _tasks(8, 5), _tasks(8, 6)
    assert [task.id for task in one] == [task.id for task in again]
    assert {task.id for task in one} != {task.id for task in other}


@pytest.mark.parametrize("strategy", ALL_STRATEGIES)
def test_each_strategy_alone(strategy: Strategy) -> None:
    found = _tasks(6, 3, {strategy: 1})
    assert found
    for task in found:
        plan = simulate(task.environment.setup, task.plan)
        assert plan is not None
        producers = [{need.producer for need in needs} for needs in plan.needs]
        names = [use.primitive.ability for use in task.plan]
        if strategy == "parameterized":
            assert len(set(names)) == 1
            assert len({frozenset(use.arguments.items()) for use in task.plan}) == task.k
        if strategy == "sequential":
            assert task.n == 1
            assert len(set(names)) == task.k
            assert all(p <= {START} for p in producers)
        if strategy == "state_dependent":
            assert all(i - 1 in producers[i] for i in range(1, task.k))
        if strategy == "cross_app_handoff":
            assert task.n >= 2
            data = [
                n
                for n in plan.needs[-1]
                if n.producer != START and n.condition.kind in ("file.exists", "file.text", "clipboard.text")
            ]
            assert any(task.plan[need.producer].primitive.app != task.plan[-1].primitive.app for need in data)


def test_a_handoff_carries_the_text_from_one_application_to_the_other() -> None:
    plan = _chain(made.TYPE, made.COPY, made.OPEN_CLIP, made.KEEP)
    assert plan is not None
    text = plan.uses[0].arguments["text"]
    assert plan.uses[3].arguments["text"] == text
    assert [need.producer for need in plan.needs[3] if need.condition.kind == "clipboard.text"] == [1]
    verifier = synthesize(plan)
    assert verifier is not None
    assert any(isinstance(part, FileText) and part.text == text for part in conjuncts(verifier))


def test_overwritten_goals_are_dropped_and_untouched_files_are_kept() -> None:
    plan = _chain(made.CREATE_FOLDER, made.OPEN_FOLDER, made.GO_UP, made.RENAME)
    assert plan is not None
    verifier = synthesize(plan)
    assert verifier is not None
    parts = conjuncts(verifier)
    assert not any(isinstance(part, WindowTitle) for part in parts)  # the folder was left again
    assert any(isinstance(part, FileExists) and part.type == "dir" for part in parts)
    assert not any(goal.kind == "window.title" for goals in goals_of(plan).by_use for goal in goals)

    beside = _chain(made.OPEN_FOLDER, made.GO_UP)
    assert beside is not None
    assert synthesize(beside) is None  # it ends as it began
    deleted = _chain(made.DELETE, made.RENAME)
    assert deleted is not None
    assert goals_of(deleted).preserved == ()
    untouched = _chain(made.OPEN_IN_EDITOR, made.TYPE)
    assert untouched is not None
    kept = [
        part for part in conjuncts(synthesize(untouched) or Not(of=FileExists(path="~"))) if isinstance(part, FileText)
    ]
    assert [(part.path, part.match) for part in kept] == [(f"~/{untouched.uses[0].arguments['filename']}", "equals")]


def test_conflicting_primitives_are_never_joined() -> None:
    needs_no_editor = made.OPEN_IN_EDITOR
    assert _chain(made.TYPE, needs_no_editor) is None  # the editor has the focus, and is there
    both = made.primitive(
        "files", "contradiction", "Do both", preconditions=(made.HOME,), setup=(made.LAUNCH_FILES,),
        effects=(made.file("~/x"), made.no(made.file("~/x", "any"))),
    )  # fmt: skip
    assert _chain(both) is None
    impossible = made.primitive(
        "files", "impossible", "Do it", preconditions=(made.HOME, made.window("editor")), setup=(made.LAUNCH_FILES,), effects=(made.file("~/x"),),
    )  # fmt: skip
    assert _chain(impossible) is None


def test_setup_is_what_nobody_produced_earlier() -> None:
    plan = _chain(made.CREATE_FOLDER, made.OPEN_FOLDER)
    assert plan is not None
    assert [step.kind for step in plan.setup] == ["app.launch"]
    needs = {need.condition.kind: need.producer for need in plan.needs[1]}
    assert needs["file.exists"] == 0
    two = _chain(made.RENAME, made.DELETE)
    assert two is not None
    assert [step.kind for step in two.setup].count("file.write") in (1, 2)


def test_background_windows_come_first_so_that_the_first_application_has_the_focus() -> None:
    plan = _chain(made.TYPE, made.SWITCH_TO_FILES)
    assert plan is not None
    launched = [step.app for step in plan.setup if step.kind == "app.launch"]
    assert launched == ["files", "editor"]


def test_preferred_primitives_appear_and_applications_can_be_chosen() -> None:
    wanted = made.KEEP.id
    assert any(use.primitive.id == wanted for task in _tasks(8, 2, prefer=[wanted]) for use in task.plan)
    only = _tasks(8, 2, apps=["files"])
    assert only
    assert all(task.apps == ("files",) for task in only)
    assert all(task.n <= 2 for task in _tasks(12, 4, max_apps=2))


def test_what_the_environment_lacks_is_not_used() -> None:
    guest = Guest("image", "digest", frozenset({"app:files"}))
    found = PrimitiveComposer().compose(made.EVERYTHING, guest, count=8, seed=0)
    assert found
    assert all(set(task.environment.capabilities) <= {"app:files"} for task in found)
    assert PrimitiveComposer().compose(made.EVERYTHING, Guest("i", "d", frozenset()), count=3, seed=0) == []


def test_shares_say_how_many_tasks_each_strategy_gives() -> None:
    shares: dict[Strategy, float] = {
        "sequential": 1,
        "parameterized": 3,
        "cross_app_handoff": 0,
        "state_dependent": 5e-324,
    }
    assert Counter(task.strategy for task in _tasks(8, 3, shares)) == {"parameterized": 6, "sequential": 2}
    assert [task.strategy for task in _tasks(1, 3, shares)] == ["parameterized"], "one task is of the larger share"


def test_instructions_name_every_value_and_application(tasks: list[Task]) -> None:
    for task in tasks:
        for use in task.plan:
            shown = [value for name, value in use.arguments.items() if f"{{{name}}}" in use.primitive.instruction]
            assert all(value in task.instruction for value in shown)
        if task.n > 1:
            later = [use.primitive.app for use in task.plan[1:] if use.primitive.app != task.plan[0].primitive.app]
            assert (
                any(app.capitalize() in task.instruction or app in task.instruction for app in later)
                or "file manager" in task.instruction
            )
        assert task.instruction[0].isupper()
        assert task.instruction.endswith(".")


@pytest.mark.parametrize(
    "arguments",
    [
        {"min_primitives": 0},
        {"min_primitives": 3, "max_primitives": 2},
        {"strategies": {"sideways": 1}},
        {"strategies": {}},
        {"strategies": {"sequential": 0}},
        {"strategies": {"sequential": -1, "parameterized": 1}},
        {"strategies": {"sequential": float("nan")}},
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        PrimitiveComposer(**arguments)  # type: ignore[arg-type]


def test_handoffs_are_pairs_of_maker_and_user_of_data() -> None:
    pairs = {(a.ability, b.ability) for a, b in handoffs(made.EVERYTHING)}
    assert ("copy", "keep") in pairs
    assert ("save-as", "rename") in pairs
    assert ("keep", "open-in-editor") in pairs
    assert not any(a == "type" for a, _ in pairs)  # text on a screen is no data
    assert all(a.app != b.app for a, b in handoffs(made.EVERYTHING))


def test_a_number_is_asked_for_where_a_number_is_needed() -> None:
    number = Parameter(name="number", kind="number", examples=("7",))
    compute = made.primitive(
        "clip", "double", "Double {number}", parameters=(number,), setup=(SetupStep(kind="app.launch", app="clip"),),
        preconditions=(made.window("clip"), made.condition(kind="clipboard.text", text="{number}")),
        effects=(made.condition(kind="screen.text", app="clip", text="twice {number}"),),
    )  # fmt: skip
    plan = _chain(made.TYPE, made.COPY, made.OPEN_CLIP)
    assert plan is not None
    assert list(extend(plan, compute, Random(0))) == []


def test_a_long_task_goes_through_several_applications_and_ends_with_a_handoff() -> None:
    library = made.exchanging(3)
    guest = Guest("image", "digest", frozenset(f"app:{p.app}" for p in library))
    composer = PrimitiveComposer(12, 12, {"cross_app_handoff": 1})
    tasks = composer.compose(library, guest, count=2, seed=2, min_apps=3, max_apps=3)
    assert len(tasks) == 2
    for task in tasks:
        assert (task.k, task.n) == (12, 3)
        plan = simulate(task.environment.setup, task.plan)
        assert plan is not None and fits("cross_app_handoff", plan) and not idle_uses(plan)
        shares = [sum(use.primitive.app == app for use in task.plan) for app in task.apps]
        assert min(shares) >= 2, "no application is only passed through"
