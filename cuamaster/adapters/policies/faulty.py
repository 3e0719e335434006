"""Wraps a policy and makes it err on purpose, reproducibly, so that detection and rollback are exercised for real."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from cuamaster.adapters.policies.faults import fragile, spoil, stray
from cuamaster.ports import Decision, Frame, Policy
from cuamaster.records.episode import Node
from cuamaster.records.primitive import Mode
from cuamaster.records.task import PrimitiveUse, Task

Manner = Literal["at-once", "delayed", "persistent"]
"""When a fault shows: with its own use; with a later use that needs what was harmed; again and again until the way is changed."""
Way = tuple[tuple[str, float | None, float | None], ...]


class FaultyPolicy:
    """Injects at most one fault into each attempt at a plan use; a pure function of (seed, episode, use, attempt).

    Every decision that carries a fault says so in `injected`. A fault may turn out harmless (a click beside a field that has
    the focus anyway); then its step stays on the kept path, still marked. A persistent fault comes back whenever its use is
    tried by the same way, that is with the same kinds of action on the same places. A delayed one needs a mode with a shell, and
    a later use that consumes a file; where there is none the fault shows at once.
    """

    def __init__(
        self,
        inner: Policy,
        *,
        seed: int,
        rate: float,
        episode_id: str = "",
        manners: Sequence[Manner] = ("at-once",),
        retries: bool = False,
        at_least_one: bool = True,
    ) -> None:
        """`rate`: share of plan uses, 0-1, in which the policy errs, of first attempts only or (`retries`) of every one.

        `manners`: drawn from evenly; `at_least_one`: above rate 0 every episode has a fault.
        """
        self.name = f"{inner.name}+faults"
        self.mode: Mode = inner.mode
        self._inner, self._seed, self._rate, self._episode = inner, seed, rate, episode_id
        self._manners, self._retries, self._at_least_one = tuple(manners), retries, at_least_one
        self._plan: tuple[PrimitiveUse, ...] = ()
        self._starts: Counter[int] = Counter()
        self._use: int | None = None
        self._rng = random.Random()
        self._armed: Manner | None = None
        self._way: Way = ()
        self._lasting: dict[int, Way] = {}
        self._sure = -1

    def begin(self, task: Task) -> None:
        """A new episode: all attempts are first attempts again."""
        self._inner.begin(task)
        self._plan = task.plan
        self._starts.clear()
        self._lasting.clear()
        self._use = None
        uses = range(len(task.plan))
        drawn = not self._at_least_one or any(self._chance(use, 0).random() < self._rate for use in uses)
        self._sure = -1 if drawn or not self._rate else random.Random(f"{self._seed}|{self._episode}").choice(uses)

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
        """The inner decision, or a wrong one in its place."""
        decision = self._inner.decide(frame, history, hint)
        use = -1 if decision.use is None else decision.use
        if use != self._use:
            self._start(use)
        if not any(item.action.type not in ("wait", "finish") for item in decision.actions):
            return decision
        self._way += _way(decision)
        if self._lasting.get(use) == self._way:
            self._armed = None
            return spoil(decision, self._rng)
        if self._armed is None or (not decision.done_use and self._rng.random() < 0.5):
            return decision
        manner, self._armed = self._armed, None
        harmed = fragile(self._plan, use) if manner == "delayed" and self.mode != "gui" else []
        if harmed:
            return stray(decision, self._rng.choice(harmed))
        if manner == "persistent":
            self._lasting[use] = self._way
        return spoil(decision, self._rng)

    def state(self) -> dict[str, Any]:
        """The inner state: what went wrong on purpose is forgotten with its branch."""
        return self._inner.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """A new attempt begins."""
        self._inner.restore(state)
        self._use = None

    def _start(self, use: int) -> None:
        attempt = self._starts[use]
        self._starts[use] += 1
        self._use, self._way = use, ()
        self._rng = self._chance(use, attempt)
        drawn = self._rng.random() < self._rate or use == self._sure
        armed = drawn and (attempt == 0 or self._retries)
        self._armed = (
            (self._manners[0] if len(self._manners) == 1 else self._rng.choice(self._manners)) if armed else None
        )

    def _chance(self, use: int, attempt: int) -> random.Random:
        return random.Random(f"{self._seed}|{self._episode}|{use}|{attempt}")


def _way(decision: Decision) -> Way:
    """The kinds of action and the places of a step: changing either is another way."""
    return tuple(
        (item.action.category, item.action.args.get("x"), item.action.args.get("y")) for item in decision.actions
    )
