"""Replay: targets found on the frame, waits bounded, modes, alternatives after a rollback."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.errors import InvalidInput
from cuamaster.ports import Decision, Frame, Image
from cuamaster.records.primitive import ActionTemplate, Procedure
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Target, TextBox, Window

MakeFrame = Callable[..., Frame]


class Signs:
    """A reader that sees the signs it is given: text -> corner in pixels."""

    name = "signs"

    def __init__(self, *signs: tuple[str, int, int]) -> None:
        self.signs = list(signs)

    def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        return [TextBox(text=text, x0=x, y0=y, x1=x + 10, y1=y + 6) for text, x, y in self.signs]


def actions(decision: Decision) -> list[CUAAction]:
    return [item.action for item in decision.actions]


def test_targets_are_clicked_where_they_stand_and_the_plan_is_told(task: Task, make_frame: MakeFrame) -> None:
    reader = Signs(("File", 10, 10), ("New my files", 30, 40))
    policy = ReplayPolicy(reader)
    policy.begin(task)
    frame = make_frame()
    first = policy.decide(frame, [], "")
    assert (first.use, first.done_use, first.thought) == (0, False, 'Click "File".')
    click = first.actions[0]
    assert click.action.type == "mouse.click"
    assert click.action.args["x"] == pytest.approx(155, abs=6)
    assert click.action.args["y"] == pytest.approx(169, abs=8)
    assert click.target == Target(text="File")
    policy.decide(frame, [], "")
    last = policy.decide(frame, [], "")
    assert (last.use, last.done_use) == (0, True)
    typed = policy.decide(frame, [], "")
    assert (typed.use, typed.done_use, typed.thought) == (1, False, "Type the name")
    assert actions(typed) == [CUAAction("keyboard.type", {"text": "my files"})]
    assert policy.decide(frame, [], "").done_use
    assert actions(policy.decide(frame, [], "")) == [CUAAction("finish", {"status": "success"})]


def test_a_target_is_waited_for_and_at_last_given_up(task: Task, make_frame: MakeFrame) -> None:
    reader = Signs()
    policy = ReplayPolicy(reader, max_waits=2)
    policy.begin(task)
    frame = make_frame()
    assert [actions(policy.decide(frame, [], ""))[0].type for _ in range(3)] == ["wait", "wait", "finish"]
    policy.begin(task)
    assert actions(policy.decide(frame, [], ""))[0].type == "wait"
    reader.signs.append(("File", 10, 10))
    assert actions(policy.decide(frame, [], ""))[0].type == "mouse.click"


def test_a_screen_that_stays_as_it_is_is_given_up_sooner(task: Task, make_frame: MakeFrame) -> None:
    policy = ReplayPolicy(Signs(), max_waits=10, still_waits=2)
    policy.begin(task)
    same, other = make_frame(), make_frame(shade=90)
    seen = [actions(policy.decide(frame, [], ""))[0].type for frame in (same, same, other, other, other)]
    assert seen == ["wait", "wait", "wait", "wait", "finish"]


def test_modes_choose_the_procedure(task: Task, make_frame: MakeFrame) -> None:
    with pytest.raises(InvalidInput, match=r"use 2, files\.search"):
        ReplayPolicy(Signs(), "cli").begin(task)
    policy = ReplayPolicy(Signs(), "mixed")
    policy.begin(task)
    assert actions(policy.decide(make_frame(), [], "")) == [CUAAction("shell.exec", {"command": "mkdir ~/'my files'"})]
    assert policy.decide(make_frame(), [], "").use == 1


def test_a_retry_takes_another_way_where_one_costs_nothing(task: Task, make_frame: MakeFrame) -> None:
    frame = make_frame()
    policy = ReplayPolicy(Signs(("File", 10, 10), ("File", 70, 10)))
    policy.begin(task)
    start = policy.state()
    xs = []
    for _ in range(3):
        xs.append(policy.decide(frame, [], "").actions[0].action.args["x"])
        policy.restore(start)
    assert xs[0] == xs[1] != xs[2]
    mixed = ReplayPolicy(Signs(("File", 10, 10)), "mixed")
    mixed.begin(task)
    kinds = []
    for _ in range(3):
        kinds.append(actions(mixed.decide(frame, [], ""))[0].type)
        mixed.restore(start)
    assert kinds == ["shell.exec", "mouse.click", "shell.exec"]


def test_the_way_that_worked_is_taken_again_and_not_the_one_that_failed(task: Task, make_frame: MakeFrame) -> None:
    frame = make_frame()
    policy = ReplayPolicy(Signs(("File", 10, 10), ("New my files", 30, 40)), "mixed")
    policy.begin(task)
    start = policy.state()
    policy.decide(frame, [], "")
    policy.restore(start)
    steps = [policy.decide(frame, [], "") for _ in range(3)]
    assert [step.use for step in steps] == [0, 0, 0] and actions(steps[0])[0].type == "mouse.click"
    assert policy.decide(frame, [], "").use == 1, "the buttons had their effect"
    policy.restore(start)  # and yet something was found at fault there
    assert actions(policy.decide(frame, [], ""))[0].type == "mouse.click", "the command has never worked"


def test_a_second_procedure_of_the_mode_is_tried_before_the_next_match(task: Task, make_frame: MakeFrame) -> None:
    use = task.plan[0]
    keys = Procedure(mode="gui", steps=(ActionTemplate(type="keyboard.press", args={"keys": ["ctrl", "n"]}),))
    primitive = use.primitive.model_copy(update={"procedures": (*use.primitive.procedures, keys)})
    policy = ReplayPolicy(Signs(("File", 10, 10)))
    policy.begin(task.model_copy(update={"plan": (use.model_copy(update={"primitive": primitive}),)}))
    start, kinds = policy.state(), []
    for _ in range(3):
        kinds.append(actions(policy.decide(make_frame(), [], ""))[0].type)
        policy.restore(start)
    assert kinds == ["mouse.click", "keyboard.press", "mouse.click"]


def test_a_state_leads_back_to_the_same_decision(task: Task, make_frame: MakeFrame) -> None:
    reader, frame = Signs(("File", 10, 10), ("New my files", 30, 40)), make_frame()
    policy = ReplayPolicy(reader)
    policy.begin(task)
    policy.decide(frame, [], "")
    state = policy.state()
    expected = policy.decide(frame, [], "")
    policy.decide(frame, [], "")
    policy.restore(state)
    assert policy.decide(frame, [], "the last part was undone") == expected


def _with_steps(task: Task, *steps: ActionTemplate) -> Task:
    use = task.plan[0]
    primitive = use.primitive.model_copy(update={"procedures": (Procedure(mode="gui", steps=steps),)})
    return task.model_copy(update={"plan": (use.model_copy(update={"primitive": primitive}),)})


def test_windows_drags_and_fields(task: Task, make_frame: MakeFrame) -> None:
    near, far = (
        Window(app="a", title="One", x=0, y=0, width=40, height=80),
        Window(app="b", title="Two", x=50, y=0, width=50, height=80),
    )
    steps = (
        ActionTemplate(type="mouse.click", target=Target(text="OK", window="two")),
        ActionTemplate(type="mouse.drag", target=Target(text="Left"), to=Target(text="Right")),
        ActionTemplate(type="keyboard.type", target=Target(text="Name", role="item"), args={"text": "x"}),
        ActionTemplate(type="mouse.click", target=Target(window="b", at=(0.5, 0.5)), args={"button": "right"}),
    )
    reader = Signs(("OK", 5, 60), ("OK", 60, 60), ("Left", 5, 5), ("Right", 60, 5), ("Name", 5, 30))
    policy = ReplayPolicy(reader)
    policy.begin(_with_steps(task, *steps))
    shown = make_frame(active=near)
    frame = Frame(image=shown.image, t=0.0, active=near, windows=(near, far))
    click, drag, field, bare = (actions(policy.decide(frame, [], "")) for _ in steps)
    assert click[0].args["x"] > 600
    (x0, _), (x1, _) = drag[0].args["path"]
    assert x0 < 200 < 600 < x1
    assert [action.type for action in field] == ["mouse.click", "keyboard.type"]
    assert bare[0].args["x"] == pytest.approx(750, abs=10)
    assert bare[0].args["button"] == "right"


def test_a_misread_label_in_the_focused_window_is_meant_before_the_same_words_elsewhere(
    task: Task, make_frame: MakeFrame
) -> None:
    front = Window(app="a", title="One", x=50, y=0, width=50, height=80)
    policy = ReplayPolicy(Signs(("Preferences", 5, 5), ("Preferentes", 60, 60)))
    policy.begin(_with_steps(task, ActionTemplate(type="mouse.click", target=Target(text="Preferences"))))
    (click,) = actions(policy.decide(make_frame(active=front), [], ""))
    assert click.args["x"] > 600


def test_the_whole_screen_can_be_meant(task: Task, make_frame: MakeFrame) -> None:
    recorder = Window(app="x", title="My screen recorder", x=50, y=40, width=50, height=40)
    policy = ReplayPolicy(Signs())
    policy.begin(_with_steps(task, ActionTemplate(type="mouse.click", target=Target(window="screen", at=(0.1, 0.9)))))
    shown = make_frame()
    frame = Frame(image=shown.image, t=0.0, active=recorder, windows=(recorder,))
    (click,) = actions(policy.decide(frame, [], ""))
    assert (click.args["x"], click.args["y"]) == (pytest.approx(100, abs=10), pytest.approx(900, abs=10))


def test_keys_wait_for_the_window_they_are_meant_for(task: Task, make_frame: MakeFrame) -> None:
    policy = ReplayPolicy(Signs())
    policy.begin(
        _with_steps(task, ActionTemplate(type="keyboard.type", target=Target(window="Save As"), args={"text": "x"}))
    )
    editor, dialog = Window(app="pad", title="Untitled"), Window(app="pad", title="Save As")
    shown = make_frame()

    def frame(active: Window) -> Frame:
        return Frame(image=shown.image, t=0.0, active=active, windows=(editor, dialog))

    assert actions(policy.decide(frame(editor), [], ""))[0].type == "wait"
    assert actions(policy.decide(frame(dialog), [], "")) == [CUAAction("keyboard.type", {"text": "x"})]


def test_a_missing_argument_is_found_before_anything_is_done(task: Task) -> None:
    broken = _with_steps(task, ActionTemplate(type="keyboard.type", args={"text": "{nobody}"}))
    with pytest.raises(InvalidInput, match="nobody"):
        ReplayPolicy(Signs()).begin(broken)


def test_a_use_that_failed_goes_another_way_even_when_an_earlier_one_is_blamed(
    task: Task, make_frame: MakeFrame
) -> None:
    make = task.plan[0]
    policy = ReplayPolicy(Signs(("File", 10, 10)), "mixed")
    policy.begin(task.model_copy(update={"plan": (task.plan[1], make)}))
    start, frame = policy.state(), make_frame()
    seen = [actions(policy.decide(frame, [], ""))[0].type for _ in range(3)]
    policy.restore(start)
    again = [actions(policy.decide(frame, [], ""))[0].type for _ in range(3)]
    assert (seen[2], again[2]) == ("shell.exec", "mouse.click")
