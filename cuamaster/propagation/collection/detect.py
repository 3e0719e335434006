"""The rules detector: finds the earliest stretch of steps that left the task's path, from recorded facts alone.

Every stable boundary holds what was known to be true there. Looking backwards over them, a failed condition was lost after
the last boundary at which it held; one that never held went wrong in the use that should have brought it about.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.ports import Desktop, ScreenReader
from cuamaster.propagation.collection.acting import known_state
from cuamaster.propagation.collection.feedback import write_feedback
from cuamaster.propagation.collection.progress import owner, related_use
from cuamaster.records.condition import Condition
from cuamaster.records.episode import Boundary, Node
from cuamaster.records.task import Task
from cuamaster.records.trajectory import StateSignature
from cuamaster.records.verdict import Check, Divergence, Verdict


class RulesDetector:
    """Embedded detector; needs no model."""

    name = "rules"

    def __init__(self, reader: ScreenReader) -> None:
        """`reader` reads the failing screen, so that feedback may name what stands there."""
        self._reader = reader

    def locate(
        self, task: Task, path: Sequence[Node], desktop: Desktop, boundaries: Sequence[Boundary], verdict: Verdict
    ) -> Divergence:
        """The earliest divergence over all failed checks; raises DesktopFault when the failing desktop cannot be looked at."""
        failed = [check for check in verdict.checks if check.holds is False]
        position = min((_suspect(task, check.condition, boundaries) for check in failed), default=len(boundaries) - 1)
        boundary = boundaries[position]
        stretch = [index for index, node in enumerate(path) if node.index > boundary.node]
        idle = _idle_step(path, stretch)
        step = idle if idle is not None else stretch[0] if stretch else len(path)
        state = known_state(desktop)
        notes = [*_windows_note(boundary.signature, state)]
        if idle is not None:
            notes.append(f"Step {idle + 1} changed nothing on the screen.")
        seen = _seen(path, state, [box.text for box in self._reader.read(desktop.screenshot().image)])
        return Divergence(
            step=step, snapshot=boundary.label, feedback=write_feedback(task, failed, notes, seen), detector=self.name
        )


def _suspect(task: Task, condition: Condition, boundaries: Sequence[Boundary]) -> int:
    """Position of the boundary after which `condition` went wrong."""
    held = [index for index, boundary in enumerate(boundaries) if _holds_at(boundary.checks, condition)]
    if held:
        return held[-1]
    use = owner(task, condition)
    if use is None:
        use = related_use(task, condition)
    if use is None:
        return len(boundaries) - 1
    before = [index for index, boundary in enumerate(boundaries) if boundary.use < use]
    return before[-1] if before else 0


def _holds_at(checks: Sequence[Check], condition: Condition) -> bool:
    return any(check.condition == condition and check.holds for check in checks)


def _idle_step(path: Sequence[Node], stretch: Sequence[int]) -> int | None:
    """The first step whose mouse or keyboard actions left the picture exactly as it was, and no later step did either."""
    for index in stretch:
        pictures = {node.observation.screenshot for node in path[index:]}
        busy = any(item.action.category == "gui" for item in path[index].actions)
        if busy and index + 1 < len(path) and len(pictures) == 1:
            return index
    return None


def _windows_note(attested: StateSignature, state: StateSignature) -> list[str]:
    """What the signature says of windows: opened or gone since the boundary."""
    before = {(window.app, window.title) for window in attested.windows}
    now = {(window.app, window.title) for window in state.windows}
    notes = []
    if opened := sorted(title for _, title in now - before if title):
        notes.append(f"Windows open at the end that were not open before: {', '.join(opened)}.")
    if gone := sorted(title for _, title in before - now if title):
        notes.append(f"Windows no longer there: {', '.join(gone)}.")
    return notes


def _seen(path: Sequence[Node], state: StateSignature, screen: Sequence[str]) -> list[str]:
    texts = [text for node in path for text in (node.observation.active_window, node.observation.response, node.answer)]
    return [*texts, *(f"{window.app} {window.title}" for window in state.windows), *screen]
