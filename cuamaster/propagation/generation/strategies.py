"""The four ways to compose, told apart by who meets whose needs."""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.propagation.generation.facts import START
from cuamaster.propagation.generation.plan import Plan
from cuamaster.records.condition import Condition, FileExists, FileText, WindowTitle
from cuamaster.records.filling import placeholders, substitute, unify
from cuamaster.records.primitive import Primitive
from cuamaster.records.reasoning import implies
from cuamaster.records.task import Strategy

_DATA = (
    "file.exists",
    "file.text",
    "file.table",
    "document.cell",
    "clipboard.text",
    "image.size",
    "command.output",
    "setting.value",
)
ALL_STRATEGIES: tuple[Strategy, ...] = ("sequential", "parameterized", "state_dependent", "cross_app_handoff")


def may_follow(strategy: Strategy, plan: Plan, primitive: Primitive) -> bool:
    """Whether a primitive is worth trying as the next use; cheap, before arguments are chosen."""
    used = [use.primitive for use in plan.uses]
    if not used:
        return not raises_window(primitive) and (strategy != "parameterized" or bool(primitive.parameters))
    if fetches_window(primitive) and fetches_window(used[-1]):
        return False
    if strategy == "parameterized":
        return primitive == used[0]
    if strategy == "sequential":
        return primitive.app == used[0].app and not _among(primitive, used)
    return not _among(primitive, used)


def _among(primitive: Primitive, used: Sequence[Primitive]) -> bool:
    """`in`, which compares whole records, asked of a long plan a thousand times over."""
    return any(
        other is primitive or (other.ability == primitive.ability and other.app == primitive.app and other == primitive)
        for other in used
    )


def fetches_window(primitive: Primitive) -> bool:
    """Whether a primitive only brings its application to the front: a means within a task, no end of one."""
    windows = all(isinstance(effect, WindowTitle) for effect in primitive.effects)
    in_front = any(isinstance(c, WindowTitle) and c.active for c in primitive.preconditions)
    return windows and not in_front


def raises_window(primitive: Primitive) -> bool:
    """Whether it brings a window to the front that is open already."""
    return fetches_window(primitive) and any(isinstance(c, WindowTitle) for c in primitive.preconditions)


def handoffs(pool: Sequence[Primitive]) -> list[tuple[Primitive, Primitive]]:
    """Pairs of different applications in which data that the first one makes is what the second one needs."""
    made = [
        (p, substitute(e, {name: f"x{name}" for name in placeholders(e)}))
        for p in pool
        for e in p.effects
        if e.kind in _DATA
    ]
    wanted = [(p, c) for p in pool for c in p.preconditions if c.kind in _DATA]
    pairs = [
        (first, second)
        for first, effect in made
        for second, need in wanted
        if first.app != second.app and _alike(effect, need) and _serves(effect, need)
    ]
    return list({(a.id, b.id): (a, b) for a, b in pairs}.values())


def _alike(effect: Condition, need: Condition) -> bool:
    """Whether paths, where both have one, begin alike up to the first parameter: most pairs need no closer look."""
    path, wanted = getattr(effect, "path", None), getattr(need, "path", None)
    return path is None or wanted is None or str(path).startswith(str(wanted).split("{", 1)[0])


def _serves(effect: Condition, need: Condition) -> bool:
    alike = unify(need, effect, {})
    if alike is not None:
        return implies(effect, substitute(need, alike | {name: name for name in placeholders(need) - set(alike)}))
    if isinstance(need, FileExists) and isinstance(effect, FileText):
        return _serves(FileExists(path=effect.path, type="file"), need)
    return False


def cast_of(pair: tuple[Primitive, Primitive], pool: Sequence[Primitive]) -> list[Primitive]:
    """The primitives a handoff may take: the two, what brings their applications to the front, what the first one needs."""
    first, second = pair
    kinds = {condition.kind for condition in first.preconditions}
    helpers = [p for p in pool if p.app == first.app and not fetches_window(p) and kinds & {e.kind for e in p.effects}]
    fetchers = [p for p in pool if fetches_window(p) and p.app in (first.app, second.app)]
    return list({p.id: p for p in (first, second, *fetchers, *helpers)}.values())


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
    return bool(producers - {START}) or fetches_window(plan.uses[last].primitive)


def fits(strategy: Strategy, plan: Plan) -> bool:
    """Whether a finished plan is what the strategy promises.

    sequential: different uses of one application, none needs another's effect. parameterized: one primitive with different
    arguments throughout. state_dependent: each use needs an effect of the one before it. cross_app_handoff: the last use needs
    data (a file, the clipboard, a setting; not merely a window) that another application's use has made.
    """
    count = len(plan.uses)
    primitives = [use.primitive for use in plan.uses]
    if count < 2 or fetches_window(primitives[-1]):
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
