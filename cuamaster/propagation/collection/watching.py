"""Looks whether effects and goals of a task hold, and waits for those that a policy says it has brought about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cuamaster.checks import unmet, verify
from cuamaster.errors import CheckFailed, SetupFailed
from cuamaster.ports import Desktop, ScreenReader
from cuamaster.propagation.collection.acting import QUIET_S
from cuamaster.propagation.collection.evidence import unasked
from cuamaster.propagation.collection.progress import course_of
from cuamaster.propagation.collection.setup import carry_out
from cuamaster.records.condition import Condition
from cuamaster.records.episode import Boundary
from cuamaster.records.task import Task
from cuamaster.records.verdict import Check, Verdict
from cuamaster.vision.changes import same_screen

PATIENCE_S = 3.0
"""An expected effect is given up once the desktop has been still, and its machine at rest, for this long ..."""
MAX_PATIENCE_S = 150.0
"""... or after this long in any case: an office suite took 100 s to open its first window on a crowded host."""
_LOOK_S = 2.0


class AttemptFailed(Exception):
    """Not an error of ours: the current attempt left the task's path; `verdict` says what did not hold."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict

    @classmethod
    def because(cls, message: str, checks: Sequence[Check]) -> AttemptFailed:
        """With the checks that did not hold."""
        return cls(Verdict(status="failed", checks=tuple(checks), message=message))


class Watch:
    """The eyes of one episode; every method raises DesktopFault when the desktop cannot be looked at."""

    def __init__(self, task: Task, desktop: Desktop, reader: ScreenReader, clock: Callable[[], float]) -> None:
        self._task, self._desktop, self._reader, self._clock = task, desktop, reader, clock
        self._course = course_of(task)
        self._goals = self._course.goals
        self._told: set[tuple[int, Condition]] = set()

    def verify(self, ended: str = "") -> Verdict:
        """The task's verifier, after its closing steps: passed, failed or errored; `ended`: the status the policy finished with.

        Raises CheckFailed when a closing step could not be done.
        """
        try:
            carry_out(self._task.closing, self._desktop)
        except SetupFailed as exc:
            raise CheckFailed(f"what has to be done before the verifier looks could not be done: {exc}") from exc
        return verify(self._task.verifier, self._desktop, self._reader, ended=ended)

    def unmet_goals(self) -> tuple[Check, ...]:
        """The parts of the verifier that do not hold."""
        return unmet(self._goals, self._desktop, self._reader)

    def look(self, done: int) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
        """(what must hold after `done` uses and does not, everything watched as found), seen together."""
        wanted = self._course.required(done)
        watched = tuple(dict.fromkeys([*wanted, *self._goals]))
        missed = unmet(watched, self._desktop, self._reader)
        by_condition = {check.condition: check for check in missed}
        checks = tuple(by_condition.get(condition) or Check(condition=condition, holds=True) for condition in watched)
        return tuple(check for check in missed if check.condition in wanted), checks

    def spoilt(self, before: Boundary, after: Boundary) -> tuple[Check, ...]:
        """What later uses need and do not find any more, because of changes between two boundaries that no use asked for.

        The signatures tell where to look. A loss that comes back at the same place in another attempt is told once: then an
        application does it of its own accord, and it is for the later use to show whether it matters.
        """
        changed = unasked(self._course, before, after)
        needs = dict.fromkeys(need for path in sorted(changed) for need in self._course.awaited(after.use, path))
        asked = tuple(need for need in needs if (after.use, need) not in self._told)
        lost = tuple(check for check in unmet(asked, self._desktop, self._reader) if check.holds is False)
        self._told.update((after.use, check.condition) for check in lost)
        return lost

    def await_effects(self, done: int) -> tuple[Check, ...]:
        """Wait until everything holds that must after `done` uses; all checks as found then.

        Raises AttemptFailed when the effects stay away, CheckFailed when one of them cannot be evaluated.
        """
        for _ in looks(self._desktop, self._clock):
            missed, checks = self.look(done)
            if not missed:
                return checks
        errors = [check.observed for check in missed if check.holds is None]
        if errors:
            raise CheckFailed(f"an effect could not be evaluated: {'; '.join(errors)}")
        raise AttemptFailed.because("a step that was called done did not have its effect", missed)


def looks(desktop: Desktop, clock: Callable[[], float]) -> Iterator[None]:
    """Comes back for another look, at least once, while something that is still to come may come."""
    frame = desktop.settle(timeout=2 * _LOOK_S, quiet=QUIET_S)
    begun = still = clock()
    while True:
        yield
        asked = clock()
        now = desktop.settle(timeout=_LOOK_S, quiet=QUIET_S)
        if not same_screen(frame.image, now.image) or clock() - asked >= _LOOK_S:  # an application may be computing
            frame, still = now, clock()
        if clock() - still > PATIENCE_S or clock() - begun > MAX_PATIENCE_S:
            return
