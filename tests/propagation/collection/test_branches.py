"""Branches side by side: from one attested snapshot, one budget, the shortest verified one is kept, the journal tells the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.ports import Decision, Frame
from cuamaster.propagation.collection.journal import as_infra, fold
from cuamaster.propagation.collection.race import winner
from cuamaster.records.episode import Budget, Episode, Node
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action

Roll = Callable[..., Any]
Make = Callable[..., Task]


def do(kind: str, **args: Any) -> Decision:
    return Decision(actions=(Action(action=CUAAction(kind, args)),))


def typed(text: str) -> Decision:
    return do("keyboard.type", text=text)


NEW, SAVE, DONE = (
    do("keyboard.press", keys=["ctrl", "n"]),
    do("keyboard.press", keys=["ctrl", "s"]),
    do("finish", status="success"),
)
RIGHT = (NEW, typed("alpha"), SAVE, DONE)
LONG = (NEW, NEW, NEW, typed("alpha"), SAVE, DONE)
WRONG = (NEW, typed("beta"), SAVE, DONE)
FAIL = (typed("x"), DONE)


class Script:
    """Plays decisions in order; waits at `gate` before the first one."""

    name, mode = "script", "gui"

    def __init__(self, *decisions: Decision, gate: threading.Event | None = None) -> None:
        self.decisions, self.position, self.gate = decisions, 0, gate

    def begin(self, task: Task) -> None:
        self.position = 0

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
        if self.gate is not None:
            assert self.gate.wait(20)
        self.position += 1
        return self.decisions[min(self.position, len(self.decisions)) - 1]

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        pass


def race(roll: Roll, task: Task, first: Sequence[Decision], *others: Script, **budget: Any) -> Episode:
    """FAIL, then `first` in branch 0 and the others on forks."""
    limits = Budget(branches=len(others) + 1, max_retries=budget.pop("max_retries", 8), **budget)
    episode = roll(task, Script(*FAIL, *first), budget=limits, rival=lambda number: others[number - 1])
    assert isinstance(episode, Episode)
    return episode


def texts(nodes: Sequence[Node]) -> list[str]:
    return [item.action.args.get("text", "") for node in nodes for item in node.actions if "text" in item.action.args]


def same_story(episode: Episode, journal: Any) -> None:
    told = fold(event for event in journal.events() if event["event"] != "end")[episode.id]
    assert tuple(told.nodes) == episode.nodes
    assert tuple(told.divergences) == episode.divergences
    died = any(branch.outcome == "infra" for branch in episode.branches)
    assert (told.pending is not None) == died, "what a dead desktop was told may or may not have happened"
    assert as_infra(told, "killed").nodes == episode.nodes


def test_the_verified_branch_is_kept_and_the_others_are_dropped(roll: Roll, make_task: Make, journal: Any) -> None:
    episode = race(roll, make_task(), WRONG, Script(*WRONG), Script(*RIGHT), max_retries=1)
    assert (episode.outcome, episode.first_attempt_passed, episode.rollbacks) == ("passed", False, 1)
    assert texts(episode.path()) == ["alpha"]
    assert [(branch.number, branch.outcome, branch.kept) for branch in episode.branches] == [
        (0, "failed", False), (1, "failed", False), (2, "passed", True),
    ]  # fmt: skip
    assert {branch.snapshot for branch in episode.branches} == {"e1-s0"}
    indices = [node.index for node in episode.nodes]
    assert indices == sorted(set(indices)), "every step has a number of its own"
    parents = [node.parent for node in episode.path()]
    assert parents == [-1, *(node.index for node in episode.path()[:-1])], (
        "the kept path is one branch from the snapshot"
    )
    assert episode.final is not None and episode.verdict is not None and episode.verdict.status == "passed"
    same_story(episode, journal)


def test_of_two_verified_branches_the_shorter_one_is_kept(roll: Roll, make_task: Make, journal: Any) -> None:
    episode = race(roll, make_task(), LONG, Script(*RIGHT))
    assert episode.outcome == "passed"
    assert len(episode.path()) == 4
    kept = next(branch for branch in episode.branches if branch.kept)
    assert (kept.number, kept.path) == (1, tuple(node.index for node in episode.path()))
    assert next(branch for branch in episode.branches if not branch.kept).outcome in ("passed", None)
    same_story(episode, journal)


def test_a_branch_that_cannot_win_any_more_is_given_up(roll: Roll, make_task: Make, journal: Any) -> None:
    passed = threading.Event()
    late = Script(*[NEW] * 40, gate=passed)

    class Telling(Script):
        def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
            decision = super().decide(frame, history, hint)
            if decision is DONE and self.position > len(FAIL):
                threading.Timer(0.2, passed.set).start()
            return decision

    limits = Budget(branches=2, max_steps=60)
    episode = roll(make_task(), Telling(*FAIL, *RIGHT), budget=limits, rival=lambda _: late)
    assert (episode.outcome, texts(episode.path())) == ("passed", ["alpha"])
    beaten = episode.branches[1]
    assert (beaten.outcome, beaten.kept) == (None, False)
    assert len(beaten.path) <= 4, "as many steps as the verified path, not forty"
    same_story(episode, journal)


def test_branches_retry_from_their_own_snapshots_within_one_budget(
    roll: Roll, make_task: Make, journal: Any, editor: Any
) -> None:
    episode = race(roll, make_task(), [*FAIL] * 9, Script(*WRONG, *WRONG, *RIGHT), max_retries=4)
    assert episode.rollbacks <= 4
    assert len(episode.divergences) == episode.rollbacks
    same_story(episode, journal)
    assert editor.saved == {} and editor.twins[0].saved == {}, "no snapshot is left behind"


def test_steps_are_counted_over_all_branches(roll: Roll, make_task: Make) -> None:
    episode = race(roll, make_task(), [NEW], Script(NEW), Script(NEW), max_steps=12)
    assert episode.outcome == "failed" and "12 steps" in episode.message
    assert len(episode.nodes) <= 12 + 2, "at most one more for each branch in hand"


def test_without_room_for_a_fork_retries_come_in_turn(roll: Roll, make_task: Make, journal: Any, editor: Any) -> None:
    editor.forks = 0
    episode = race(roll, make_task(), [*WRONG, *RIGHT], Script(*RIGHT))
    assert (episode.outcome, episode.branches, episode.rollbacks) == ("passed", (), 2)
    same_story(episode, journal)


def test_a_branch_whose_desktop_dies_does_not_end_the_others(roll: Roll, make_task: Make, editor: Any) -> None:
    editor.twins_die_at = 1
    episode = race(roll, make_task(), RIGHT, Script(*RIGHT))
    assert episode.outcome == "passed"
    assert [branch.outcome for branch in episode.branches] == ["passed", "infra"]
    assert "GuestDied" in episode.branches[1].message


def test_the_first_branch_may_die_while_another_is_verified(
    roll: Roll, make_task: Make, journal: Any, editor: Any
) -> None:
    editor.dies_at = 2
    episode = race(roll, make_task(), RIGHT, Script(*RIGHT))
    assert (episode.outcome, [branch.outcome for branch in episode.branches]) == ("passed", ["infra", "passed"])
    assert texts(episode.path()) == ["alpha"]
    same_story(episode, journal)


def test_one_branch_is_as_before(roll: Roll, make_task: Make, journal: Any) -> None:
    episode = roll(make_task(), Script(*FAIL, *RIGHT), rival=lambda _: pytest.fail("no other branch was asked for"))
    assert (episode.outcome, episode.branches) == ("passed", ())
    assert not any("branch" in event for event in journal.events())


@pytest.mark.parametrize(
    ("ended", "kept"),
    [
        ([("failed", 9), ("passed", 7), ("passed", 5)], 2),
        ([("passed", 5), ("passed", 5)], 0),
        ([("infra", 2), ("failed", 9)], 1),
        ([("drift", 2), ("infra", 9)], 0),
        ([("passed", 9), (None, 3)], 0),
    ],
)
def test_who_is_kept(ended: list[tuple[Any, int]], kept: int) -> None:
    assert winner(ended) == kept
