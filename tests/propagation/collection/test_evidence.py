"""What boundaries and steps prove: harm dated by hashes, the step that is not the procedure's."""

from __future__ import annotations

from typing import Any

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.evidence import departed, odd_step, unexplained_change
from cuamaster.propagation.collection.progress import Course, executions
from cuamaster.propagation.collection.watching import Watch
from cuamaster.records.condition import FileExists, FileText, Not
from cuamaster.records.episode import Boundary, Node
from cuamaster.records.primitive import ActionTemplate, Primitive, Procedure
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.records.trajectory import Action, Observation, StateSignature, Target
from cuamaster.records.verdict import Check, Verdict

PATHS = ("~/a.txt", "~/b.txt", "~/c.txt")


def moving(path: str) -> PrimitiveUse:
    """Moves a file into the folder done, by mouse and keyboard."""
    there = FileText(path=path.replace("~/", "~/done/"), text="x")
    primitive = Primitive(
        app="files",
        ability="move",
        instruction="Move it",
        preconditions=(FileText(path=path, text="x"),),
        effects=(there, Not(of=FileExists(path=path))),
        verifier=there,
        procedures=(
            Procedure(
                mode="gui",
                steps=(
                    ActionTemplate(type="mouse.click", target=Target(text="Move")),
                    ActionTemplate(type="keyboard.type", args={"text": path}),
                    ActionTemplate(type="keyboard.press", args={"keys": ["enter"]}),
                ),
            ),
        ),
    )
    return PrimitiveUse(primitive=primitive, arguments={})


TASK = Task(
    instruction="Move the files.",
    environment=Environment(image="i", image_digest="d", established=tuple(FileText(path=path, text="x") for path in PATHS)),
    verifier=FileText(path="~/done/c.txt", text="x"),
    plan=tuple(moving(path) for path in PATHS),
    strategy="sequential",
)  # fmt: skip
COURSE = Course(TASK)
CLICK = CUAAction("mouse.click", {"x": 5, "y": 5})
ENTER = CUAAction("keyboard.press", {"keys": ["enter"]})
WAIT = CUAAction("wait", {"seconds": 1.0})
GIVE_UP = CUAAction("finish", {"status": "failure"})


def typed(text: str) -> CUAAction:
    return CUAAction("keyboard.type", {"text": text})


def node(index: int, use: int, *actions: CUAAction, parent: int | None = None) -> Node:
    return Node(
        index=index,
        parent=index - 1 if parent is None else parent,
        use=use,
        observation=Observation(screenshot=f"{index:064x}", width=1, height=1),
        actions=tuple(Action(action=action) for action in actions),
    )


def history(*states: str) -> list[Boundary]:
    """Boundaries after 0, 1, ... uses of three steps; a state names the content of a, b, c, `-` for none."""
    return [
        Boundary(
            label=f"s{use}",
            node=3 * use - 1,
            use=use,
            signature=StateSignature(
                active=None, files={path: char.strip("-") for path, char in zip(PATHS, state, strict=True)}
            ),
        )
        for use, state in enumerate(states)
    ]


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (("xxx", "-xx", "--x"), None),
        (("xxx", "-xy", "--y"), 0),
        (("xxx", "-xx", "--y"), 1),
        (("xxx", "-x-", "---"), 0),
        (("xxx",), None),
        (("xxx", "-yx", "--x"), None),  # the second use has dealt with it since
    ],
)
def test_harm_is_dated_by_hashes_unless_a_use_is_about_the_file(states: tuple[str, ...], expected: int | None) -> None:
    assert unexplained_change(COURSE, history(*states), frozenset(PATHS)) == expected


def test_only_the_files_asked_about_count() -> None:
    assert unexplained_change(COURSE, history("xxx", "-xy"), frozenset({"~/a.txt"})) is None


RIGHT = [node(0, 0, CLICK), node(1, 0, typed("~/a.txt")), node(2, 0, ENTER)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (RIGHT, None),
        ([node(0, 0, CLICK), node(1, 0, typed("~/q.txt")), node(2, 0, ENTER)], 1),
        ([node(0, 0, CLICK), node(1, 0, WAIT), node(2, 0, ENTER)], 1),  # left out: the next step came without it
        ([node(0, 0, CLICK), node(1, 0, typed("~/a.txt")), node(2, 0, WAIT)], 2),  # called done instead
        ([node(0, 0, CLICK), node(1, 0, WAIT), node(2, 0, typed("~/a.txt")), node(3, 0, ENTER)], None),  # waited for in earnest
        ([node(0, 0, CLICK), *(node(n, 0, WAIT) for n in (1, 2, 3)), node(4, 0, GIVE_UP)], 0),  # the click led nowhere
        ([node(0, 0, CUAAction("mouse.scroll", {"x": 5, "y": 5, "dx": 0, "dy": 3}))], None),  # somebody else's way
    ],
)  # fmt: skip
def test_the_odd_step(path: list[Node], expected: int | None) -> None:
    assert odd_step(COURSE, path, range(len(path))) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (RIGHT, False),
        ([*RIGHT, node(3, 1, CLICK), node(4, 1, WAIT), node(5, 1, GIVE_UP)], False),  # followed until the target was missing
        ([*RIGHT, node(3, 1, CLICK), node(4, 1, WAIT)], True),  # called done before its end
        ([node(0, 0, CLICK), node(1, 0, typed("~/q.txt")), node(2, 0, ENTER)], True),
        ([node(0, 0, ENTER, CLICK), *RIGHT[1:]], True),  # something else besides
        ([node(0, 9, WAIT)], False),  # a use that the plan does not have
    ],
)  # fmt: skip
def test_whose_failure_it_is(path: list[Node], expected: bool) -> None:
    assert departed(COURSE, path, range(len(path))) is expected


def test_what_a_later_use_needs_is_missed_at_once_and_told_once(editor: Any, reader: Any) -> None:
    editor.files = {"~/b.txt": b"x", "~/c.txt": b"z"}
    watch = Watch(TASK, editor, reader, lambda: 0.0)
    before, after = history("xxx", "-xz")
    (lost,) = watch.spoilt(before, after)
    assert (lost.condition, lost.holds) == (FileText(path="~/c.txt", text="x"), False)
    assert watch.spoilt(before, after) == (), "it came back: the application's own doing"
    assert watch.spoilt(*history("xxx", "-xx")) == (), "what the use itself is about is nobody's harm"
    editor.files["~/c.txt"] = b"x"
    again = Watch(TASK, editor, reader, lambda: 0.0)
    assert again.spoilt(before, after) == (), "another hash, and what is needed is there"


def test_a_loss_that_was_noticed_at_its_own_boundary_is_located_there(editor: Any, reader: Any) -> None:
    stray = CUAAction("shell.exec", {"command": "echo z > ~/c.txt"})
    second = [node(3, 1, CLICK), node(4, 1, stray, typed("~/b.txt")), node(5, 1, ENTER)]
    points = history("xxx", "-xx", "--z")
    lost = Check(condition=FileText(path="~/c.txt", text="x"), holds=False)
    found = RulesDetector(reader).locate(
        TASK, [*RIGHT, *second], editor, points, Verdict(status="failed", checks=(lost,)), history=points
    )
    assert (found.step, found.snapshot) == (4, "s1")


def test_what_was_not_looked_at_held_as_long_as_its_file_was_the_same(editor: Any, reader: Any) -> None:
    text = FileText(path="~/c.txt", text="x")
    states = history("xxx", "-xx", "--z")
    seen = states[0].model_copy(update={"checks": (Check(condition=text, holds=True),)})
    points = [seen, states[1].model_copy(update={"checks": ()}), states[2]]
    path = [*RIGHT, node(3, 1, CLICK), node(4, 1, typed("~/q.txt")), node(5, 1, ENTER)]
    failed = Verdict(status="failed", checks=(Check(condition=text, holds=False),))
    found = RulesDetector(reader).locate(TASK, path, editor, points, failed, history=points)
    assert (found.step, found.snapshot) == (4, "s1")


def test_the_detector_dates_late_harm_and_says_nothing_about_the_file(editor: Any, reader: Any) -> None:
    stray = CUAAction("shell.exec", {"command": "echo z > ~/c.txt"})
    second = [node(3, 1, CLICK), node(4, 1, stray, typed("~/b.txt")), node(5, 1, ENTER)]
    third = [node(6, 2, CLICK), node(7, 2, typed("~/c.txt")), node(8, 2, ENTER)]
    points = history("xxx", "-xx", "--z")
    failed = Verdict(status="failed", checks=(Check(condition=TASK.verifier, holds=False),))
    found = RulesDetector(reader).locate(TASK, [*RIGHT, *second, *third], editor, points, failed, history=points)
    assert (found.step, found.snapshot) == (4, "s1")
    assert "c.txt" not in found.feedback and "Step" not in found.feedback.split("step 5")[0]
    dropped = RulesDetector(reader).locate(
        TASK, [*RIGHT, *second, *third], editor, [points[0], points[2]], failed, history=points
    )
    assert (dropped.step, dropped.snapshot) == (4, "s0"), "the step is known though its snapshot is gone"


def test_executions_count_abandoned_ones_too() -> None:
    assert executions([]) == 0
    assert executions(RIGHT) == 1
    again = [node(3, 1, CLICK), node(4, 1, CLICK, parent=2), node(5, 1, ENTER), node(6, 0, CLICK, parent=-1)]
    assert executions([*RIGHT, *again]) == 4


def test_a_condition_that_the_plan_ends_and_makes_again_is_not_lost_where_it_ended(editor: Any, reader: Any) -> None:
    """Written, renamed away, fetched again: the fetching is to blame when it is missing at the end."""
    text = FileText(path="~/a.txt", text="x")

    def use(ability: str, *effects: Any) -> PrimitiveUse:
        steps = (ActionTemplate(type="shell.exec", args={"command": ability}),)
        primitive = Primitive(
            app="files", ability=ability, instruction=ability, effects=effects, verifier=effects[0],
            procedures=(Procedure(mode="cli", steps=steps),),
        )  # fmt: skip
        return PrimitiveUse(primitive=primitive, arguments={})

    renamed = FileText(path="~/b.txt", text="x")
    plan = (use("write", text), use("rename", renamed, Not(of=FileExists(path="~/a.txt"))), use("fetch", text))
    task = TASK.model_copy(
        update={"plan": plan, "verifier": text, "environment": Environment(image="i", image_digest="d")}
    )
    course = Course(task)
    assert [course.since(text, upto) for upto in range(4)] == [None, 1, None, 3]
    path = [
        node(index, index, CUAAction("shell.exec", {"command": name})) for index, name in enumerate(("write", "rename"))
    ]
    path.append(node(2, 2, WAIT))
    points = [
        Boundary(label=f"s{n}", node=n - 1, use=n, signature=StateSignature(active=None), checks=(Check(condition=text, holds=n == 1),))
        for n in range(3)
    ]  # fmt: skip
    failed = Verdict(status="failed", checks=(Check(condition=text, holds=False),))
    found = RulesDetector(reader).locate(task, path, editor, points, failed, history=points)
    assert (found.step, found.snapshot) == (2, "s2")
