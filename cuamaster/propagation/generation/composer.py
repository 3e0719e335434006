"""Composes K primitives over N applications into tasks (I, E, V), by progression of preconditions and effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from cuamaster.errors import InvalidInput
from cuamaster.propagation.generation.facts import satisfied
from cuamaster.propagation.generation.instruction import instruct
from cuamaster.propagation.generation.plan import Plan, extend, ground
from cuamaster.propagation.generation.strategies import ALL_STRATEGIES, fits, may_follow, on_course
from cuamaster.propagation.generation.verifier import idle_uses, synthesize
from cuamaster.records.primitive import Mode, Primitive
from cuamaster.records.task import Environment, Strategy, Task
from cuamaster.records.trajectory import Lineage

_NODES = 600
_TRIES = 12


class Surroundings(Protocol):
    """What the composer asks of an environment."""

    @property
    def image(self) -> str:
        """Name of the guest image."""

    @property
    def image_digest(self) -> str:
        """Its digest."""

    @property
    def screen(self) -> tuple[int, int]:
        """Width and height in pixels."""

    def supports(self, required: Sequence[str]) -> bool:
        """Whether all these capabilities are there."""


@dataclass(frozen=True)
class Guest:
    """A guest image as the composer sees it."""

    image: str
    image_digest: str
    capabilities: frozenset[str]
    screen: tuple[int, int] = (1280, 800)

    def supports(self, required: Sequence[str]) -> bool:
        """Whether all these capabilities are there."""
        return self.capabilities.issuperset(required)


class PrimitiveComposer:
    """Builds tasks of min..max primitives by the given strategies; the same seed gives the same tasks."""

    def __init__(
        self, min_primitives: int = 2, max_primitives: int = 4, strategies: Sequence[Strategy] = ALL_STRATEGIES, *, mode: Mode = "gui"
    ) -> None:
        unknown = set(strategies) - set(ALL_STRATEGIES)
        if not 1 <= min_primitives <= max_primitives:
            raise InvalidInput(f"min_primitives {min_primitives} and max_primitives {max_primitives}: 1 <= min <= max is needed")
        if unknown or not strategies:
            raise InvalidInput(f"strategies: unknown {sorted(unknown)}" if unknown else "strategies: name at least one")
        self._sizes = range(min_primitives, max_primitives + 1)
        self._strategies = tuple(strategies)
        self._mode: Mode = mode

    def compose(
        self,
        library: Iterable[Primitive],
        environment: Surroundings,
        *,
        count: int,
        seed: int,
        apps: Sequence[str] | None = None,
        prefer: Sequence[str] = (),
        names: Mapping[str, str] | None = None,
        domains: Mapping[str, str] | None = None,
        max_apps: int | None = None,
    ) -> list[Task]:
        """At most `count` different tasks, strategies in turn; fewer when the library gives no more.

        `apps`: only primitives of these; `prefer`: ids of primitives of which each should be in some task, as far as possible;
        `names`, `domains`: application id -> display name, domain; `max_apps`: at most so many applications in a task.
        """
        pool = [p for p in library if environment.supports(sorted(set(p.requires))) and p.procedure(self._mode) is not None]
        pool = [p for p in pool if apps is None or p.app in apps]
        wanted = [p.id for p in pool if p.id in set(prefer)]
        tasks: dict[tuple[object, ...], Task] = {}
        turn = 0
        while pool and len(tasks) < count and turn < count * _TRIES:
            rng = Random(f"{seed}/{turn}")
            strategy = self._strategies[turn % len(self._strategies)]
            uncovered = [w for w in wanted if not any(w in _ids(task.plan) for task in tasks.values())]
            # a required primitive may not suit every strategy: after two rounds of turns it is no longer insisted on
            required = uncovered[turn % len(uncovered)] if uncovered and turn < 2 * len(self._strategies) * len(wanted) else None
            plan = self._search(pool, strategy, rng.choice(self._sizes), rng, required, max_apps)
            turn += 1
            if plan is None:
                continue
            task = _task(plan, strategy, environment, rng, seed, names or {}, domains or {})
            tasks.setdefault((strategy, *sorted(_ids(plan.uses))), task)
        return list(tasks.values())

    def _search(
        self, pool: Sequence[Primitive], strategy: Strategy, size: int, rng: Random, required: str | None, max_apps: int | None
    ) -> Plan | None:
        budget = [_NODES]

        def finished(plan: Plan) -> bool:
            return fits(strategy, plan) and (required is None or required in _ids(plan.uses)) and not idle_uses(plan) and synthesize(plan) is not None

        def promising(plan: Plan) -> bool:
            return on_course(strategy, plan) and (max_apps is None or len(plan.apps) <= max_apps)

        return _grow(Plan(), pool, strategy, size, rng, required, budget, finished, promising)


def _grow(
    plan: Plan,
    pool: Sequence[Primitive],
    strategy: Strategy,
    size: int,
    rng: Random,
    required: str | None,
    budget: list[int],
    finished: Callable[[Plan], bool],
    promising: Callable[[Plan], bool],
) -> Plan | None:
    if len(plan.uses) == size:
        return plan if finished(plan) else None
    candidates = [p for p in pool if may_follow(strategy, plan, p)]
    rng.shuffle(candidates)
    candidates.sort(key=lambda p: p.id != required)
    for primitive in candidates:
        for grown in extend(plan, primitive, rng):
            budget[0] -= 1
            if budget[0] < 0:
                return None
            if not promising(grown):
                continue
            found = _grow(grown, pool, strategy, size, rng, required, budget, finished, promising)
            if found is not None:
                return found
    return None


def _ids(uses: Iterable[object]) -> list[str]:
    return [use.primitive.id for use in uses]  # type: ignore[attr-defined]


def _task(
    plan: Plan, strategy: Strategy, environment: Surroundings, rng: Random, seed: int, names: Mapping[str, str], domains: Mapping[str, str]
) -> Task:
    verifier = synthesize(plan)
    assert verifier is not None  # _search accepts no other plan
    needed = [c for use in plan.uses for c in ground(use.primitive.preconditions, use.arguments)]
    steps = sum(len(procedure.steps) for use in plan.uses if (procedure := use.primitive.procedure("gui")) is not None)
    return Task(
        instruction=instruct(plan, names, rng),
        environment=Environment(
            image=environment.image,
            image_digest=environment.image_digest,
            capabilities=tuple(sorted({item for use in plan.uses for item in use.primitive.requires})),
            setup=plan.setup,
            established=tuple(dict.fromkeys(c for c in needed if satisfied(c, plan.start))),
            screen=environment.screen,
        ),
        verifier=verifier,
        plan=plan.uses,
        strategy=strategy,
        domain=domains.get(plan.uses[0].primitive.app, ""),
        max_steps=max(20, 4 * steps),
        timeout_s=max(300.0, 60.0 * steps),
        seed=seed,
        lineage=_lineage(plan),
    )


def _lineage(plan: Plan) -> tuple[Lineage, ...]:
    ids = tuple(_ids(plan.uses))
    videos = [evidence for use in plan.uses for evidence in use.primitive.evidence if evidence.kind == "video"]
    found = [Lineage(video_id=e.source, t_start=e.t_start, t_end=e.t_end, primitive_ids=ids) for e in dict.fromkeys(videos)]
    return tuple(found) or (Lineage(primitive_ids=ids),)
