"""Episodes on the simulated desktop: rewards are verdicts, and what the machinery spoils has none."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.simulated import SimulatedDesktop, SimulatedHost
from cuamaster.errors import CheckFailed, GuestDied, HostBusy, StateDrift
from cuamaster.ports import Desktop
from cuamaster.records.condition import FileJson, FileText
from cuamaster.records.episode import Receipt
from cuamaster.records.primitive import SetupStep
from cuamaster.records.task import Task
from cuamaster.training.desktop_episode import OVER, DesktopEpisode
from scripts.train_smoke.demonstrations import nothing_to_read

Clock = Callable[[], float]
TYPE, SAVE = {"action": "type", "text": "milk"}, {"action": "key", "keys": ["ctrl", "s"]}
NAME, END = {"action": "type", "text": "a.txt\n"}, {"action": "terminate", "status": "success"}


def answer(*calls: dict[str, Any]) -> str:
    blocks = [json.dumps({"name": "computer_use", "arguments": call}) for call in calls]
    return "\n".join(["Action: Do it", *(f"<tool_call>\n{block}\n</tool_call>" for block in blocks)])


@pytest.fixture
def episode(clock: Clock) -> Iterator[DesktopEpisode]:
    made = DesktopEpisode(SimulatedHost(capacity=1), nothing_to_read(), clock=clock)
    yield made
    made.close()


def test_answers_change_the_screen_until_the_verdict(episode: DesktopEpisode, task: Task) -> None:
    first = episode.reset(task, "gui")
    assert first.image.shape == (800, 1280, 3) and not first.done
    typed = episode.step(answer(TYPE))
    assert (typed.image != first.image).any() and typed.response == ""
    last = episode.step(answer(SAVE, NAME, END))
    assert (last.outcome, last.response, episode.reward(), episode.steps) == ("passed", OVER, 1.0, 2)
    assert episode.step(answer(TYPE)).done and episode.steps == 2, "nothing happens behind the end"


@pytest.mark.parametrize("calls", [[END], [TYPE, SAVE, {"action": "type", "text": "b.txt\n"}, END], []])
def test_what_does_not_meet_the_verifier_is_zero(
    episode: DesktopEpisode, task: Task, calls: list[dict[str, Any]]
) -> None:
    episode.reset(task, "gui")
    for call in calls:
        episode.call("computer_use", call)
    assert (episode.reward(), episode.outcome) == (0.0, "failed")


def test_a_policy_that_never_finishes_is_judged_when_asked_and_when_its_steps_are_spent(
    episode: DesktopEpisode, task: Task
) -> None:
    episode.reset(task, "gui")
    for call in (TYPE, SAVE, NAME):
        episode.call("computer_use", call)
    assert episode.outcome is None and episode.reward() == 1.0
    episode.reset(task, "gui")
    seen = [episode.call("computer_use", {"action": "wait", "time": 1}) for _ in range(task.max_steps)]
    assert [one.done for one in seen] == [False] * (task.max_steps - 1) + [True] and episode.reward() == 0.0


def test_time_on_the_desktop_is_a_budget_and_the_trainers_own_is_not(task: Task) -> None:
    now = [0.0]
    episode = DesktopEpisode(SimulatedHost(), nothing_to_read(), clock=lambda: now[0])
    episode.reset(task.model_copy(update={"timeout_s": 5.0}), "gui")
    now[0] += 1000
    assert not episode.step(answer(TYPE)).done, "a batch may take its time to think"
    ticks = itertools.count(2000)
    episode = DesktopEpisode(SimulatedHost(), nothing_to_read(), clock=lambda: float(next(ticks)))
    episode.reset(task.model_copy(update={"timeout_s": 2.0}), "gui")
    assert episode.step(answer(TYPE)).outcome == "failed"


ODD: list[tuple[str, dict[str, Any]]] = [
    ("fly", {}), ("computer_use", {}), ("computer_use", {"action": None}), ("computer_use", {"action": ["type"]}),
    ("computer_use", {"action": "type"}), ("computer_use", {"action": "type", "text": {"a": 1}}),
    ("computer_use", {"action": "left_click", "coordinate": "here"}), ("computer_use", {"action": "left_click", "coordinate": [1e308, -1]}),
    ("computer_use", {"action": "left_click", "coordinate": [float("nan"), 3]}), ("computer_use", {"action": "wait", "time": -1}),
    ("computer_use", {"action": "scroll", "pixels": "up", "coordinate": [1, 2]}), ("computer_use", {"action": "terminate", "status": "reward"}),
    ("shell_exec", {"command": 5}), ("tool_call", {"name": "windows.list", "arguments": {"reward": 1}}), ("tool_call", {"name": 7}),
]  # fmt: skip


def test_odd_calls_are_told_what_is_wrong_and_end_nothing(episode: DesktopEpisode, task: Task) -> None:
    episode.reset(task.model_copy(update={"max_steps": 100}), "mixed")
    for name, arguments in ODD:
        seen = episode.call(name, arguments)
        assert seen.response and not seen.done, (name, arguments)
    assert episode.reward() == 0.0


@pytest.mark.parametrize(
    "words",
    ["", "I am done", answer({"action": "fly"}), answer({"action": "left_click", "coordinate": [5000, 3]}), "<tool_call>{", "<tool_call>[1]</tool_call>"],
)  # fmt: skip
def test_unreadable_answers_are_told_and_cost_a_step(episode: DesktopEpisode, task: Task, words: str) -> None:
    first = episode.reset(task, "gui")
    seen = episode.step(words)
    assert "cannot be carried out" in seen.response and not seen.done and episode.steps == 1
    assert (seen.image == first.image).all()


def test_calls_of_another_mode_are_refused_and_the_shell_answers(episode: DesktopEpisode, task: Task) -> None:
    episode.reset(task, "gui")
    assert "not available in mode gui" in episode.call("shell_exec", {"command": "ls"}).response
    episode.reset(task, "mixed")
    assert "hello" in episode.call("shell_exec", {"command": "echo hello"}).response
    assert "mousepad: Untitled" in episode.call("tool_call", {"name": "windows.list"}).response
    assert "unknown tool" in episode.call("tool_call", {"name": "reward.give"}).response


def test_a_drag_begins_where_the_pointer_was_left(episode: DesktopEpisode, task: Task) -> None:
    episode.reset(task, "gui")
    episode.call("computer_use", {"action": "mouse_move", "coordinate": [300, 200]})
    assert episode.call("computer_use", {"action": "left_click_drag", "coordinate": [400, 300]}).response == ""


class _Faulty(SimulatedHost):
    """Desktops of which one method fails, once the start state is there."""

    def __init__(self, method: str, fault: Exception) -> None:
        super().__init__()
        self.method, self.fault = method, fault
        self.given: list[SimulatedDesktop] = []

    @contextmanager
    def open(self, image: str) -> Iterator[Desktop]:
        with super().open(image) as desktop:
            assert isinstance(desktop, SimulatedDesktop)
            self.given.append(desktop)
            yield desktop

    def fail(self) -> None:
        def broken(*_: Any, **__: Any) -> Receipt:
            raise self.fault

        setattr(self.given[-1], self.method, broken)


@pytest.mark.parametrize(
    ("method", "fault", "outcome"),
    [
        ("act", GuestDied("gone"), "infra"), ("settle", GuestDied("gone"), "infra"), ("act", StateDrift("elsewhere"), "drift"),
        ("read_file", GuestDied("gone"), "infra"), ("read_file", CheckFailed("odd"), "verifier"),
    ],
)  # fmt: skip
def test_faults_end_an_episode_without_a_reward(
    task: Task, clock: Clock, method: str, fault: Exception, outcome: str
) -> None:
    host = _Faulty(method, fault)
    episode = DesktopEpisode(host, nothing_to_read(), clock=clock)
    episode.reset(task, "gui")
    host.fail()
    episode.step(answer(TYPE))
    seen = episode.step(answer(END))
    assert seen.done and (episode.outcome, episode.reward()) == (outcome, None)
    with pytest.raises(GuestDied, match="closed"):
        host.given[-1].screenshot()
    assert not episode.reset(task, "gui").done, "the next episode has a new desktop"


def test_an_error_nobody_foresaw_is_raised_and_never_becomes_reward(task: Task, clock: Clock) -> None:
    host = _Faulty("act", ZeroDivisionError("a bug"))
    episode = DesktopEpisode(host, nothing_to_read(), clock=clock)
    episode.reset(task, "gui")
    host.fail()
    with pytest.raises(ZeroDivisionError):
        episode.step(answer(TYPE))
    assert (episode.outcome, episode.reward()) == ("infra", None)


def test_a_start_state_that_is_not_reached_and_a_verifier_that_cannot_look(task: Task, clock: Clock) -> None:
    episode = DesktopEpisode(SimulatedHost(), nothing_to_read(), clock=clock)
    broken = task.environment.model_copy(update={"setup": (SetupStep(kind="shell.run", text="false"),)})
    assert episode.reset(task.model_copy(update={"environment": broken}), "gui").outcome == "setup"
    assert episode.reward() is None
    blind = task.model_copy(update={"verifier": FileJson(path="~/a.txt", keys=("a",), value="1")})
    episode.reset(blind, "gui")
    for call in (TYPE, SAVE, NAME, END):
        episode.call("computer_use", call)
    assert (episode.outcome, episode.reward()) == ("verifier", None)


def test_a_desktop_that_does_not_end_well_spoils_nothing(task: Task, clock: Clock) -> None:
    class Clinging(SimulatedHost):
        @contextmanager
        def open(self, image: str) -> Iterator[Desktop]:
            with super().open(image) as desktop:
                yield desktop
            raise GuestDied("gone while it was ended")

    episode = DesktopEpisode(Clinging(), nothing_to_read(), clock=clock)
    episode.reset(task, "gui")
    assert episode.step(answer(TYPE, SAVE, NAME, END)).outcome == "passed" and episode.reward() == 1.0
    assert not episode.reset(task, "gui").done


def test_more_episodes_than_desktops_are_an_error(task: Task, clock: Clock) -> None:
    host = SimulatedHost(capacity=1)
    one, two = (DesktopEpisode(host, nothing_to_read(), clock=clock) for _ in range(2))
    one.reset(task, "gui")
    with pytest.raises(HostBusy):
        two.reset(task, "gui")
    assert two.reward() is None
    one.call("computer_use", END)
    assert not two.reset(task, "gui").done, "an episode that is over gives its desktop back"


def test_closing_steps_are_done_before_the_verifier_looks(episode: DesktopEpisode, task: Task) -> None:
    save = (SetupStep(kind="desktop.act", text=CUAAction("keyboard.press", {"keys": ["ctrl", "s"]}).to_json()),)
    name = (SetupStep(kind="desktop.act", text=CUAAction("keyboard.type", {"text": "a.txt\n"}).to_json()),)
    closing = task.model_copy(update={"closing": (*save, *name), "verifier": FileText(path="~/a.txt", text="milk")})
    episode.reset(closing, "gui")
    episode.call("computer_use", TYPE)
    assert episode.call("computer_use", END).outcome == "passed"
    impossible = task.model_copy(update={"closing": (SetupStep(kind="shell.run", text="false"),)})
    episode.reset(impossible, "gui")
    assert episode.call("computer_use", END).outcome == "verifier" and episode.reward() is None
