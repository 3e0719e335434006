"""Certificates: a task is released only if its verifier fails when nothing is done and passes after its oracle's procedure.

Both probes share one clone: set up once, look (null probe), then let the oracle work on the same desktop (oracle probe).
"""

from __future__ import annotations

from dataclasses import dataclass

from cuamaster.checks import verify
from cuamaster.errors import DesktopFault
from cuamaster.ports import Desktop, ScreenReader
from cuamaster.propagation.collection.setup import establish
from cuamaster.propagation.generation.oracle import Oracle
from cuamaster.records.episode import Episode
from cuamaster.records.task import Certificate, Probe, Task
from cuamaster.records.verdict import Verdict


@dataclass(frozen=True)
class Certified:
    """A certificate, the oracle's episode (a full recorded rollout) if it came to that, and why it was not released."""

    task: Task
    certificate: Certificate
    episode: Episode | None
    reason: str = ""


def certify(task: Task, desktop: Desktop, reader: ScreenReader, oracle: Oracle) -> Certified:
    """Probe one task on a fresh desktop. A fault of the machinery makes the probe `errored`, which releases nothing."""
    probes: list[Probe] = []
    episode: Episode | None = None
    try:
        establish(task.environment, desktop, reader)
        probes.append(Probe(name="null", expected="failed", verdict=verify(task.verifier, desktop, reader)))
        if probes[0].ok:
            episode = oracle.run(task, desktop, f"oracle-{task.id}")
            probes.append(Probe(name="oracle", expected="passed", verdict=_judged(episode)))
    except DesktopFault as exc:
        fault = Verdict(status="errored", message=f"{type(exc).__name__}: {exc}")
        if probes:
            probes.append(Probe(name="oracle", expected="passed", verdict=fault))
        else:
            probes.append(Probe(name="null", expected="failed", verdict=fault))
    certificate = Certificate(task_id=task.id, probes=tuple(probes), image_digest=desktop.image_digest)
    return Certified(task, certificate, episode, _reason(certificate))


def _judged(episode: Episode) -> Verdict:
    """The verdict of an oracle's episode; an episode that ended by a fault is errored, whatever was seen before."""
    if episode.outcome in ("passed", "failed") and episode.verdict is not None:
        return episode.verdict
    return Verdict(
        status="failed" if episode.outcome == "failed" else "errored", message=f"{episode.outcome}: {episode.message}"
    )


def _reason(certificate: Certificate) -> str:
    for probe in certificate.probes:
        if not probe.ok:
            seen = "; ".join(check.observed for check in probe.verdict.checks if check.holds is not True)
            return (
                f"{probe.name} probe {probe.verdict.status}, expected {probe.expected}: {probe.verdict.message or seen}"
            )
    return ""
