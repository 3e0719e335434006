"""How fast the taxonomy loads, finds names in titles and plans a round's searches; JSON on stdout."""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from cuamaster.records.episode import PlanCell, RoundPlan
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.seeding.search_plan import plan_searches
from cuamaster.seeding.taxonomy import load


def seconds(work: Callable[[], object], times: int) -> float:
    """The median of several runs, in seconds of this process's own time, so that a busy machine counts less."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return statistics.median(taken)


def titles(taxonomy: Taxonomy, count: int, seed: int) -> list[str]:
    """Half are searches with something behind them, in all languages; half are words that name nothing."""
    chance = random.Random(seed)
    words = "how we made this in a day with friends at home and what came of it 2024 part one".split()  # noqa: SIM905
    codes = sorted(taxonomy.words)
    found = []
    for number in range(count):
        tail = " ".join(chance.choices(words, k=7))
        if number % 2:
            code, app = chance.choice(codes), chance.choice(taxonomy.apps)
            action = chance.choice(taxonomy.words[code].actions)
            name = chance.choice(app.search_names(code))
            found.append((action if "{app}" in action else f"{{app}} {action}").replace("{app}", name) + " " + tail)
        else:
            found.append(tail)
    return found


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--titles", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    taxonomy = load()
    some = titles(taxonomy, options.titles, seed=0)
    fresh = Taxonomy(domains=taxonomy.domains, words=taxonomy.words)
    first = seconds(lambda: fresh.match("nothing"), 1)
    found = [taxonomy.match(title) for title in some]  # warm: patterns are built at their first use
    every = RoundPlan(
        round=1,
        cells=tuple(
            PlanCell(app=app.id, domain="d", videos=10, tasks=0, k=1, n=1, reason="benchmark") for app in taxonomy.apps
        ),
    )
    planned = plan_searches(taxonomy, every, sorted(taxonomy.words), providers=("site",))
    took = seconds(lambda: [taxonomy.match(title) for title in some], options.repeat)
    report: dict[str, Any] = {
        "machine": {"platform": platform.platform(), "python": platform.python_version(), "processor": platform.machine()},
        "applications": len(taxonomy.apps), "names": sum(len(app.spellings) for app in taxonomy.apps), "languages": len(taxonomy.words),
        "load_s": seconds(load, options.repeat), "first_match_s": first, "titles": len(some), "titles_naming_something": sum(map(bool, found)),
        "titles_per_s": len(some) / took, "searches_planned": planned.requests,
        "plan_s": seconds(lambda: plan_searches(taxonomy, every, sorted(taxonomy.words), providers=("site",)), options.repeat),
    }  # fmt: skip
    json.dump(report, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
