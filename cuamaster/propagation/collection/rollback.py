"""Going back: where the path went wrong, the desktop and the policy returned to the nearest sound boundary before it."""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.ports import Desktop, Detector, Policy, ScreenReader
from cuamaster.propagation.collection.evidence import departed
from cuamaster.propagation.collection.feedback import censored, seen_texts
from cuamaster.propagation.collection.progress import course_of
from cuamaster.propagation.collection.snapshots import Snapshots
from cuamaster.records.episode import Boundary, Node
from cuamaster.records.task import Task
from cuamaster.records.verdict import Divergence, Verdict


def roll_back(
    task: Task,
    path: Sequence[Node],
    verdict: Verdict,
    *,
    desktop: Desktop,
    reader: ScreenReader,
    policy: Policy,
    detector: Detector,
    snapshots: Snapshots,
) -> tuple[Divergence, Boundary, int]:
    """The divergence behind a failed `verdict`, the boundary at which desktop and policy stand again, and how many secrets its
    feedback would have told: then a hint that tells nothing stands in its place, whichever detector wrote it.

    Raises StateDrift when the restored desktop is not the attested one, other DesktopFaults when it cannot be restored.
    """
    failed, course = frozenset(check.condition for check in verdict.checks), course_of(task)

    def left_plan(begun: Boundary) -> bool:
        return departed(course, path, [at for at, step in enumerate(path) if step.index > begun.node])

    slipped = left_plan(snapshots.history[-1])  # then earlier failures at the same place have nothing to do with it
    usable = snapshots.usable(frozenset() if slipped else failed)
    divergence = detector.locate(task, path, desktop, usable, verdict, history=snapshots.history)
    feedback, secrets = censored(divergence.feedback, task, seen_texts(path, desktop, reader))
    begun = next(boundary for boundary in usable if boundary.label == divergence.snapshot)
    boundary = snapshots.back_to(begun.label, failed, departed=left_plan(begun), slipped=slipped)
    policy.restore(boundary.controller)
    return divergence.model_copy(update={"feedback": feedback}), boundary, secrets
