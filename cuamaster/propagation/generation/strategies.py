"""The four ways to compose, told apart by who meets whose needs."""

from __future__ import annotations

from cuamaster.propagation.generation.facts import START
from cuamaster.propagation.generation.plan import Plan
from cuamaster.records.primitive import Primitive
from cuamaster.records.task import Strategy

_DATA = ("file.exists", "file.text", "file.table", "document.cell", "clipboard.text", "image.size", "command.output", "setting.value")
ALL_STRATEGIES: tuple[Strategy, ...] = ("sequential", "parameterized", "state_dependent", "cross_app_handoff")


def may_follow(strategy: Strategy, plan: Plan, primitive: Primitive) -> bool:
    """Whether a primitive is worth trying as the next use; cheap, before arguments are chosen."""
    used = [use.primitive for use in plan.uses]
    if not used:
        return strategy != "parameterized" or bool(primitive.parameters)
    if strategy == "parameterized":
        return primitive == used[0]
    if strategy == "sequential":
        return primitive.app == used[0].app and primitive not in used
    return primitive not in used


def on_course(strategy: Strategy, plan: Plan) -> bool:
    """Whether the last use of a plan fits the strategy, so that the plan is worth growing."""
    last = len(plan.uses) - 1
    if last == 0:
        return True
    producers = {need.producer for need in plan.needs[last]}
    if strategy in ("sequential", "parameterized"):
        return producers <= {START}
    if strategy == "state_dependent":
        return last - 1 in producers
    return bool(producers - {START})


def fits(strategy: Strategy, plan: Plan) -> bool:
    """Whether a finished plan is what the strategy promises.

    sequential: different uses of one application, none needs another's effect. parameterized: one primitive with different
    arguments throughout. state_dependent: each use needs an effect of the one before it. cross_app_handoff: the last use needs
    data (a file, the clipboard, a setting; not merely a window) that another application's use has made.
    """
    count = len(plan.uses)
    primitives = [use.primitive for use in plan.uses]
    if count < 2:
        return False
    if strategy == "parameterized":
        values = [frozenset(use.arguments.items()) for use in plan.uses]
        return len({p.id for p in primitives}) == 1 and len(set(values)) == count and _independent(plan)
    if strategy == "sequential":
        return len(plan.apps) == 1 and len({p.id for p in primitives}) == count and _independent(plan)
    if strategy == "state_dependent":
        return all(any(need.producer == index - 1 for need in plan.needs[index]) for index in range(1, count))
    return any(
        need.producer != START and need.condition.kind in _DATA and primitives[need.producer].app != primitives[-1].app
        for need in plan.needs[-1]
    )


def _independent(plan: Plan) -> bool:
    return all(need.producer == START for needs in plan.needs for need in needs)
