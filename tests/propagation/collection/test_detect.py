"""The rules detector on recorded boundaries: the earliest stretch that can be to blame, and the step in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.progress import Course
from cuamaster.records.condition import FileText, WindowTitle
from cuamaster.records.episode import Boundary, Node
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action, Observation, StateSignature, Window
from cuamaster.records.verdict import Check, Verdict

Make = Callable[..., Task]
GOAL = FileText(path="~/out.txt", text="alpha")


def node(index: int, picture: str, kind: str = "keyboard.type", **args: Any) -> Node:
    action = Action(action=CUAAction(kind, args or {"text": "x"}))
    return Node(
        index=index,
        parent=index - 1,
        observation=Observation(screenshot=picture * 64, width=1, height=1),
        actions=(action,),
    )


def boundary(label: str, node_index: int, use: int, *checks: tuple[Any, bool | None]) -> Boundary:
    found = tuple(Check(condition=condition, holds=held) for condition, held in checks)
    return Boundary(label=label, node=node_index, use=use, signature=StateSignature(active=None), checks=found)


def failed(*conditions: Any) -> Verdict:
    return Verdict(status="failed", checks=tuple(Check(condition=condition, holds=False) for condition in conditions))


def test_a_goal_that_held_once_was_lost_after_the_last_boundary_at_which_it_held(
    make_task: Make, editor: Any, reader: Any
) -> None:
    boundaries = [
        boundary("s0", -1, 0, (GOAL, False)),
        boundary("s1", 1, 1, (GOAL, True)),
        boundary("s2", 2, 2, (GOAL, False)),
    ]
    path = [node(0, "a"), node(1, "b"), node(2, "c"), node(3, "d")]
    found = RulesDetector(reader).locate(make_task(), path, editor, boundaries, failed(GOAL))
    assert (found.snapshot, found.step) == ("s1", 2)


def test_a_goal_that_never_held_is_blamed_on_the_use_that_owns_it(make_task: Make, editor: Any, reader: Any) -> None:
    task = make_task()
    goal = WindowTitle(title="*alpha -", app="editor", active=True)
    assert Course(task).owner(goal) == 1
    boundaries = [boundary("s0", -1, 0), boundary("s1", 1, 1), boundary("s2", 2, 2)]
    path = [node(0, "a"), node(1, "b"), node(2, "c")]
    assert RulesDetector(reader).locate(task, path, editor, boundaries, failed(goal)).snapshot == "s0"


def test_the_earliest_of_several_failures_wins(make_task: Make, editor: Any, reader: Any) -> None:
    late = FileText(path="~/out.txt", text="", match="contains")
    early = WindowTitle(title="*alpha -", app="editor", active=True)
    boundaries = [boundary("s0", -1, 0), boundary("s1", 1, 1), boundary("s2", 2, 2)]
    path = [node(0, "a"), node(1, "b"), node(2, "c")]
    locate = RulesDetector(reader).locate
    assert locate(make_task(), path, editor, boundaries, failed(late)).snapshot == "s1"
    assert locate(make_task(), path, editor, boundaries, failed(late, early)).snapshot == "s0"


def test_a_step_after_which_nothing_ever_changed_is_named(make_task: Make, editor: Any, reader: Any) -> None:
    path = [
        node(0, "a"),
        node(1, "b", "mouse.click", x=1, y=1),
        node(2, "b", "mouse.click", x=2, y=2),
        node(3, "b", "finish", status="failure"),
    ]
    found = RulesDetector(reader).locate(make_task(), path, editor, [boundary("s0", -1, 0)], failed(GOAL))
    assert found.step == 1
    assert "Step 2 changed nothing" in found.feedback


def test_windows_that_came_and_went_are_reported(make_task: Make, editor: Any, reader: Any) -> None:
    start = boundary("s0", -1, 0).model_copy(
        update={"signature": StateSignature(active=None, windows=(Window(app="x", title="Question"),))}
    )
    found = RulesDetector(reader).locate(make_task(), [node(0, "a")], editor, [start], failed(GOAL))
    assert "no longer there: Question" in found.feedback
    assert "not open before:  - Editor" in found.feedback


def test_facts_follow_the_plan_and_ended_ones_are_gone(make_task: Make) -> None:
    task = make_task()
    rows = Course(task).facts
    assert [len(row) for row in rows] == [0, 1, 2]
    assert Course(task).required(1) == (WindowTitle(title="*alpha -", app="editor", active=True),)
    assert Course(task).files == ("~/out.txt",)
    assert Course(task).owner(GOAL) is None, "no effect promises this text, so it is not asked for at a boundary"
