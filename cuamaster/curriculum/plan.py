"""The next round's plan: more to what failed, less to what is saturated, a floor for what nobody has tried."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from cuamaster.errors import UnknownName
from cuamaster.records.episode import PlanCell, RoundPlan
from cuamaster.records.profile import ProfileRow

EXPLORE_SHARE = 0.2
"""Part of each budget that goes to applications without any judged attempt."""
SATURATED = 0.8
"""First-attempt rate from which on an application gets harder tasks instead of more of them."""
STRUGGLING = 0.4
"""First-attempt rate below which its tasks get easier."""
MIN_ATTEMPTS = 2
MAX_K, MAX_N = 40, 5
WEAK_ABILITIES = 3
"""How many of an application's abilities tutorials are searched for by name."""


@dataclass(frozen=True)
class _Seen:
    attempts: int = 0
    passed: int = 0

    @property
    def need(self) -> float:
        """Expected failure rate with one passed and one failed attempt assumed, so that few attempts say little; 0-1."""
        return 1 - (self.passed + 1) / (self.attempts + 2)


def first_plan(
    domains: Mapping[str, str],
    *,
    videos: int,
    tasks: int,
    k: int = 2,
    n: int = 1,
    seed: int = 0,
    round_number: int = 1,
    kept: Mapping[str, int] | None = None,
) -> RoundPlan:
    """A plan without results to follow: `videos` and `tasks` spread evenly over the applications of `domains` (application
    id -> domain), beginning with those that have the fewest `kept` tasks (application id -> number)."""
    order = _starving(_shuffled(domains, seed, round_number), kept)
    even = dict.fromkeys(order, 1.0)
    for_videos, for_tasks = _share(even, videos), _share(even, tasks)
    cells = [
        PlanCell(
            app=app, domain=domains[app], videos=for_videos[app], tasks=for_tasks[app], k=k, n=n, reason="spread evenly"
        )
        for app in order
        if for_videos[app] or for_tasks[app]
    ]
    return RoundPlan(round=round_number, cells=_sorted(cells), seed=seed)


def next_plan(
    previous: RoundPlan,
    rows: Iterable[ProfileRow],
    domains: Mapping[str, str],
    *,
    seed: int = 0,
    runnable: Collection[str] | None = None,
    policy: str | None = None,
    kept: Mapping[str, int] | None = None,
) -> RoundPlan:
    """Re-divide the previous round's budgets of videos and tasks; the same arguments give the same plan.

    `domains`: application id -> domain, for every application that may be explored. `runnable`: those that some guest image
    has; the others get videos only (None: all). `policy`: whose failures count (None: everybody's). `kept`: tasks found so
    far by application; of those without any attempt, the poorest are explored first. Raises UnknownName for
    an application of the plan or the profile that `domains` does not know. Give rows of attempts at the previous plan's difficulty.
    """
    rows = list(rows)
    seen, weak = _seen(rows, policy), _weak(rows, policy)
    before = {cell.app: cell for cell in previous.cells}
    for app in [*before, *seen]:
        if app not in domains:
            raise UnknownName(
                f"application {app!r} of the plan or profile is not in the taxonomy",
                hint="see the files under taxonomy/",
            )
    can_run = set(domains if runnable is None else runnable)
    known = [app for app in domains if app in before or app in seen]
    strangers = {app: domain for app, domain in domains.items() if app not in known}
    fresh = _starving(_shuffled(strangers, seed, previous.round + 1), kept)
    videos = _divide(sum(cell.videos for cell in previous.cells), known, fresh, seen)
    tasks = _divide(
        sum(cell.tasks for cell in previous.cells),
        [a for a in known if a in can_run],
        [a for a in fresh if a in can_run],
        seen,
    )
    cells = []
    for app in domains:
        if videos.get(app) or tasks.get(app):
            k, n, reason = _difficulty(before.get(app), seen.get(app, _Seen()), max(1, min(MAX_N, len(can_run))))
            cells.append(
                PlanCell(
                    app=app,
                    domain=domains[app],
                    videos=videos.get(app, 0),
                    tasks=tasks.get(app, 0),
                    k=k,
                    n=n,
                    reason=reason,
                    capabilities=weak.get(app, ()),
                )
            )
    return RoundPlan(round=previous.round + 1, cells=_sorted(cells), seed=seed)


def _seen(rows: Iterable[ProfileRow], policy: str | None) -> dict[str, _Seen]:
    found: dict[str, _Seen] = {}
    for row in rows:
        if row.by == "app" and policy in (None, row.policy) and row.attempts:
            old = found.get(row.value, _Seen())
            found[row.value] = _Seen(old.attempts + row.attempts, old.passed + row.passed)
    return found


def _weak(rows: Iterable[ProfileRow], policy: str | None) -> dict[str, tuple[str, ...]]:
    """Application -> its abilities that failed most, in words, the worst first."""
    found: dict[tuple[str, str], _Seen] = {}
    for row in rows:
        if row.by == "ability" and policy in (None, row.policy) and row.attempts:
            app, _, ability = row.value.rpartition(".")
            old = found.get((app, ability), _Seen())
            found[app, ability] = _Seen(old.attempts + row.attempts, old.passed + row.passed)
    weak: dict[str, list[str]] = {}
    for (app, ability), seen in sorted(found.items(), key=lambda item: (-item[1].need, item[0])):
        if seen.passed / seen.attempts < SATURATED and len(weak.setdefault(app, [])) < WEAK_ABILITIES:
            weak[app].append(ability.replace("-", " "))
    return {app: tuple(abilities) for app, abilities in weak.items()}


def _starving(order: list[str], kept: Mapping[str, int] | None) -> list[str]:
    """The same order, but those with the fewest kept tasks before the others."""
    return sorted(order, key=lambda app: (kept or {}).get(app, 0))


def _divide(total: int, known: list[str], fresh: list[str], seen: Mapping[str, _Seen]) -> dict[str, int]:
    """Units for each application: a share for fresh ones (at least one unit where there are two or more), the rest by need."""
    explored = min(len(fresh), max(1 if total > 1 else 0, int(total * EXPLORE_SHARE)))
    fresh_units = explored if known else total
    units = _share(dict.fromkeys(fresh[:fresh_units], 1.0), fresh_units)
    units.update(_share({app: seen.get(app, _Seen()).need ** 2 for app in known}, total - sum(units.values())))
    return units


def _share(weights: Mapping[str, float], total: int) -> dict[str, int]:
    """Whole units in proportion to the weights: one for each while they last (heaviest first), the rest by largest remainder."""
    order = sorted(weights, key=lambda name: -weights[name])
    floor = {name: int(index < total) for index, name in enumerate(order)}
    rest, weight = total - sum(floor.values()), sum(weights.values())
    if not order or rest <= 0:
        return floor
    exact = {name: rest * (weights[name] / weight if weight else 1 / len(order)) for name in order}
    units = {name: floor[name] + int(exact[name]) for name in order}
    by_remainder = sorted(order, key=lambda name: int(exact[name]) - exact[name])
    for name in by_remainder[: total - sum(units.values())]:
        units[name] += 1
    return units


def _difficulty(cell: PlanCell | None, seen: _Seen, max_n: int) -> tuple[int, int, str]:
    """K, N and the reason in words."""
    if cell is None and not seen.attempts:
        return 2, 1, "unexplored"
    k, n = (cell.k, cell.n) if cell else (2, 1)
    told = f"{seen.passed} of {seen.attempts} first attempts passed"
    if seen.attempts < MIN_ATTEMPTS:
        return k, n, f"{told}: too few to judge"
    rate = seen.passed / seen.attempts
    if rate >= SATURATED:
        harder = (min(MAX_K, k + 1), min(max_n, n + (k + 1) // 3 - k // 3))
        return *harder, f"{told}: saturated, K {k} -> {harder[0]}, N {n} -> {harder[1]}"
    if rate < STRUGGLING and k > 1:
        easier = (k - 1, min(n, k - 1))
        return *easier, f"{told}: failing, K {k} -> {easier[0]}, N {n} -> {easier[1]}"
    return k, n, f"{told}: more of the same"


def _shuffled(domains: Mapping[str, str], seed: int, round_number: int) -> list[str]:
    """Applications in an order that depends on the seed and the round, taking domains in turn."""
    chance = random.Random(f"{seed}-{round_number}")
    groups: dict[str, list[str]] = {}
    for app in sorted(domains):
        groups.setdefault(domains[app], []).append(app)
    queues = list(groups.values())
    chance.shuffle(queues)
    for queue in queues:
        chance.shuffle(queue)
    longest = max(map(len, queues), default=0)
    return [queue[index] for index in range(longest) for queue in queues if index < len(queue)]


def _sorted(cells: list[PlanCell]) -> tuple[PlanCell, ...]:
    return tuple(sorted(cells, key=lambda cell: (-cell.tasks, -cell.videos, cell.app)))
