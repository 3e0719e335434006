"""Runs the items of a stage as Prefect tasks: one video in one stage, one task's collection, one shard."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from prefect import Task, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.concurrency.sync import concurrency
from prefect.futures import PrefectFuture, as_completed
from prefect.task_runners import ThreadPoolTaskRunner

from cuamaster.errors import Transient
from cuamaster.settings import Settings
from cuamaster.stages import Each, in_turn

T = TypeVar("T")

INGEST, ASR = "ingest", "asr"
LIMITS = {INGEST: 4, ASR: 1}
"""Concurrency limits made at deploy, with their slots: requests to video sites, speech recognitions."""
LIMIT_OF = {"search": INGEST, "fetch": INGEST, "transcribe": ASR}
"""Stages whose items take a slot each. Those on desktops wait for a lease of the pool instead."""
QUICK = ("sketch", "discover", "screen", "distinct", "extract", "seed-tasks")
"""Stages whose items take milliseconds, less than a task run would cost: the flow does them itself."""
ON_DESKTOPS = ("prove", "certify", "collect")
RETRY_DELAYS = [10.0, 60.0]
LEASE_SECONDS = 60.0
"""A killed holder's slot is free again after this long."""


def only_transient(_task: Any, _run: TaskRun, state: State[Any]) -> bool:
    """Whether a failed item may be tried again: the error tree decides."""
    return isinstance(state.data, Transient)


def workers_of(stage: str, settings: Settings) -> int:
    """How many items of a stage run at once in this process."""
    if stage in ON_DESKTOPS:
        return settings.desktop_capacity
    return LIMITS[ASR] if stage == "transcribe" else os.cpu_count() or 1


def tasks_for(settings: Settings, retry_delays: Sequence[float] = tuple(RETRY_DELAYS)) -> Each:
    """The `Each` of the flows; call what is returned inside a flow run.

    Nothing is cached or persisted by Prefect: the parts on disk say what is done, so a rerun after any kill goes on from there.
    """

    def each(name: str, items: Sequence[T], work: Callable[[T], None], label: Callable[[T], str]) -> None:
        if name in QUICK:
            in_turn(name, items, work, label)
            return

        @task(
            name=name,
            task_run_name=f"{name}: {{label}}",
            cache_policy=NO_CACHE,
            persist_result=False,
            retries=len(retry_delays),
            retry_delay_seconds=list(retry_delays),
            retry_condition_fn=only_transient,
        )
        def one(label: str, index: int) -> None:  # noqa: ARG001  the label names the run
            with concurrency(LIMIT_OF.get(name, []), lease_duration=LEASE_SECONDS):
                work(items[index])

        _run_all(one, [label(item) for item in items], workers_of(name, settings))

    return each


def _run_all(one: Task[..., None], labels: Sequence[str], workers: int) -> None:
    """At most `workers` runs at once. After the first failure nothing more is begun, the runs in hand end, then it is raised."""
    running: list[PrefectFuture[None]] = []
    failed: list[PrefectFuture[None]] = []

    def one_less() -> None:
        ended = next(as_completed(running))
        running.remove(ended)
        ended.wait()
        if not ended.state.is_completed():
            failed.append(ended)

    with ThreadPoolTaskRunner[None](max_workers=workers) as runner:
        for index, label in enumerate(labels):
            if len(running) == workers:
                one_less()
            if failed:
                break
            running.append(runner.submit(one, {"label": label, "index": index}))
        while running:
            one_less()
    for future in failed[:1]:
        future.result()
