"""The picture of a real episode: every snapshot a box, every rollback an arrow back, the outcome at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuamaster.adapters.policies.faulty import FaultyPolicy
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.records.task import Task
from scripts.snapshot_tree import mermaid


def test_a_rolled_back_episode_as_a_tree(
    roll: Callable[..., Any], make_task: Callable[..., Task], reader: Any, journal: Any
) -> None:
    episode = roll(make_task(), FaultyPolicy(ReplayPolicy(reader), seed=1, rate=1.0, episode_id="e1"))
    drawn = mermaid(journal.events()).splitlines()
    assert drawn[0] == "flowchart TD"
    boundaries = [event for event in journal.events() if event["event"] == "boundary"]
    assert sum("uses" in line for line in drawn) == len(boundaries) >= 3
    assert sum("rolled back" in line for line in drawn) == episode.rollbacks >= 1
    assert sum("fault injected" in line for line in drawn) == episode.injected_faults
    assert drawn[-2].endswith('end_(["passed"])')
