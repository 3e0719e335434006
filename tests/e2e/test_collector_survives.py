"""A collector killed at any point, or not alone: every episode ends once, with the right label, and nothing is left behind."""

from __future__ import annotations

import multiprocessing
import random
import signal
from pathlib import Path

import pytest

from cuamaster import wiring
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.propagation.collection.journal import finished
from cuamaster.records.episode import Episode
from cuamaster.settings import Settings
from cuamaster.tables import Workspace
from tests.e2e import collector

pytestmark = pytest.mark.slow
KILLS = 20
TASKS = 8


@pytest.fixture(scope="module")
def processes() -> multiprocessing.context.ForkServerContext:
    """Real processes that need not import everything again."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.e2e.collector", "cuamaster.adapters.desktops.simulated"])
    return context


def _ended(workspace: Path) -> dict[str, Episode]:
    """Finished episodes as the journals tell them."""
    journals = (JsonlJournal(path) for path in sorted((workspace / "journals").glob("*.jsonl")))
    return {episode.id: episode for journal in journals for episode in finished(journal)}


def _check(workspace: Path, *, infra: int) -> None:
    """Everything is collected once; what ended before a kill is there unchanged; at most `infra` episodes were cut short."""
    kept = Workspace(workspace).round(1).stage("collect").kept(Episode)
    by_id = {episode.id: episode for episode in kept}
    assert len(by_id) == len(kept), "no episode twice"
    assert {episode.outcome for episode in kept} <= {"passed", "infra"}
    passed = [episode.task_id for episode in kept if episode.outcome == "passed"]
    assert sorted(passed) == sorted(task.id for task in collector.tasks(TASKS))
    assert len(kept) - len(passed) <= infra
    for name, episode in _ended(workspace).items():
        assert by_id[name] == episode, "a finished episode is never lost or replaced"
    assert wiring.leases(Settings(workspace=workspace, desktop="simulated")).held() == []
    left = [path for path in workspace.rglob("*") if ".tmp" in path.name or path.parent.name == ".drafts"]
    assert left == []


def test_a_collector_killed_at_twenty_points_loses_nothing_that_was_finished(
    processes: multiprocessing.context.ForkServerContext, tmp_path: Path
) -> None:
    whole = processes.Process(target=collector.run, args=(str(tmp_path / "whole"), TASKS, 0, str(tmp_path / "tally")))
    whole.start()
    whole.join()
    assert whole.exitcode == 0
    _check(tmp_path / "whole", infra=0)
    changes = int((tmp_path / "tally").read_text("utf-8"))
    points, workspace = random.Random(7), tmp_path / "w"
    before: dict[str, Episode] = {}
    killed = 0
    for _ in range(KILLS):
        process = processes.Process(
            target=collector.run, args=(str(workspace), TASKS, points.randrange(1, 2 * changes // KILLS))
        )
        process.start()
        process.join()
        killed += process.exitcode == -signal.SIGKILL
        now = _ended(workspace)
        assert before.items() <= now.items()
        before = now
    assert killed >= KILLS // 2, "most of the processes died before they were done"
    last = processes.Process(target=collector.run, args=(str(workspace), TASKS))
    last.start()
    last.join()
    assert last.exitcode == 0
    _check(workspace, infra=killed)


def test_two_collectors_on_one_workspace_do_not_do_the_same_twice(
    processes: multiprocessing.context.ForkServerContext, tmp_path: Path
) -> None:
    both = [processes.Process(target=collector.run, args=(str(tmp_path / "w"), TASKS)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    _check(tmp_path / "w", infra=0)
    assert len(_ended(tmp_path / "w")) == TASKS
