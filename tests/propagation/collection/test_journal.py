"""Journal events to episodes: what a killed process leaves behind can be told apart and closed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.propagation.collection.journal import as_infra, fold, unfinished

_WRITER = """
import sys
from pathlib import Path
from cuamaster.adapters.journals.jsonl import JsonlJournal
journal = JsonlJournal(Path(sys.argv[1]))
journal.append({"event": "begin", "episode": "e", "t": 0, "task": "t", "policy": "p", "mode": "gui", "image_digest": "d"})
number = 0
while True:
    journal.append({"event": "intent", "episode": "e", "t": number, "node": number, "ids": [], "actions": []})
    node = {"index": number, "parent": number - 1, "observation": {"screenshot": "a" * 64, "width": 1, "height": 1}, "actions": []}
    journal.append({"event": "node", "episode": "e", "t": number, "node": node})
    number += 1
"""


def test_an_episode_cut_off_by_kill_is_unfinished_and_closes_as_infra(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    process = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)])
    try:
        deadline = time.monotonic() + 60
        while not (path.exists() and path.stat().st_size > 20_000):
            assert time.monotonic() < deadline, "the writer never got going"
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    logs = unfinished(JsonlJournal(path))
    assert [log.id for log in logs] == ["e"]
    indexes = [node.index for node in logs[0].nodes]
    assert indexes == list(range(len(indexes)))
    assert len(indexes) > 10
    episode = as_infra(logs[0], "the process was killed")
    assert (episode.outcome, len(episode.nodes), episode.first_attempt_passed) == ("infra", len(indexes), None)


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5, 6])
def test_any_prefix_of_a_real_journal_folds(
    roll: Callable[..., Any], make_task: Callable[..., Any], journal: Any, cut: int
) -> None:
    episode = roll(make_task())
    events = journal.events()
    prefix = events[: len(events) * cut // 7]
    log = fold(prefix)["e1"]
    assert log.episode is None
    assert tuple(log.nodes) == episode.nodes[: len(log.nodes)] or log.nodes[:-1] == list(
        episode.nodes[: len(log.nodes) - 1]
    )
    acted = sum(event["event"] == "intent" for event in prefix) - len(log.nodes)
    assert (log.pending is not None) == (acted == 1)


def test_a_second_begin_starts_the_episode_anew(
    roll: Callable[..., Any], make_task: Callable[..., Any], journal: Any
) -> None:
    journal.append({"event": "begin", "episode": "e1", "t": 0, "task": "t", "policy": "p", "mode": "gui"})
    assert [log.id for log in unfinished(journal)] == ["e1"]
    episode = roll(make_task())
    assert unfinished(journal) == []
    assert fold(journal.events())["e1"].episode == episode
