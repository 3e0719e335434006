"""The oracle: carries out a task's own plan on a prepared desktop, through the same rollout that policies go through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cuamaster.ports import Desktop, Detector, Journal, Policy, ScreenReader, Store
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.records.episode import Budget, Episode
from cuamaster.records.task import Task


@dataclass(frozen=True)
class Oracle:
    """What a rollout of the oracle needs; `policy` is one that reads task.plan, `clock` gives seconds."""

    policy: Policy
    reader: ScreenReader
    detector: Detector
    store: Store
    journal: Journal
    clock: Callable[[], float]
    max_retries: int = 1

    def run(self, task: Task, desktop: Desktop, episode_id: str) -> Episode:
        """One episode on a desktop that is in the task's start state already."""
        return rollout(
            task,
            self.policy,
            desktop,
            reader=self.reader,
            journal=self.journal,
            detector=self.detector,
            store=self.store,
            budget=Budget(max_steps=task.max_steps, max_retries=self.max_retries, max_seconds=task.timeout_s),
            clock=self.clock,
            episode_id=episode_id,
            prepared=True,
        )
