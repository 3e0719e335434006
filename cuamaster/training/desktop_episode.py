"""One episode of reinforcement learning on a desktop: reset to a task, answer after answer in a dialect, reward by the verifier.

Reward is the verifier's verdict and nothing else: 1.0 passed, 0.0 failed. Where the machinery failed (the outcomes infra,
setup, verifier, drift) there is none: `reward` gives None, and the trajectory must not be learnt from.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cuamaster.dialects.answers import Call
from cuamaster.dialects.coordinates import Point, Screen
from cuamaster.dialects.lowering import cursor_after
from cuamaster.dialects.registry import dialect
from cuamaster.errors import CheckFailed, DesktopFault, HostBusy, InvalidAction
from cuamaster.ports import Desktop, DesktopHost, Image, ScreenReader
from cuamaster.propagation.collection.acting import (
    QUIET_S,
    SETTLE_S,
    await_reaction,
    perform,
    pointers_of,
    shows,
)
from cuamaster.propagation.collection.outcomes import ENDINGS, outcome_of
from cuamaster.propagation.collection.setup import establish
from cuamaster.propagation.collection.watching import Watch
from cuamaster.records.episode import answer_to
from cuamaster.records.primitive import Mode
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action
from cuamaster.records.verdict import Outcome

log = logging.getLogger(__name__)
REWARDS: Mapping[Outcome, float] = {"passed": 1.0, "failed": 0.0}
"""Only these outcomes say anything about the policy."""
OVER = "The episode is over."


@dataclass(frozen=True)
class Seen:
    """The screen (height, width, 3) RGB, what shell or tools answered ('' for nothing), and how the episode ended, if it did."""

    image: Image
    response: str = ""
    outcome: Outcome | None = None

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self.outcome is not None


class DesktopEpisode:
    """Holds one desktop of `host` from a `reset` to the end of its episode; used for one episode after the other."""

    def __init__(
        self,
        host: DesktopHost,
        reader: ScreenReader,
        *,
        speaks: str = "qwen3-vl",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`speaks`: the model's dialect by its name in the registry; `clock` gives seconds. Raises UnknownName.

        Only time on the desktop counts against a task's `timeout_s`: how long a trainer takes between two answers, with a
        whole batch to think for, is no fault of the policy.
        """
        self._host, self._reader, self._clock = host, reader, clock
        self._dialect = dialect(speaks)
        self._open = contextlib.ExitStack()
        self._desktop: Desktop | None = None
        self._outcome: Outcome | None = None
        self._image: Image = np.zeros((1, 1, 3), dtype=np.uint8)
        self._cursor: Point | None = None
        self._episodes = self._steps = 0
        self._seconds = 0.0

    @property
    def outcome(self) -> Outcome | None:
        """How the episode ended; None while it goes on."""
        return self._outcome

    @property
    def steps(self) -> int:
        """Answers so far, unreadable ones included."""
        return self._steps

    def reset(self, task: Task, mode: Mode) -> Seen:
        """A fresh desktop in the task's start state. A fault of the machinery ends the episode at once, without a reward.

        Raises HostBusy when the host has no desktop left: more episodes are asked for at once than it can hold.
        """
        self.close()
        self._task, self._mode, self._episodes = task, mode, self._episodes + 1
        self._steps, self._seconds, self._cursor = 0, 0.0, None
        width, height = task.environment.screen
        self._image = np.zeros((height, width, 3), dtype=np.uint8)
        return self._guarded(self._begin)

    def step(self, answer: str) -> Seen:
        """A model's whole answer; what cannot be read is answered with what is wrong, and counts as a step."""
        return self._turn(lambda: self._dialect.found(answer).calls)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Seen:
        """One function call, as a trainer hands it over that has read the answer itself."""
        return self._turn(lambda: (Call(name, dict(arguments)),))

    def reward(self) -> float | None:
        """1.0 or 0.0 by the verifier, asked now if the policy did not finish; None when nothing is known of the policy."""
        if self._outcome is None and self._desktop is not None:
            self._guarded(lambda: self._judge(""))
        return None if self._outcome is None else REWARDS.get(self._outcome)

    def close(self) -> None:
        """Gives the desktop back; safe to call twice. That it could not be ended well is logged: the episode is over."""
        self._desktop = None
        try:
            self._open.close()
        except DesktopFault as exc:
            log.warning("a desktop was not given back well: %s", exc)

    def _begin(self) -> Seen:
        self._desktop = self._open.enter_context(self._host.open(self._task.environment.image))
        self._watch = Watch(self._task, self._desktop, self._reader, self._clock)
        establish(self._task.environment, self._desktop, self._reader, clock=self._clock)
        return self._look(self._desktop)

    def _turn(self, calls: Callable[[], Sequence[Call]]) -> Seen:
        desktop = self._desktop
        if self._outcome is not None or desktop is None:
            return Seen(self._image, OVER, self._outcome or "infra")
        return self._guarded(lambda: self._taken(calls, desktop))

    def _taken(self, calls: Callable[[], Sequence[Call]], desktop: Desktop) -> Seen:
        self._steps += 1
        begun = self._clock()
        height, width = self._image.shape[:2]
        try:
            actions = self._dialect.decode_calls(calls(), Screen(width, height, self._cursor))
        except InvalidAction as exc:
            return self._after(f"That answer cannot be carried out: {exc}", desktop, begun)
        before, earlier = self._image, [self._cursor] if self._cursor else []
        batch = [Action(action=action, evidence="model") for action in actions]
        ids = [f"learn-{self._episodes}-{self._steps}-{number}" for number in range(len(batch))]
        tried, receipts = perform(batch, ids, mode=self._mode, desktop=desktop, reader=self._reader, clock=self._clock)
        if shows(tried):
            await_reaction(before, desktop, self._clock, [*earlier, *pointers_of(tried)])
        for item in tried:
            self._cursor = cursor_after(item.action, self._cursor)
        response = answer_to(tried, receipts)
        ended = next((item.action.args["status"] for item in tried if item.action.type == "finish"), "")
        if ended:
            self._look(desktop)
            return self._judge(ended)
        return self._after(response, desktop, begun)

    def _after(self, response: str, desktop: Desktop, begun: float) -> Seen:
        """The screen after a step, or the end when the task's budget is spent."""
        seen = self._look(desktop)
        self._seconds += self._clock() - begun
        spent = self._steps >= self._task.max_steps or self._seconds >= self._task.timeout_s
        return self._judge("") if spent else Seen(seen.image, response)

    def _look(self, desktop: Desktop) -> Seen:
        self._image = desktop.settle(timeout=SETTLE_S, quiet=QUIET_S).image
        return Seen(self._image)

    def _judge(self, ended: str) -> Seen:
        verdict = self._watch.verify(ended)
        if verdict.status == "errored":
            raise CheckFailed(f"the verifier could not be evaluated: {verdict.message}")
        return Seen(self._image, OVER, verdict.status)

    def _guarded(self, work: Callable[[], Seen]) -> Seen:
        """What `work` gives, or the end that a fault makes of it.

        An error of any other kind is raised, and leaves the episode without a reward all the same: trainers take whatever a
        tool raises for the model's own fault, go on, and ask for the reward later.
        """
        self._outcome = "infra"
        try:
            seen = work()
        except HostBusy:
            raise
        except ENDINGS as exc:
            outcome, message = outcome_of(exc)
            log.warning("%s (%.80s): %s", outcome, self._task.instruction, message)
            seen = Seen(self._image, OVER, outcome)
        self._outcome = seen.outcome
        if seen.done:
            self.close()  # a guest is dear: it is given back before the rest of the batch is through
        return seen
