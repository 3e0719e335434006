"""How exactly the rules detector finds injected faults, whether its feedback leaks, and how well planted leaks are recognized.

`python benchmarks/detector.py [--faults 1000] [--modes gui mixed]` prints JSON with the machine's description. Tasks of 12 primitives over
3 simulated applications are collected with an erring policy until so many faults have been located. The leaks of the feedback
that was given are looked for by a second, cruder way than the product's: any expected value of three characters and more, as a
part of the text. Planted leaks are honest feedback with one secret put in, in each of several forms.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from _rollback_cells import Cell
from _rollback_run import Bench, compose, located, run, simulated
from rollback import locating, machine

from cuamaster.propagation.collection.feedback import leaks
from cuamaster.records.parts import leaves
from cuamaster.records.primitive import Mode
from cuamaster.records.task import Task
from cuamaster.records.templates import fill_template

CELL = Cell(12, 3, 0.0, 0.0)
HONEST = "This should have come true and did not: the text of the file the task is about is right. Step 4 changed nothing on the screen."
_CHOICES = {"file.text", "file.exists", "window.title", "equals", "contains", "any", "file", "dir"}
FORMS = {
    "as it is": lambda secret: f"{HONEST} {secret}",
    "quoted": lambda secret: f'{HONEST} It must be "{secret}".',
    "in capitals": lambda secret: f"{HONEST} {secret.upper()} IS MISSING.",
    "other spacing": lambda secret: f"{HONEST} Try {'  '.join(secret.split())}!",
    "other punctuation": lambda secret: (
        f"{HONEST} Use {secret.replace('-', ' ').replace('+', '-').replace('/', ' / ')}, then go on."
    ),
    "half of it": lambda secret: f"{HONEST} It begins with {_half(secret)}",
}


def measure(bench: Bench, mode: Mode, faults: int, seed: int, rate: float = 0.15) -> dict[str, Any]:
    """Locations and given feedback of as many episodes as it takes to locate `faults` faults."""
    rows: list[dict[str, Any]] = []
    given = leaking = gated = 0
    words: Counter[str] = Counter()
    number = 0
    while sum(len(row["located"]) for row in rows) < faults:
        task = compose(bench, CELL, number, mode)
        number += 1
        if task is None:
            continue
        episode, events = run(bench, task, f"d-{number}", "rollback", rate=rate, seed=seed, mode=mode)
        rows.append({"arm": "rollback", "located": located(events), "outcome": episode.outcome})
        seen = _observed(events)
        for divergence in episode.divergences:
            given += 1
            words[" ".join(divergence.feedback.split(" ")[:3])] += 1
            leaking += any(
                value in divergence.feedback.casefold()
                for value in _values(task)
                if value not in f"{task.instruction} {seen}".casefold()
            )
        gated += sum(event["event"] == "leak" for event in events)
    return {
        **locating(rows), "episodes": len(rows), "passed": sum(row["outcome"] == "passed" for row in rows),
        "feedbacks": given, "leaking": leaking, "replaced_at_the_gate": gated, "openings": dict(words.most_common(5)),
    }  # fmt: skip


def planted(bench: Bench, tasks: int, seed: int) -> dict[str, Any]:
    """Recall of planted leaks by form, of honest feedback taken for a leak, and by what kind of secret was missed."""
    rng = random.Random(seed)
    found: dict[str, list[bool]] = {form: [] for form in FORMS}
    alarms = 0
    for number in range(tasks):
        task = compose(bench, CELL, number, "gui")
        if task is None:
            continue
        alarms += bool(leaks(HONEST, task, ()))
        known = f" {task.instruction} {HONEST} ".casefold()
        secrets = sorted({secret for secret in _secrets(task) if secret.casefold() not in known})
        for secret in rng.sample(secrets, min(20, len(secrets))):
            for form, words in FORMS.items():
                if form != "half of it" or len(secret.split()) > 4:
                    found[form].append(bool(leaks(words(secret), task, ())))
    recall = {form: round(100 * sum(hits) / len(hits), 1) if hits else None for form, hits in found.items()}
    return {"planted": sum(map(len, found.values())), "recall_per_cent": recall, "false_alarms": alarms, "tasks": tasks}


def _half(secret: str) -> str:
    words = secret.split()
    return " ".join(words[: max(3, len(words) // 2)])


def _secrets(task: Task) -> Iterator[str]:
    """What the oracle would do next, and what the verifier expects, in full."""
    yield from (value for leaf in leaves(task.verifier) for value in leaf.model_dump().values() if _telling(value))
    for use in task.plan:
        for procedure in use.primitive.procedures:
            for step in procedure.steps:
                filled = fill_template(step, use.arguments)
                yield from (value for value in filled.args.values() if _telling(value))
                if filled.target is not None and _telling(filled.target.text):
                    yield filled.target.text


def _telling(value: object) -> bool:
    """A text of some length that is a value, not the name of a choice in a condition's record."""
    return isinstance(value, str) and len(value) > 2 and value not in _CHOICES


def _values(task: Task) -> set[str]:
    return {secret.casefold() for secret in _secrets(task)}


def _observed(events: Sequence[dict[str, Any]]) -> str:
    nodes = [event["node"] for event in events if event["event"] == "node"]
    return " ".join(f"{node['observation']['active_window']} {node['observation']['response']}" for node in nodes)


def main() -> int:
    """Both measurements, as one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--faults", type=int, default=1000, help="located a mode")
    parser.add_argument("--modes", nargs="*", default=["gui", "mixed"], choices=["gui", "mixed", "cli"])
    parser.add_argument("--tasks", type=int, default=50, help="with planted leaks")
    parser.add_argument("--rate", type=float, default=0.15, help="at which an execution errs")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    bench, begun = simulated(), time.perf_counter()
    report = {
        "machine": machine(),
        "rate": options.rate,
        "modes": {mode: measure(bench, mode, options.faults, options.seed, options.rate) for mode in options.modes},
        "leaks": planted(bench, options.tasks, options.seed),
        "seconds": round(time.perf_counter() - begun, 1),
    }
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
