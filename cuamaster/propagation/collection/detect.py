"""The rules detector: finds the earliest stretch of steps that left the task's path, from recorded facts alone.

Every stable boundary holds what was known to be true there. Looking backwards over them, a failed condition was lost after
the last boundary at which it held; one that never held went wrong in the use that should have brought it about.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.ports import Desktop, ScreenReader
from cuamaster.propagation.collection.acting import known_state
from cuamaster.propagation.collection.evidence import odd_step, unexplained_change
from cuamaster.propagation.collection.feedback import seen_texts, write_feedback
from cuamaster.propagation.collection.progress import Course, course_of
from cuamaster.records.condition import Condition
from cuamaster.records.episode import Boundary, Node
from cuamaster.records.parts import leaves
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
        self,
        task: Task,
        path: Sequence[Node],
        desktop: Desktop,
        boundaries: Sequence[Boundary],
        verdict: Verdict,
        *,
        history: Sequence[Boundary] = (),
    ) -> Divergence:
        """The earliest divergence over all failed checks; raises DesktopFault when the failing desktop cannot be looked at."""
        course = course_of(task)
        points = list(history or boundaries)
        failed = [check for check in verdict.checks if check.holds is False]
        position = min((_suspect(course, check.condition, points) for check in failed), default=len(points) - 1)
        harm = unexplained_change(course, points, _concerned(course, failed, points[-1].use))
        if harm is not None and harm <= position:
            position, end = harm, points[harm + 1].node
        else:
            harm, end = None, path[-1].index if path else -1
        stretch = [index for index, node in enumerate(path) if points[position].node < node.index <= end]
        idle = _idle_step(path, stretch) if harm is None else None
        step = _first_wrong(course, path, stretch, idle)
        boundary = ([point for point in boundaries if point.node <= points[position].node] or boundaries[:1])[-1]
        notes = _windows_note(points[position].signature, known_state(desktop))
        if idle is not None:
            notes.append(f"Step {idle + 1} changed nothing on the screen.")
        if harm is not None:
            notes.append(f"Something that is needed later was changed at step {step + 1}, where nothing asked for it.")
        seen = seen_texts(path, desktop, self._reader)
        return Divergence(
            step=step, snapshot=boundary.label, feedback=write_feedback(task, failed, notes, seen), detector=self.name
        )


def _first_wrong(course: Course, path: Sequence[Node], stretch: Sequence[int], idle: int | None) -> int:
    """The step of the stretch that is to blame: the odd one out, else the one that led to where the right step had no effect."""
    odd = odd_step(course, path, stretch)
    if odd is not None:
        return odd if idle is None else min(idle, odd)
    if idle is not None:
        return idle - 1 if idle - 1 in stretch and path[idle - 1].use == path[idle].use is not None else idle
    return stretch[0] if stretch else len(path)


def _concerned(course: Course, failed: Sequence[Check], use: int) -> frozenset[str]:
    """The paths that may be to blame, or come to be: of what failed, and of what the uses from `use` on build on."""
    named = (str(leaf.path) for check in failed for leaf in leaves(check.condition) if hasattr(leaf, "path"))
    return frozenset(named).union(*course.paths[use:])


def _suspect(course: Course, condition: Condition, boundaries: Sequence[Boundary]) -> int:
    """Position of the boundary after which `condition` went wrong.

    A condition that the plan itself ends and brings about again is not lost where it was ended. Of one that held
    at the start and that nobody has looked at since only the present is known; its files' hashes may say more.
    """
    use = course.since(condition, min(boundaries[-1].use + 1, len(course.task.plan)))
    held = [index for index, boundary in enumerate(boundaries) if _holds_at(boundary.checks, condition)]
    held = [index for index in held if use is None or boundaries[index].use >= use]
    if held:
        return _unchanged(condition, boundaries, held[-1])
    if use == 0:
        return len(boundaries) - 1
    if use is None:
        use = course.owner(condition)
    if use is None:
        use = course.related_use(condition)
    if use is None:
        return len(boundaries) - 1
    before = [index for index, boundary in enumerate(boundaries) if boundary.use < use]
    return before[-1] if before else 0


def _unchanged(condition: Condition, boundaries: Sequence[Boundary], index: int) -> int:
    """The last boundary up to which the files of a condition are what they were at `index`: it held there, too."""
    paths = [str(getattr(leaf, "path", "")) for leaf in leaves(condition)]
    known = boundaries[index].signature.files
    if all(path in known for path in paths):
        while index + 1 < len(boundaries):
            files = boundaries[index + 1].signature.files
            if any(files.get(path) != known[path] for path in paths):
                break
            index += 1
    return index


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
