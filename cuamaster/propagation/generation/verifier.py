"""A task's verifier: what must have come true by the end of the plan, and what must have stayed unharmed.

Not the plain conjunction of the primitives' fragments: a goal that a later use overwrites is dropped, one that the start state
meets already proves nothing and is dropped too, and files of the start state that the plan leaves alone must still be as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuamaster.propagation.generation.facts import START, satisfied
from cuamaster.propagation.generation.plan import Plan, ground
from cuamaster.records.condition import Condition, FileExists, FileText
from cuamaster.records.parts import conjoin
from cuamaster.records.reasoning import implies


@dataclass(frozen=True)
class Goals:
    """Goals that last to the end, by the use that reaches them; and start facts that must survive."""

    by_use: tuple[tuple[Condition, ...], ...]
    preserved: tuple[Condition, ...]

    @property
    def all(self) -> tuple[Condition, ...]:
        """The goals, without those that follow from others."""
        return _strongest([goal for goals in self.by_use for goal in goals])


def goals_of(plan: Plan) -> Goals:
    """Split the fragments of a plan into what counts at its end."""
    lasting = tuple(
        tuple(
            goal
            for goal in ground([use.primitive.verifier], use.arguments)
            if satisfied(goal, plan.facts) and not satisfied(goal, plan.start)
        )
        for use in plan.uses
    )
    kept = [f.condition for f in plan.facts if f.producer == START and isinstance(f.condition, (FileExists, FileText))]
    return Goals(lasting, _strongest(kept))


def _strongest(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    unique = list(dict.fromkeys(conditions))
    return tuple(
        c
        for i, c in enumerate(unique)
        if not any(implies(o, c) and (not implies(c, o) or j < i) for j, o in enumerate(unique) if j != i)
    )


def synthesize(plan: Plan) -> Condition | None:
    """The verifier, or None when there would be nothing to verify or the start state would pass it."""
    goals = goals_of(plan)
    if not goals.all:
        return None
    preserved = [c for c in goals.preserved if not any(implies(goal, c) for goal in goals.all)]
    verifier = conjoin([*goals.all, *preserved])
    return None if satisfied(verifier, plan.start) else verifier


def idle_uses(plan: Plan) -> list[int]:
    """Uses that neither leave a lasting goal nor meet a need of a later use: their success could not be told."""
    goals = goals_of(plan)
    needed = {need.producer for needs in plan.needs for need in needs}
    return [index for index in range(len(plan.uses)) if not goals.by_use[index] and index not in needed]
