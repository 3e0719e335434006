"""Composes K primitives over N applications into tasks (I, E, V), by progression of preconditions and effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from cuamaster.errors import InvalidInput
from cuamaster.propagation.generation.facts import satisfied
from cuamaster.propagation.generation.instruction import instruct
from cuamaster.propagation.generation.plan import Plan, extend, ground
from cuamaster.propagation.generation.route import Route, undoes
from cuamaster.propagation.generation.strategies import ALL_STRATEGIES, cast_of, fits, handoffs, may_follow, on_course
from cuamaster.propagation.generation.verifier import idle_uses, synthesize
from cuamaster.records.primitive import Mode, Primitive
from cuamaster.records.task import Environment, Strategy, Task
from cuamaster.records.trajectory import Lineage

EVENLY: Mapping[Strategy, float] = dict.fromkeys(ALL_STRATEGIES, 1.0)
"""As many tasks by each strategy."""
_MOST = 1e6
_NODES = 160
_NODES_A_USE = 2
_CASTS = 12
_TRIES = 4


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
        self,
        min_primitives: int = 2,
        max_primitives: int = 4,
        strategies: Mapping[Strategy, float] = EVENLY,
        *,
        mode: Mode = "gui",
    ) -> None:
        """`strategies`: strategy -> its share of the tasks, in any unit; 0 leaves it out. Raises InvalidInput."""
        unknown = set(strategies) - set(ALL_STRATEGIES)
        wrong = [name for name, share in strategies.items() if not 0 <= share <= _MOST]
        if not 1 <= min_primitives <= max_primitives:
            raise InvalidInput(
                f"min_primitives {min_primitives} and max_primitives {max_primitives}: 1 <= min <= max is needed"
            )
        if unknown:
            raise InvalidInput(f"strategies: unknown {sorted(unknown)}", hint=f"there are {', '.join(ALL_STRATEGIES)}")
        if wrong:
            raise InvalidInput(f"strategies: the shares of {', '.join(wrong)} must be numbers from 0 to {_MOST:,.0f}")
        self._sizes = range(min_primitives, max_primitives + 1)
        total = sum(strategies.values())
        shares = {strategy: share / total for strategy, share in strategies.items() if share}
        self._shares = {strategy: share * len(shares) for strategy, share in shares.items() if share}
        if not self._shares:
            raise InvalidInput("strategies: give at least one a share above 0")
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
        min_apps: int = 1,
    ) -> list[Task]:
        """At most `count` different tasks, by each strategy about its share; fewer when the library gives no more.

        `apps`: only primitives of these; `prefer`: ids of primitives of which each should be in some task, as far as possible;
        `names`, `domains`: application id -> display name, domain; `min_apps`, `max_apps`: so many applications in a task.
        """
        pool = [
            p for p in library if environment.supports(sorted(set(p.requires))) and p.procedure(self._mode) is not None
        ]
        pool = [p for p in pool if apps is None or p.app in apps]
        wanted = [p.id for p in pool if p.id in set(prefer)]
        tasks: dict[tuple[object, ...], Task] = {}
        made, failed = Counter[Strategy](), Counter[Strategy]()
        turn = 0
        while pool and len(tasks) < count and turn < max(count, len(self._shares)) * _TRIES:
            rng = Random(f"{seed}/{turn}")
            strategy = min(self._shares, key=lambda s: self._rank(s, made[s], failed[s]))
            uncovered = [w for w in wanted if not any(w in _ids(task.plan) for task in tasks.values())]
            turn += 1
            sizes = rng.sample(self._sizes, len(self._sizes))
            search = _Search(pool, strategy, rng, min_apps, max_apps)
            # a wanted primitive does not suit every strategy: one without it is better than none
            for required in [*rng.sample(uncovered, min(2, len(uncovered))), None]:
                plan = next((found for size in sizes if (found := search.plan(size, required)) is not None), None)
                if plan is not None:
                    task = _task(plan, strategy, environment, rng, seed, names or {}, domains or {})
                    tasks.setdefault((strategy, *sorted(_ids(plan.uses))), task)
                    break
            new = len(tasks) - made.total()
            made[strategy] += new
            failed[strategy] += not new
        return list(tasks.values())

    def _rank(self, strategy: Strategy, made: int, failed: int) -> tuple[int, float]:
        """The lowest is next: what is furthest below its share. One that found nothing is tried again before the others go on, the
        more often the larger its share, but not for ever: it may not suit the library."""
        share = self._shares[strategy]
        return int(failed / max(1.0, _TRIES * share)), (made + 0.5) / share


class _Search:
    """Depth-first search for one plan by one strategy, with a budget of imagined steps."""

    def __init__(
        self, pool: Sequence[Primitive], strategy: Strategy, rng: Random, min_apps: int, max_apps: int | None
    ) -> None:
        self._pool = pool
        self._strategy = strategy
        self._rng = rng
        self._min_apps = min_apps
        self._max_apps = max_apps
        self._left = 0
        self._route: Route | None = None

    def plan(self, size: int, required: str | None) -> Plan | None:
        """A finished plan of `size` uses, with the required primitive in it if there is one; None when none was found."""
        if self._strategy == "cross_app_handoff" and self._min_apps > 2:
            return self._routed(size, required)
        if self._strategy == "parameterized":
            casts = [[p] for p in self._shuffled(self._pool, required)]
        elif self._strategy == "cross_app_handoff":
            pairs = handoffs(self._pool)
            casts = [cast_of(pair, self._pool) for pair in self._rng.sample(pairs, len(pairs))]
        else:
            casts = [list(self._pool)]
        if required is not None:
            casts = [cast for cast in casts if any(p.id == required for p in cast)]
        budget = _NODES
        for cast in casts[:_CASTS]:
            self._left = max(_NODES // 4, budget)
            found = self._grown(Plan(), cast, size, required)
            if found is not None:
                return found
            budget = self._left
        return None

    def _shuffled(self, primitives: Sequence[Primitive], first: str | None) -> list[Primitive]:
        mixed = self._rng.sample(list(primitives), len(primitives))
        return mixed if first is None else sorted(mixed, key=lambda p: p.id != first)

    def _grown(self, plan: Plan, cast: Sequence[Primitive], size: int, required: str | None) -> Plan | None:
        if len(plan.uses) == size:
            return plan if self._finished(plan, required) else None
        candidates = [p for p in cast if may_follow(self._strategy, plan, p)]
        candidates = self._shuffled(candidates, required)
        for primitive in self._route.order(candidates, plan, size) if self._route else candidates:
            for grown in extend(plan, primitive, self._rng):
                self._left -= 1
                if self._left < 0:
                    return None
                if self._route and undoes(grown):
                    continue
                if on_course(self._strategy, grown) and (self._max_apps is None or len(grown.apps) <= self._max_apps):
                    found = self._grown(grown, cast, size, required)
                    if found is not None:
                        return found
        return None

    def _routed(self, size: int, required: str | None) -> Plan | None:
        """With more applications than the two that hand over, anything may lie between them: the handoff is what is fixed.

        A long plan that has run into a dead end is better begun anew than mended at its end.
        """
        pairs = handoffs(self._pool)
        for _ in range(_CASTS if pairs else 0):
            self._route, self._left = Route(*self._rng.choice(pairs), self._min_apps), _NODES_A_USE * size
            found = self._grown(Plan(), self._pool, size, required)
            if found is not None:
                return found
        return None

    def _finished(self, plan: Plan, required: str | None) -> bool:
        return (
            fits(self._strategy, plan)
            and len(plan.apps) >= self._min_apps
            and (required is None or required in _ids(plan.uses))
            and not idle_uses(plan)
            and synthesize(plan) is not None
        )


def _ids(uses: Iterable[object]) -> list[str]:
    return [use.primitive.id for use in uses]  # type: ignore[attr-defined]


def _task(
    plan: Plan,
    strategy: Strategy,
    environment: Surroundings,
    rng: Random,
    seed: int,
    names: Mapping[str, str],
    domains: Mapping[str, str],
) -> Task:
    verifier = synthesize(plan)
    assert verifier is not None  # _search accepts no other plan
    steps = sum(len(procedure.steps) for use in plan.uses if (procedure := use.primitive.procedure("gui")) is not None)
    return Task(
        instruction=instruct(plan, names, rng),
        environment=start_of(plan, environment),
        verifier=verifier,
        plan=plan.uses,
        strategy=strategy,
        domain=domains.get(plan.uses[0].primitive.app, ""),
        max_steps=max(20, 4 * steps),
        timeout_s=max(300.0, 60.0 * steps),
        seed=seed,
        lineage=_lineage(plan),
    )


def start_of(plan: Plan, surroundings: Surroundings) -> Environment:
    """The environment in which a plan begins: what its uses need together, and what they find established."""
    needed = [c for use in plan.uses for c in ground(use.primitive.preconditions, use.arguments)]
    return Environment(
        image=surroundings.image,
        image_digest=surroundings.image_digest,
        capabilities=tuple(sorted({item for use in plan.uses for item in use.primitive.requires})),
        setup=plan.setup,
        established=tuple(dict.fromkeys(c for c in needed if satisfied(c, plan.start))),
        screen=surroundings.screen,
    )


def _lineage(plan: Plan) -> tuple[Lineage, ...]:
    ids = tuple(_ids(plan.uses))
    videos = [evidence for use in plan.uses for evidence in use.primitive.evidence if evidence.kind == "video"]
    found = [
        Lineage(video_id=e.source, t_start=e.t_start, t_end=e.t_end, primitive_ids=ids) for e in dict.fromkeys(videos)
    ]
    return tuple(found) or (Lineage(primitive_ids=ids),)
