"""Wraps a policy and makes it err on purpose, reproducibly, so that detection and rollback are exercised for real."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.action_space import COORD_MAX, CUAAction
from cuamaster.ports import Decision, Frame, Policy
from cuamaster.records.episode import Node
from cuamaster.records.primitive import Mode
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action

KINDS = ("wrong-click", "wrong-text", "skipped-step", "premature-done")
_NOTHING = Action(action=CUAAction("wait", {"seconds": 0.1}), evidence="fault")


class FaultyPolicy:
    """Injects at most one fault into each attempt at a plan use; a pure function of (seed, episode, use, attempt).

    Only first attempts err, unless `persistent`. Every decision that carries a fault says so in `injected`. A fault may turn
    out harmless (a click beside a field that has the focus anyway); then its step stays on the kept path, still marked.
    """

    def __init__(
        self, inner: Policy, *, seed: int, rate: float, episode_id: str = "", persistent: bool = False
    ) -> None:
        """`rate`: share of plan uses, 0-1, in which the policy errs; above 0 it errs in one use of every episode at least."""
        self.name = f"{inner.name}+faults"
        self.mode: Mode = inner.mode
        self._inner, self._seed, self._rate, self._episode, self._persistent = inner, seed, rate, episode_id, persistent
        self._starts: Counter[int] = Counter()
        self._use: int | None = None
        self._rng = random.Random()
        self._armed = False
        self._sure = -1

    def begin(self, task: Task) -> None:
        """A new episode: all attempts are first attempts again."""
        self._inner.begin(task)
        self._starts.clear()
        self._use = None
        uses = range(len(task.plan))
        drawn = any(self._chance(use, 0).random() < self._rate for use in uses)
        self._sure = -1 if drawn or not self._rate else random.Random(f"{self._seed}|{self._episode}").choice(uses)

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
        """The inner decision, or a wrong one in its place."""
        decision = self._inner.decide(frame, history, hint)
        use = -1 if decision.use is None else decision.use
        if use != self._use:
            self._start(use)
        if not self._armed or not any(item.action.type not in ("wait", "finish") for item in decision.actions):
            return decision
        if not decision.done_use and self._rng.random() < 0.5:
            return decision
        self._armed = False
        return self._spoil(decision)

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
        self._use = use
        self._rng = self._chance(use, attempt)
        drawn = self._rng.random() < self._rate or use == self._sure
        self._armed = drawn and (attempt == 0 or self._persistent)

    def _chance(self, use: int, attempt: int) -> random.Random:
        return random.Random(f"{self._seed}|{self._episode}|{use}|{attempt}")

    def _spoil(self, decision: Decision) -> Decision:
        types = {item.action.type for item in decision.actions}
        kinds = ["premature-done"]
        if decision.done_use or "keyboard.type" in types:
            kinds.append("skipped-step")  # other steps are too often superfluous to make a fault of leaving them out
        if "mouse.click" in types:
            kinds.append("wrong-click")
        if "keyboard.type" in types:
            kinds.append("wrong-text")
        kind = self._rng.choice(kinds)
        if kind == "skipped-step":
            return dataclasses.replace(decision, actions=(_NOTHING,), injected=True)
        if kind == "premature-done":
            return dataclasses.replace(decision, actions=(_NOTHING,), injected=True, done_use=True)
        spoiled = tuple(self._spoil_action(item, kind) for item in decision.actions)
        return dataclasses.replace(decision, actions=spoiled, injected=True)

    def _spoil_action(self, item: Action, kind: str) -> Action:
        action = item.action
        args = action.to_dict()["args"]
        if kind == "wrong-click" and action.type == "mouse.click":
            args["x"], args["y"] = _elsewhere(args["x"], self._rng), _elsewhere(args["y"], self._rng)
        elif kind == "wrong-text" and action.type == "keyboard.type":
            args["text"] = _misspelt(args["text"], self._rng)
        else:
            return item
        return item.model_copy(update={"action": CUAAction(action.type, args), "evidence": "fault"})


def _elsewhere(value: float, rng: random.Random) -> float:
    """150 to 350 thousandths away, on the screen."""
    offset = rng.uniform(150, 350)
    return (
        value - offset if value + offset > COORD_MAX or (value - offset >= 0 and rng.random() < 0.5) else value + offset
    )


def _misspelt(text: str, rng: random.Random) -> str:
    """One character in five replaced by another letter: more than a reader of the screen would take for its own mistake."""
    letters = list(text)
    for index in rng.sample(range(len(text)), max(1, len(text) // 5)):
        letters[index] = rng.choice([char for char in "bdfghkmrtwxz" if char != text[index].lower()])
    return "".join(letters)
