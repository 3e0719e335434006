"""Rollouts: divergence, rollback and success; typed outcomes; budgets; what is kept and what is dropped."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.policies.faulty import FaultyPolicy
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.errors import EndpointUnavailable, GuestDied, InvalidInput, ModelAnswerError
from cuamaster.ports import Decision, Frame
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.journal import finished, fold, unfinished
from cuamaster.propagation.collection.progress import executions
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.records.condition import CommandOutput, EpisodeFinish, WindowTitle
from cuamaster.records.episode import Boundary, Budget, Node
from cuamaster.records.primitive import SetupStep
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action, Lineage
from cuamaster.records.verdict import Divergence, Verdict

Roll = Callable[..., Any]
Make = Callable[..., Task]


class Scripted:
    """Plays given decisions in order; tells nothing about the plan."""

    name = "scripted"
    mode = "gui"

    def __init__(self, *decisions: Decision | Exception) -> None:
        self.decisions, self.position, self.hints = decisions, 0, list[str]()

    def begin(self, task: Task) -> None:
        self.position = 0

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
        self.hints.append(hint)
        decision = self.decisions[min(self.position, len(self.decisions) - 1)]
        self.position += 1
        if isinstance(decision, Exception):
            raise decision
        return decision

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        pass


def do(kind: str, **args: Any) -> Decision:
    return Decision(actions=(Action(action=CUAAction(kind, args)),))


NEW, SAVE, DONE = (
    do("keyboard.press", keys=["ctrl", "n"]),
    do("keyboard.press", keys=["ctrl", "s"]),
    do("finish", status="success"),
)


def test_an_honest_oracle_passes_without_rollback(roll: Roll, make_task: Make, editor: Any) -> None:
    episode = roll(make_task())
    assert (episode.outcome, episode.rollbacks, episode.first_attempt_passed) == ("passed", 0, True)
    assert [node.use for node in episode.nodes] == [0, 0, 1, None]
    assert [bool(node.snapshot_after) for node in episode.nodes] == [False, True, True, False]
    assert episode.final is not None
    assert editor.saved == {}, "no snapshot is left behind"
    assert len(set(editor.performed)) == len(editor.performed) == 3


@pytest.mark.parametrize("seed", range(12))
def test_an_injected_fault_is_rolled_back_and_the_task_passes(
    roll: Roll, make_task: Make, reader: Any, seed: int
) -> None:
    episode = roll(make_task(), FaultyPolicy(ReplayPolicy(reader), seed=seed, rate=1.0, episode_id="e1"))
    assert episode.outcome == "passed"
    assert episode.injected_faults >= 1
    assert episode.rollbacks >= 1
    assert episode.first_attempt_passed is False
    assert all(node.dropped for node in episode.nodes if node.injected)
    assert [node.parent for node in episode.path()][1:] == [node.index for node in episode.path()][:-1], (
        "the kept path is one branch"
    )


def test_a_late_failure_is_located_in_the_use_that_was_to_blame(
    roll: Roll, make_task: Make, reader: Any, editor: Any
) -> None:
    class Typo(ReplayPolicy):
        """Writes a wrong word the first time; the vague effect does not notice."""

        wrong = True

        def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
            decision = super().decide(frame, history, hint)
            if self.wrong and decision.actions[0].action.type == "keyboard.type":
                self.wrong = False
                return dataclasses.replace(
                    decision, actions=(Action(action=CUAAction("keyboard.type", {"text": "alpah"})),)
                )
            return decision

    episode = roll(make_task(weak=True), Typo(reader))
    assert episode.outcome == "passed"
    assert editor.files["~/out.txt"] == b"alpha"
    assert episode.first_attempt_passed is False
    last = episode.divergences[-1]
    assert last.snapshot == "e1-s0", "the word was wrong before the first boundary"
    assert all("alpha" not in divergence.feedback for divergence in episode.divergences)


def test_the_hint_reaches_the_policy_and_is_kept_out_of_later_observations(roll: Roll, make_task: Make) -> None:
    policy = Scripted(
        NEW, do("keyboard.type", text="wrong"), SAVE, DONE, NEW, do("keyboard.type", text="alpha"), SAVE, DONE
    )
    episode = roll(make_task(), policy)
    assert episode.outcome == "passed"
    assert episode.rollbacks == 1
    assert policy.hints[:4] == ["", "", "", ""]
    assert policy.hints[4] == episode.divergences[0].feedback != ""
    assert [node.dropped for node in episode.nodes] == [True] * 4 + [False] * 4


def test_the_retry_budget_ends_in_an_honest_failure(roll: Roll, make_task: Make) -> None:
    episode = roll(make_task(), Scripted(do("keyboard.type", text="x"), DONE), budget=Budget(max_retries=2))
    assert (episode.outcome, episode.rollbacks, episode.first_attempt_passed) == ("failed", 2, False)
    assert episode.verdict is not None and episode.verdict.status == "failed"


def test_budgets_of_steps_and_seconds(roll: Roll, make_task: Make) -> None:
    steps = roll(make_task(), Scripted(NEW), budget=Budget(max_steps=5))
    assert (steps.outcome, len(steps.nodes)) == ("failed", 5)
    assert "5 steps" in steps.message
    seconds = roll(make_task(), Scripted(NEW), budget=Budget(max_seconds=20), episode_id="e2")
    assert seconds.outcome == "failed"
    assert "20 seconds" in seconds.message


def test_an_attempt_without_progress_is_rolled_back(roll: Roll, make_task: Make) -> None:
    episode = roll(make_task(), Scripted(NEW), budget=Budget(max_steps=200, max_retries=1))
    assert (episode.outcome, episode.rollbacks) == ("failed", 1)
    assert "no progress" in episode.message


@pytest.mark.parametrize(
    ("error", "outcome"), [(EndpointUnavailable("down"), "infra"), (ModelAnswerError("nonsense twice"), "failed")]
)
def test_errors_of_the_policy_are_typed(roll: Roll, make_task: Make, error: Exception, outcome: str) -> None:
    assert roll(make_task(), Scripted(error)).outcome == outcome


def test_a_dead_guest_is_infra_and_a_drifted_rollback_is_drift(roll: Roll, make_task: Make, editor: Any) -> None:
    editor.dies_at = 1
    died = roll(make_task())
    assert (died.outcome, died.first_attempt_passed) == ("infra", None)
    assert "GuestDied" in died.message
    editor.dies_at, editor.drifts = None, True
    drifted = roll(make_task(), Scripted(DONE), episode_id="e2")
    assert drifted.outcome == "drift"


def test_nothing_is_held_down_at_the_start_and_at_the_end(roll: Roll, make_task: Make, editor: Any) -> None:
    assert roll(make_task()).outcome == "passed"
    assert editor.released == 2


def test_a_desktop_that_fails_after_the_end_does_not_change_what_was_found(
    roll: Roll, make_task: Make, editor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(label: str) -> None:
        raise GuestDied(f"the machine is gone, {label} with it")

    monkeypatch.setattr(editor, "drop_snapshot", gone)
    assert roll(make_task()).outcome == "passed"


def test_receipts_say_whether_an_effect_was_seen(roll: Roll, make_task: Make) -> None:
    idle = do("mouse.move", x=1, y=1)
    episode = roll(make_task(), Scripted(NEW, do("keyboard.type", text="alpha"), SAVE, idle, DONE))
    statuses = [receipt.status for node in episode.path() for receipt in node.receipts]
    assert episode.outcome == "passed"
    assert statuses == ["sent", "effect_seen", "effect_seen", "sent", "sent"], "ctrl+n empties what is empty already"


def test_a_start_state_that_cannot_be_reached_is_setup(roll: Roll, make_task: Make) -> None:
    task = make_task()
    missing = task.environment.model_copy(update={"capabilities": ("app:spreadsheet",)})
    episode = roll(task.model_copy(update={"environment": missing}))
    assert episode.outcome == "setup"
    assert "app:spreadsheet" in episode.message


def test_a_verifier_that_cannot_be_evaluated_is_neither_pass_nor_fail(roll: Roll, make_task: Make) -> None:
    task = make_task().model_copy(update={"verifier": CommandOutput(command="hang", text="x"), "plan": ()})
    episode = roll(task, Scripted(DONE))
    assert episode.outcome == "verifier"
    assert episode.verdict is not None and episode.verdict.status == "errored"


def test_actions_outside_the_mode_are_rejected_and_never_performed(roll: Roll, make_task: Make, editor: Any) -> None:
    episode = roll(
        make_task(), Scripted(do("shell.exec", command="echo alpha > out.txt"), DONE), budget=Budget(max_retries=0)
    )
    assert episode.nodes[0].receipts[0].status == "rejected"
    assert "mode gui" in episode.nodes[0].receipts[0].response
    assert editor.performed == []


def test_a_plan_without_a_procedure_for_the_mode_is_the_callers_mistake(
    roll: Roll, make_task: Make, reader: Any, journal: Any
) -> None:
    with pytest.raises(InvalidInput, match="no procedure for mode cli"):
        roll(make_task(), ReplayPolicy(reader, "cli"))
    assert journal.events() == [], "nothing was begun"


def test_the_journal_tells_the_same_story(roll: Roll, make_task: Make, reader: Any, journal: Any) -> None:
    episode = roll(make_task(), FaultyPolicy(ReplayPolicy(reader), seed=3, rate=1.0, episode_id="e1"))
    assert finished(journal) == [episode]
    assert unfinished(journal) == []
    told = fold(event for event in journal.events() if event["event"] != "end")["e1"]
    assert tuple(told.nodes) == episode.nodes
    assert tuple(told.divergences) == episode.divergences
    assert told.rollbacks == episode.rollbacks


def test_effects_already_true_let_a_silent_policy_advance(roll: Roll, make_task: Make) -> None:
    task = make_task()
    assert any(isinstance(effect, WindowTitle) for effect in task.plan[0].primitive.effects)
    episode = roll(task, Scripted(NEW, do("keyboard.type", text="alpha"), SAVE, DONE))
    assert [bool(node.snapshot_after) for node in episode.nodes] == [False, True, True, False]


CLOSE = SetupStep(kind="desktop.act", text='{"type": "keyboard.press", "args": {"keys": ["ctrl", "s"]}}')


def test_closing_steps_bring_the_screen_to_disk_before_the_verifier_looks(
    roll: Roll, make_task: Make, editor: Any
) -> None:
    task = make_task().model_copy(update={"plan": (), "closing": (CLOSE,)})
    typed = do("keyboard.type", text="alpha")
    assert roll(task, Scripted(typed, DONE)).outcome == "passed"
    assert editor.files == {"~/out.txt": b"alpha"}


def test_what_closing_steps_did_is_undone_with_the_attempt(roll: Roll, make_task: Make, editor: Any) -> None:
    task = make_task().model_copy(update={"plan": (), "closing": (CLOSE,)})
    wrong, right = do("keyboard.type", text="beta"), do("keyboard.type", text="alpha")
    episode = roll(task, Scripted(wrong, DONE, right, DONE))
    assert (episode.outcome, episode.rollbacks, editor.files) == ("passed", 1, {"~/out.txt": b"alpha"})


def test_closing_steps_that_fail_are_a_fault_of_the_verifier(roll: Roll, make_task: Make) -> None:
    task = make_task().model_copy(update={"closing": (SetupStep(kind="shell.run", text="save all"),)})
    episode = roll(task, Scripted(DONE))
    assert episode.outcome == "verifier" and "save all" in episode.message


@pytest.mark.parametrize(
    ("status", "outcome"), [("infeasible", "passed"), ("success", "failed"), ("failure", "failed")]
)
def test_a_task_may_ask_to_be_ended_as_infeasible(roll: Roll, make_task: Make, status: str, outcome: str) -> None:
    task = make_task().model_copy(update={"plan": (), "verifier": EpisodeFinish(status="infeasible")})
    episode = roll(task, Scripted(do("finish", status=status)), budget=Budget(max_retries=0))
    assert episode.outcome == outcome


def test_tasks_without_closing_steps_keep_the_id_they_were_released_under(make_task: Make) -> None:
    task = make_task()
    assert "closing" not in task.model_dump(mode="json")
    assert task.model_copy(update={"closing": (CLOSE,)}).id != task.id
    assert "source" not in Lineage(video_id="v").model_dump(mode="json")


def test_an_honest_run_needs_as_many_executions_as_the_plan_has_uses(roll: Roll, make_task: Make) -> None:
    episode = roll(make_task(), budget=Budget(max_executions=2))
    assert (episode.outcome, executions(episode.nodes)) == ("passed", 2)


def test_a_budget_of_executions_counts_abandoned_ones_and_is_never_overdrawn(
    roll: Roll, make_task: Make, reader: Any
) -> None:
    erring = FaultyPolicy(ReplayPolicy(reader), seed=3, rate=1.0, episode_id="e1", retries=True)
    episode = roll(make_task(), erring, budget=Budget(max_executions=4, max_retries=99))
    assert (episode.outcome, executions(episode.nodes)) == ("failed", 4)
    assert "4 executions" in episode.message


def test_an_unwatched_rollout_notices_at_the_end_and_starts_again(
    make_task: Make, editor: Any, reader: Any, journal: Any, tmp_path: Path
) -> None:
    policy = FaultyPolicy(ReplayPolicy(reader), seed=1, rate=0.01, episode_id="e1")
    episode = rollout(
        make_task(), policy, editor, reader=reader, journal=journal, detector=RulesDetector(reader),
        store=LocalStore(tmp_path / "blobs"), budget=Budget(), clock=count(0.0, 4.0).__next__, episode_id="e1", watched=False,
    )  # fmt: skip
    assert (episode.outcome, episode.rollbacks) == ("passed", 1)
    assert [node.dropped for node in episode.nodes].count(False) == len(episode.nodes) - episode.divergences[0].step - 3
    labels = [event["boundary"]["label"] for event in journal.events() if event["event"] == "boundary"]
    assert labels == ["e1-s0"], "the start is the only place to go back to"


class Talkative:
    """A detector that tells what should have been typed."""

    name = "talkative"

    def locate(
        self, task: Task, path: Sequence[Node], desktop: Any, boundaries: Sequence[Boundary], verdict: Verdict,
        *, history: Sequence[Boundary] = (),
    ) -> Divergence:  # fmt: skip
        return Divergence(
            step=0, snapshot=boundaries[0].label, feedback="Type ALPHA and press Ctrl-S.", detector=self.name
        )


def test_a_hint_that_tells_the_answer_is_replaced_and_counted(
    make_task: Make, editor: Any, reader: Any, journal: Any, tmp_path: Path
) -> None:
    episode = rollout(
        make_task(), FaultyPolicy(ReplayPolicy(reader), seed=1, rate=0.01, episode_id="e1"), editor, reader=reader,
        journal=journal, detector=Talkative(), store=LocalStore(tmp_path / "blobs"), budget=Budget(), clock=count(0.0, 4.0).__next__,
        episode_id="e1",
    )  # fmt: skip
    assert episode.outcome == "passed"
    leaks = [event for event in journal.events() if event["event"] == "leak"]
    assert [event["detector"] for event in leaks] == ["talkative"] * episode.rollbacks
    for divergence in episode.divergences:
        assert "alpha" not in divergence.feedback.lower() and "ctrl" not in divergence.feedback.lower()
