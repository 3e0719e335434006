"""Stages that run on desktops: prove extracted primitives, certify composed tasks, collect verified trajectories."""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Sequence

from cuamaster.errors import DesktopFault, HostBusy
from cuamaster.ports import DesktopPorts
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.journal import as_infra, finished, unfinished
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.propagation.generation.certificate import certify as certify_task
from cuamaster.propagation.generation.library import Library
from cuamaster.propagation.generation.oracle import Oracle
from cuamaster.propagation.generation.prove import prove_all, tightened
from cuamaster.records.episode import Budget, Dropped, Episode
from cuamaster.records.primitive import Mode, Primitive
from cuamaster.records.record import content_id
from cuamaster.records.task import Certificate, Task
from cuamaster.settings import Settings
from cuamaster.stages.composing import guest_of
from cuamaster.stages.running import Each, Result, run
from cuamaster.tables import RoundFolder

log = logging.getLogger(__name__)
INFRA_TRIES = 3
"""Runs of one task until one says something about the policy."""


def collect(folder: RoundFolder, tasks: Sequence[Task], ports: DesktopPorts, settings: Settings, each: Each) -> None:
    """Task + policy -> episode. One item is one task; runs that only the machinery failed are kept and tried again.

    Episodes add up: what was collected of other tasks, or with another policy or mode, stays.
    """
    erring = faulted(tasks, settings)

    def work(task: Task) -> Result:
        episodes: list[Episode] = []
        live = 0
        for number in itertools.count():
            episode, ran = _episode(folder, task, number, ports, settings, err=task.id in erring)
            episodes.append(episode)
            live += ran
            if episode.outcome in ("passed", "failed") or live >= INFRA_TRIES:
                return episodes, ()
        raise AssertionError("unreachable")

    run(
        folder.stage("collect"), tasks, work, key=lambda task: task.id, each=each, label=lambda task: task.instruction,
        given=_how(settings), accumulate=True,
    )  # fmt: skip


def _how(settings: Settings) -> str:
    """Who collects and where: another policy makes other episodes of the same task."""
    policy = f"{settings.policy} {settings.api_model}" if settings.policy == "openai_api" else settings.policy
    branches = f"{settings.branches} branches" if settings.branches > 1 else ""
    return " ".join(filter(None, (policy, settings.mode, settings.desktop, settings.screen, branches)))


def faulted(tasks: Sequence[Task], settings: Settings) -> set[str]:
    """Which composed tasks are collected with a policy that errs on purpose: a fixed share, drawn by task id, at least one."""
    composed = sorted(
        (task for task in tasks if task.strategy not in ("seed", "imported")),
        key=lambda task: content_id("draw", settings.seed, task.id),
    )
    return {task.id for task in composed[: math.ceil(len(composed) * settings.fault_share)]}


def _episode(
    folder: RoundFolder, task: Task, number: int, ports: DesktopPorts, settings: Settings, *, err: bool
) -> tuple[Episode, bool]:
    """The episode with this number, and whether it was run just now: from its journal if it ended, as infra if its process died."""
    episode_id = content_id("episode", folder.number, task.id, _how(settings), number)
    journal = ports.journal(episode_id)
    for episode in finished(journal):
        return episode, False
    for log in unfinished(journal):
        return as_infra(log, "the collecting process ended before the episode did"), False
    policy = ports.policy(episode_id, err)
    begun = ports.clock()
    try:
        with ports.host.open(task.environment.image) as desktop:
            return rollout(
                task, policy, desktop, reader=ports.reader, journal=journal, detector=RulesDetector(ports.reader), store=ports.store,
                budget=Budget(
                    max_steps=settings.max_steps, max_retries=settings.max_retries, max_seconds=settings.max_seconds,
                    branches=settings.branches,
                ),
                clock=ports.clock, episode_id=episode_id, rival=lambda branch: ports.policy(f"{episode_id}-b{branch}", err),
                elements=settings.observe_elements,
            ), True  # fmt: skip
    except HostBusy:
        raise
    except DesktopFault as exc:
        for episode in finished(journal):  # the desktop failed after the end
            return episode, True
        return Episode(
            id=episode_id, task_id=task.id, policy=policy.name, mode=policy.mode, outcome="infra", verdict=None, nodes=(),
            seconds=ports.clock() - begun, message=str(exc), image_digest=ports.image.digest,
        ), True  # fmt: skip


def prove(folder: RoundFolder, library: Library, ports: DesktopPorts, each: Each) -> None:
    """Extracted primitive -> proven on a desktop (verifier false before, true after), or dropped with what was seen.

    One item is one meaning: primitives that the library has already only add their evidence and need no proof.
    """
    candidates = Library()
    for primitive in folder.stage("extract").kept(Primitive):
        candidates.add(primitive)
    everything = [*library, *candidates]

    def work(primitive: Primitive) -> Result:
        if library.knows(primitive):
            return [primitive], ()
        oracles = {"gui": oracle_of(ports, "gui", f"prove-{primitive.id}")}
        (proof,) = prove_all([primitive], everything, ports.host, ports.reader, oracles, guest_of(ports.image))
        if proof.ok:
            return [tightened(primitive, proof)], ()
        reason = "no-desktop" if proof.fault else "not-reproduced"
        return (), (Dropped(item_id=primitive.id, stage="prove", reason=reason, detail=proof.message),)

    run(
        folder.stage("prove"), list(candidates), work, key=lambda item: item.id, each=each,
        label=lambda item: f"{item.app}.{item.ability}", given=ports.image.digest,
    )  # fmt: skip


def certify(folder: RoundFolder, tasks: Sequence[Task], ports: DesktopPorts, settings: Settings, each: Each) -> None:
    """Task -> certificate: its verifier fails when nothing is done and passes after the oracle's procedure."""

    def work(task: Task) -> Result:
        for _ in range(INFRA_TRIES):
            with ports.host.open(task.environment.image) as desktop:
                done = certify_task(task, desktop, ports.reader, oracle_of(ports, settings.mode, f"oracle-{task.id}"))
            if all(probe.verdict.status != "errored" for probe in done.certificate.probes):
                break
        log.info("%s: %s", task.id, "released" if done.certificate.released else f"refused: {done.reason}")
        return [done.certificate], ()

    run(
        folder.stage("certify"), tasks, work, key=lambda task: task.id, each=each,
        label=lambda task: task.instruction, given=ports.image.digest,
    )  # fmt: skip


def oracle_of(ports: DesktopPorts, mode: Mode, name: str) -> Oracle:
    """A policy that follows plans, with a journal of this name."""
    return Oracle(
        ports.oracle(mode), ports.reader, RulesDetector(ports.reader), ports.store, ports.journal(name), ports.clock
    )


def released(folder: RoundFolder, tasks: Sequence[Task]) -> list[Task]:
    """Those tasks whose certificate released them."""
    passed = {item.task_id for item in folder.stage("certify").kept(Certificate) if item.released}
    return [task for task in tasks if task.id in passed]
