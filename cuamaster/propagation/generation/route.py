"""The route of a long handoff through several applications: which use may come next, so that the search seldom has to go back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuamaster.propagation.generation.facts import satisfied
from cuamaster.propagation.generation.plan import Plan, ground
from cuamaster.propagation.generation.strategies import fetches_window
from cuamaster.records.condition import Not
from cuamaster.records.primitive import Primitive


@dataclass(frozen=True)
class Route:
    """`first` makes what `second`, the last use, needs; each of `apps` applications gets about its share of the uses in turn."""

    first: Primitive
    second: Primitive
    apps: int

    def order(self, candidates: Sequence[Primitive], plan: Plan, size: int) -> list[Primitive]:
        """Those of the candidates that keep to the route, the best ones first."""
        if not plan.uses:  # what is open from the start is nobody's effect, and its uses would build on none
            return [p for p in candidates if fetches_window(p) and p.app != self.second.app]
        if len(plan.uses) == size - 1:
            return [p for p in candidates if p is self.second]
        made = any(use.primitive is self.first for use in plan.uses)
        due = len(plan.apps) < self.apps and len(plan.uses) * self.apps >= size * len(plan.apps)
        left = self.apps - len(plan.apps)
        return sorted(
            (p for p in candidates if p is not self.second and self._allowed(p, plan, made, left)),
            key=lambda p: (fetches_window(p) != due, p is not self.first, p.app != self.first.app or made),
        )

    def _allowed(self, primitive: Primitive, plan: Plan, made: bool, left: int) -> bool:
        """The second's application comes last; the first's must have had its turn by then, with what it makes."""
        if primitive.app in plan.apps:
            return True
        if primitive.app == self.second.app:
            return left == 1 and made
        if left == 2 and self.first.app not in plan.apps:
            return primitive.app == self.first.app
        return left > 1


def undoes(plan: Plan) -> bool:
    """Whether the last use only takes away what the plan itself has made: it would be found idle at the end, many uses later."""
    use = plan.uses[-1]
    goals = ground([use.primitive.verifier], use.arguments)
    return all(isinstance(goal, Not) and satisfied(goal, plan.start) for goal in goals)
