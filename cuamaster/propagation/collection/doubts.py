"""Which boundaries may be wrong themselves, judged by the attempts that failed from them: pure bookkeeping."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from cuamaster.records.condition import Condition

MAX_FAILURES = 2
"""A boundary is in doubt after so many attempts that followed the plan's procedure from it and failed all the same ..."""
MAX_ATTEMPTS = 5
"""... or after so many that failed for any reason: what leads a policy astray may lie in the state too."""


@dataclass
class Doubts:
    """What failed from where, on the kept path.

    A failure that comes back with nothing new at the same place, although what was done there is what the plan says, was caused
    before the boundary that was returned to. Nobody knows how long before: each time the path is undone twice as far.
    """

    failures: Counter[str] = field(default_factory=Counter)
    """By boundary, attempts that followed the plan."""
    attempts: Counter[str] = field(default_factory=Counter)
    """By boundary, all of them."""
    returns: list[tuple[int, frozenset[Condition], int]] = field(default_factory=list)
    """(boundary after which it failed, what failed, how many boundaries back it was returned), boundaries by their place in
    the history."""

    def copy(self) -> Doubts:
        """For another branch."""
        return Doubts(self.failures.copy(), self.attempts.copy(), list(self.returns))

    def sound(self, label: str, place: int, newest: int, failed: frozenset[Condition]) -> bool:
        """Whether the boundary at `place` is worth returning to, now that `failed` has come after the one at `newest`."""
        least = max(
            (2 * back + 1 for at, what, back in self.returns if at == newest and failed and failed <= what), default=0
        )
        return newest - place >= least and self.failures[label] < MAX_FAILURES and self.attempts[label] < MAX_ATTEMPTS

    def returned(
        self, label: str, place: int, newest: int, failed: frozenset[Condition], *, departed: bool, slipped: bool
    ) -> None:
        """`failed` has come after the boundary at `newest`, and the path goes on from the one at `place`.

        `departed`: something was done since `place` that the plan does not say; `slipped`: where it failed, too.
        """
        self.attempts[label] += 1
        if not departed:
            self.failures[label] += 1
        if place == 0:  # nothing is left of what was done: whatever comes now is new
            self.returns.clear()
        elif not slipped:
            self.returns.append((newest, failed, newest - place))

    def reached(self, newest: int) -> None:
        """The path has got as far as a boundary at `newest`: what failed before that is overcome."""
        self.returns = [item for item in self.returns if item[0] >= newest]

    def forget(self, label: str) -> None:
        """The boundary is gone."""
        self.failures.pop(label, None)
        self.attempts.pop(label, None)
