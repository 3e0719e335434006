"""What the branches of one episode share while they run side by side, and which of them is kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from cuamaster.records.episode import Boundary, Branch, Budget, Node
from cuamaster.records.verdict import Outcome


class Beaten(Exception):
    """Not an error of ours: another branch was verified with no more steps than this one has taken."""


class Race:
    """Steps, retries and executions are counted over all branches, so that several cost no more than the budget of one."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.steps = 0
        self.retries = 0
        self.executions = 0
        self._shortest: int | None = None
        self.lock = threading.Lock()

    def step(self) -> int:
        """The next node's index."""
        with self.lock:
            self.steps += 1
            return self.steps - 1

    def retry(self) -> bool:
        """Whether one more rollback is in the budget; it is spent then."""
        with self.lock:
            if self.retries >= self.budget.max_retries:
                return False
            self.retries += 1
            return True

    def execute(self) -> bool:
        """Whether one more execution of a primitive is in the budget; it is spent then."""
        with self.lock:
            if 0 < self.budget.max_executions <= self.executions:
                return False
            self.executions += 1
            return True

    def verified(self, length: int) -> None:
        """A branch passed with a path of `length` steps."""
        with self.lock:
            self._shortest = length if self._shortest is None else min(self._shortest, length)

    def check(self, length: int) -> None:
        """Raises Beaten when a path that has `length` steps already cannot become the shortest any more."""
        if self._shortest is not None and length >= self._shortest:
            raise Beaten


class Run(Protocol):
    """One branch, ready to go on from the boundary that it shares with the others."""

    @property
    def number(self) -> int:
        """Of the branch; 0 is the one that the others were forked from."""

    def path(self) -> Sequence[Node]:
        """The steps that were not dropped."""

    def to_its_end(self) -> tuple[Outcome | None, str]:
        """The outcome, None when it was beaten, and a message."""


def run_all(runs: Sequence[Run], start: Boundary) -> tuple[int, tuple[Branch, ...]]:
    """Run branches side by side from `start`, one thread each; which of them is kept, and how each ended."""
    with ThreadPoolExecutor(len(runs), thread_name_prefix="branch") as threads:
        ended = list(threads.map(lambda run: run.to_its_end(), runs))
    kept = winner([(outcome, len(run.path())) for run, (outcome, _) in zip(runs, ended, strict=True)])
    return kept, tuple(
        Branch(
            number=run.number, snapshot=start.label, node=start.node, outcome=outcome, message=message,
            path=tuple(node.index for node in run.path() if node.index > start.node), kept=run is runs[kept],
        )
        for run, (outcome, message) in zip(runs, ended, strict=True)
    )  # fmt: skip


def winner(ended: Sequence[tuple[Outcome | None, int]]) -> int:
    """Which branch is kept, by (outcome, steps of its path): verified with the fewest steps, else one that failed honestly."""
    passed = [number for number, (outcome, _) in enumerate(ended) if outcome == "passed"]
    if passed:
        return min(passed, key=lambda number: ended[number][1])
    return next((number for number, (outcome, _) in enumerate(ended) if outcome == "failed"), 0)
