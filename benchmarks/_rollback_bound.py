"""What an oracle would execute under the same faults: the lower bound that stands beside the measured executions."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from _rollback_cells import ATTEMPTS

from cuamaster.adapters.policies.faults import STRAY
from cuamaster.adapters.policies.faulty import FaultyPolicy
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.ports import Decision, Frame
from cuamaster.propagation.collection.progress import Course
from cuamaster.records.primitive import Mode
from cuamaster.records.task import Task
from cuamaster.records.templates import quote
from cuamaster.records.trajectory import Target
from cuamaster.vision.grounding import Grounded

_BLANK = Frame(image=np.zeros((1, 1, 3), np.uint8), t=0.0)


class _Sighted(ReplayPolicy):
    """The replay policy without a screen: every target has a place of its own."""

    def __init__(self, mode: Mode) -> None:
        super().__init__(KnownReader(lambda _: ()), mode)

    def _find(self, target: Target, frame: Frame) -> Grounded | None:  # noqa: ARG002  there is no screen
        place = zlib.crc32(repr(target).encode())
        return Grounded(float(place % 1000), float(place // 1000 % 1000), None, 1.0)


def least(task: Task, name: str, *, rate: float, seed: int, mode: Mode, at_once: bool) -> int:
    """Executions until the task is done, or the budget is spent, for one who is never in doubt and keeps every snapshot.

    The faults are those of `_rollback_run.run` with the same arguments. A fault is known once its use is over; a late one only
    when the use that needs the harmed file has failed, or (`at_once`) like the others. Then the faulty use is done again, and
    what was built on it. Every fault counts as harmful.
    """
    policy = FaultyPolicy(
        _Sighted(mode), seed=seed, rate=rate, episode_id=name,
        manners=("at-once", "delayed", "persistent"), retries=True, at_least_one=False,
    )  # fmt: skip
    policy.begin(task)
    course = Course(task)
    states: list[Mapping[str, Any]] = [policy.state()]
    hidden: list[tuple[int, str]] = []
    executed = 0
    while len(states) <= task.k and executed < ATTEMPTS * task.k:
        executed += 1
        use = len(states) - 1
        faults, harmed = _execution(policy, course)
        shown = [origin for origin, path in hidden if path in course.paths[use]]
        hidden += [(use, path) for path in harmed]
        if faults or (harmed and at_once):
            shown.append(use)
        if shown:
            del states[min(shown) + 1 :]
            hidden = [(origin, path) for origin, path in hidden if origin < min(shown)]
            policy.restore(states[-1])
        else:
            states.append(policy.state())
    return executed


def _execution(policy: FaultyPolicy, course: Course) -> tuple[int, list[str]]:
    """One execution of the next use: how many faults harmed it, and which paths were harmed for a later one."""
    faults, harmed = 0, []
    while True:
        decision: Decision = policy.decide(_BLANK, (), "")
        strays = [item.action.args["command"] for item in decision.actions if item.evidence == STRAY]
        harmed += [path for line in strays for path in course.files if line.endswith(f"> {quote(path)}")]
        faults += decision.injected and not strays
        if decision.done_use:
            return faults, harmed
