"""Plans: sequences of primitive uses over imagined facts; extended one use at a time, each precondition accounted for.

A precondition is met by a fact (of the start, or an earlier use's effect) or by adding to the start state what the primitive
knows to set up, provided the whole plan, played again from that start, still holds together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from cuamaster.propagation.generation.facts import START, Fact, Facts, progress, satisfied, setup_facts, supporter
from cuamaster.records.condition import Condition, Not, WindowTitle
from cuamaster.records.filling import placeholders, substitute, unify
from cuamaster.records.parts import conjuncts, leaves
from cuamaster.records.primitive import Parameter, Primitive, SetupStep
from cuamaster.records.reasoning import consistent
from cuamaster.records.task import PrimitiveUse
from cuamaster.records.templates import fill_text

_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_MAX_BINDINGS = 8
_MAX_FACTS_TRIED = 4


@dataclass(frozen=True)
class Need:
    """A ground precondition of a use and whose effect meets it (START: the start state)."""

    condition: Condition
    producer: int


@dataclass(frozen=True)
class Plan:
    """Ground setup and uses; the facts at the start, after everything; the needs of every use."""

    setup: tuple[SetupStep, ...] = ()
    uses: tuple[PrimitiveUse, ...] = ()
    start: Facts = ()
    facts: Facts = ()
    needs: tuple[tuple[Need, ...], ...] = ()

    @property
    def apps(self) -> tuple[str, ...]:
        """Applications in order of first use."""
        return tuple(dict.fromkeys(use.primitive.app for use in self.uses))


def ground(conditions: Sequence[Condition], arguments: Mapping[str, str]) -> tuple[Condition, ...]:
    """Filled in and flattened into conjuncts."""
    return tuple(part for condition in conditions for part in conjuncts(substitute(condition, arguments)))


def ground_setup(primitive: Primitive, arguments: Mapping[str, str]) -> tuple[SetupStep, ...]:
    """The primitive's setup with its parameters filled in."""
    filled: list[SetupStep] = []
    for step in primitive.setup:
        data = step.model_dump()
        args = tuple(fill_text(arg, arguments) for arg in step.args)
        texts = {key: fill_text(value, arguments) for key, value in data.items() if isinstance(value, str)}
        filled.append(SetupStep.model_validate({**texts, "args": args}))
    return tuple(filled)


def simulate(setup: Sequence[SetupStep], uses: Sequence[PrimitiveUse]) -> Plan | None:
    """Play a plan on facts; None when a precondition is unmet, an effect is no change, or P or E contradict themselves."""
    known = setup_facts(setup)
    if not consistent(known):
        return None
    start = tuple(Fact(condition) for condition in dict.fromkeys(known))
    plan: Plan | None = Plan(tuple(setup), (), start, start, ())
    for use in uses:
        plan = _played(plan, use) if plan is not None else None
    return plan


def _played(plan: Plan, use: PrimitiveUse) -> Plan | None:
    """The plan with one more use, carried out in its last state."""
    before = ground(use.primitive.preconditions, use.arguments)
    if not all(satisfied(condition, plan.facts) for condition in before):
        return None
    after = ground(use.primitive.effects, use.arguments)
    goals = ground([use.primitive.verifier], use.arguments)
    if all(satisfied(goal, plan.facts) for goal in goals) or not (consistent(before) and consistent(after)):
        return None
    needs = tuple(Need(condition, _producer(condition, plan.facts)) for condition in before)
    facts = progress(plan.facts, (*after, *goals), len(plan.uses))
    return replace(plan, uses=(*plan.uses, use), facts=facts, needs=(*plan.needs, needs))


def _producer(condition: Condition, facts: Facts) -> int:
    """Whose effect meets a need. That something is absent is an effect only where it was made so (a file deleted)."""
    if isinstance(condition, Not):
        facts = tuple(fact for fact in facts if isinstance(fact.condition, Not))
    fact = supporter(condition, facts)
    return fact.producer if fact is not None else START


def extend(plan: Plan, primitive: Primitive, rng: Random) -> Iterator[Plan]:
    """Plans with one more use of `primitive`, likelier arguments (those that meet earlier effects) first."""
    if plan.uses and not _in_reach(plan, primitive):
        return
    for arguments in _bindings(plan, primitive, rng):
        use = PrimitiveUse(primitive=primitive, arguments=arguments)
        extra = ground_setup(primitive, arguments)
        if plan.uses:
            extra = _missing_setup(plan, use, extra)
        if plan.uses and _apart(plan, extra):
            added = tuple(Fact(condition) for condition in setup_facts(extra))
            plan_with = replace(
                plan,
                setup=_before_launches(plan.setup, extra),
                start=(*plan.start, *added),
                facts=(*added, *plan.facts),
            )
            grown = _played(plan_with, use)
        else:
            grown = simulate(_before_launches(plan.setup, extra), (*plan.uses, use))
        if grown is not None and _undisturbed(plan, grown):
            yield grown


def _before_launches(setup: Sequence[SetupStep], extra: Sequence[SetupStep]) -> tuple[SetupStep, ...]:
    """Both, files first, since an application is launched with them; the one launched last stays the one with the focus."""
    files = dict.fromkeys(step for step in (*setup, *extra) if step.kind != "app.launch")
    return (*files, *(step for step in (*extra, *setup) if step.kind == "app.launch"))


def _apart(plan: Plan, extra: Sequence[SetupStep]) -> bool:
    """Whether setup steps only make files that nothing in the plan speaks of: then the plan holds with them as it did without.

    Playing a long plan again for every file that its next use needs takes a time that grows with the square of its length.
    """
    if any(step.kind not in ("file.write", "dir.make") for step in extra):
        return False
    spoken = {path for fact in (*plan.start, *plan.facts) for path in _paths_of(fact.condition)}
    spoken |= {path for needs in plan.needs for need in needs for path in _paths_of(need.condition)}
    return not any(_related(step.path, path) for step in extra for path in spoken)


def _paths_of(condition: Condition) -> Iterator[str]:
    return (str(leaf.path) for leaf in leaves(condition) if hasattr(leaf, "path"))


def _related(one: str, two: str) -> bool:
    return one == two or one.startswith(two.rstrip("/") + "/") or two.startswith(one.rstrip("/") + "/")


def _in_reach(plan: Plan, primitive: Primitive) -> bool:
    """Setup cannot put another window in front once a plan has begun: the focus a primitive needs must be there."""
    focused = {f.condition.app for f in plan.facts if isinstance(f.condition, WindowTitle) and f.condition.active}
    wanted = {c.app for c in primitive.preconditions if isinstance(c, WindowTitle) and c.active and c.app}
    return wanted <= focused


def _undisturbed(plan: Plan, grown: Plan) -> bool:
    """What was added to the start does not take over the part an earlier effect played."""
    return grown.needs[: len(plan.uses)] == plan.needs


def _missing_setup(plan: Plan, use: PrimitiveUse, setup: Sequence[SetupStep]) -> tuple[SetupStep, ...]:
    """The steps of the primitive's own setup that bring about preconditions nothing in the plan meets."""
    missing = [c for c in ground(use.primitive.preconditions, use.arguments) if not satisfied(c, plan.facts)]
    files = [step for step in setup if step.kind != "app.launch"]
    chosen: list[SetupStep] = []
    for step in setup:
        around = [*files, step] if step.kind == "app.launch" else [step]
        gained = tuple(Fact(c) for c in setup_facts(around))
        helping = (
            setup_facts([step])
            if step.kind != "app.launch"
            else tuple(f.condition for f in gained if supporter(f.condition, plan.start) is None)
        )
        background = tuple(Fact(_in_background(c)) for c in helping)
        if any(supporter(condition, background) is not None for condition in missing):
            needed = [file for file in files if file.path and file.path in step.args]
            chosen += [item for item in (*needed, step) if item not in chosen and item not in plan.setup]
    return tuple(chosen)


def _in_background(condition: Condition) -> Condition:
    return condition.model_copy(update={"active": False}) if condition.kind == "window.title" else condition


# --- arguments ---------------------------------------------------------------------------------------------------


def _bindings(plan: Plan, primitive: Primitive, rng: Random) -> Iterator[dict[str, str]]:
    taken = {value for use in plan.uses for value in use.arguments.values()}
    seen: set[tuple[tuple[str, str], ...]] = set()
    open_ends = [c for c in primitive.preconditions if placeholders(c) and not isinstance(c, Not)]
    names = {part for fact in plan.facts for part in str(getattr(fact.condition, "path", "")).split("/")}
    for partial in _matched(open_ends, plan.facts, {}):
        if not all(p.name not in partial or _plausible(p, partial[p.name], names) for p in primitive.parameters):
            continue
        arguments = _completed(primitive.parameters, partial, taken, rng)
        if arguments is None:
            continue
        key = tuple(sorted(arguments.items()))
        if key not in seen:
            seen.add(key)
            yield arguments
        if len(seen) >= _MAX_BINDINGS:
            return


def _plausible(parameter: Parameter, value: str, names: set[str]) -> bool:
    """A file's name read off a window's title must be the name of a file ("Untitled" is none), and a number one."""
    if parameter.kind in ("filename", "dirname"):
        return value in names or value in parameter.examples
    return parameter.kind != "number" or bool(_NUMBER.fullmatch(value))


def _matched(patterns: Sequence[Condition], facts: Facts, bound: dict[str, str]) -> Iterator[dict[str, str]]:
    """Arguments read off the facts, latest facts first; every pattern may also be left to the setup."""
    if not patterns:
        yield bound
        return
    head, rest = patterns[0], patterns[1:]
    fits = []
    for fact in reversed(facts):
        found = unify(head, fact.condition, bound)
        if found is not None and supporter(substitute(head, found), (fact,)) is not None and found not in fits:
            fits.append(found)
    for found in fits[:_MAX_FACTS_TRIED]:
        yield from _matched(rest, facts, found)
    if placeholders(head) - set(bound):  # leave it to the setup, with fresh values
        yield from _matched(rest, facts, bound)


def _completed(
    parameters: Sequence[Parameter], partial: Mapping[str, str], taken: set[str], rng: Random
) -> dict[str, str] | None:
    arguments = dict(partial)
    used = taken | set(arguments.values())
    pairs: dict[str, int] = {}
    for parameter in parameters:
        if parameter.name in arguments:
            if arguments[parameter.name] in parameter.examples:
                pairs[parameter.paired_with or parameter.name] = parameter.examples.index(arguments[parameter.name])
            elif parameter.paired_with:
                return None
    for parameter in sorted(parameters, key=lambda p: bool(p.paired_with)):
        if parameter.name in arguments:
            continue
        group = parameter.paired_with or parameter.name
        free = [i for i, example in enumerate(parameter.examples) if example not in used]
        index = pairs.get(group, rng.choice(free) if free else -1)
        if not 0 <= index < len(parameter.examples):
            return None
        pairs[group] = index
        arguments[parameter.name] = parameter.examples[index]
        used.add(parameter.examples[index])
    return arguments
