"""Rollback against from-scratch: success in a budget of 3 K executions of primitives, under the same injected faults.

`python benchmarks/rollback.py [--cells 5/1 20/3] [--tasks 200] [--desktop simulated|blind|libvirt] [--detector-errors 0.1]` runs what is
missing of the grid, prints the table beside the seed's figures and, on stdout, JSON with the machine's description. Every
finished episode is one line of `--state`; a run that was ended goes on where it stopped. `--report` only prints. `--part 1/2`
and `--part 2/2` are for two processes on one state. `--desktop blind` is the simulated one without hashes of files in its signatures.

Both arms are the same rollout, policy and faults; from scratch nothing is looked at before the policy has finished, and a
failed attempt leads back to the start. On a guest only tasks that get a certificate are run, as collection does. An execution
of a primitive errs at a rate at which from-scratch gives the seed's figure (`_rollback_cells.fault_rate`). A third of the
faults show at once, a third harm a file that one of the next five uses needs, a third come back until their use is done in
another way. What an oracle would execute under the same faults is told beside (`_rollback_bound.least`): one who knows a late
fault when it shows, and one who knows it at once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from _rollback_bound import least
from _rollback_cells import ATTEMPTS, CELLS, Cell, fault_rate, wilson
from _rollback_run import ARMS, Bench, Blind, Unencoded, compose, on_guest, row, run, simulated

from cuamaster.settings import Settings

Row = dict[str, Any]


def measure(bench: Bench, cells: Sequence[Cell], tasks: int, options: argparse.Namespace) -> Iterable[Row]:
    """Rows of the episodes that `options.state` does not hold yet, task by task through all cells, so that all grow evenly."""
    done = {(item["cell"], item["number"], item["arm"], *_kind(item)) for item in rows(options.state)}
    part, parts = options.part
    version = code()
    for number in range(part - 1, tasks, parts):
        for cell in cells:
            kind = (options.desktop, options.mode, options.detector_errors)
            missing = [arm for arm in ARMS if (cell.name, number, arm, *kind) not in done]
            task = compose(bench, cell, number, options.mode) if missing else None
            refused = bench.refused(task) if task else ""
            for arm in missing:
                head = {
                    "cell": cell.name,
                    "number": number,
                    "arm": arm,
                    **dict(zip(_KIND, kind, strict=True)),
                    "code": version,
                }
                if task is None or refused:
                    yield {**head, "outcome": "refused" if refused else "no-task", "message": refused}
                    continue
                begun = time.perf_counter()
                name, rate = f"{cell.name}-{number}", fault_rate(cell)
                episode, events = run(
                    bench, task, name, arm, rate=rate, seed=options.seed, mode=options.mode,
                    detector_errors=options.detector_errors, snapshots=options.snapshots,
                )  # fmt: skip
                seconds = round(time.perf_counter() - begun, 3)
                bound = {
                    when: least(task, name, rate=rate, seed=options.seed, mode=options.mode, at_once=when == "at_once")
                    for when in BOUNDS
                } if arm == "rollback" else {}  # fmt: skip
                yield {**head, **row(episode, events, task), "least": bound, "seconds": seconds}


_KIND = ("desktop", "mode", "detector_errors")
_KINDS = {"simulated": Unencoded, "blind": Blind}
BOUNDS = ("when_it_shows", "at_once")
_CODE = ("cuamaster/propagation/collection", "cuamaster/adapters/policies", "benchmarks")


def code() -> str:
    """Digest of the sources that decide what is measured, so that rows of other versions are not taken for this one's."""
    digest = hashlib.sha256()
    for folder in _CODE:
        for path in sorted((Path(__file__).resolve().parent.parent / folder).glob("*.py")):
            if folder != "benchmarks" or "rollback" in path.name:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _kind(item: Row) -> tuple[Any, ...]:
    return tuple(item[name] for name in _KIND)


def mend(state: Path) -> None:
    """Cut off the line in which a run was ended, so that the next one begins a line of its own."""
    if state.exists() and not (data := state.read_bytes()).endswith(b"\n"):
        os.truncate(state, data.rfind(b"\n") + 1)


def rows(state: Path) -> list[Row]:
    """Every complete line of the state file."""
    if not state.exists():
        return []
    found = []
    for line in state.read_text("utf-8").split("\n")[:-1]:
        found.append(json.loads(line))
    return found


def summary(items: Sequence[Row], cells: Sequence[Cell]) -> list[Row]:
    """One row a cell that has episodes: both arms in per cent with Wilson intervals, executions, and how well faults were located."""
    found: list[Row] = []
    for cell in cells:
        mine = [item for item in items if item["cell"] == cell.name]
        line: Row = {
            "cell": cell.name,
            "fault_rate": round(fault_rate(cell), 4),
            "seed": [cell.seed_scratch, cell.seed_rollback],
        }
        for arm in ARMS:
            told = [item for item in mine if item["arm"] == arm and item["outcome"] in ("passed", "failed")]
            passed = [item for item in told if item["outcome"] == "passed"]
            line[arm] = {
                "tasks": len(told),
                "per_cent": round(100 * len(passed) / len(told), 1) if told else None,
                "wilson": [round(edge, 1) for edge in wilson(len(passed), len(told))],
                "executed_over_k": _mean([item["executed"] / item["k"] for item in told]),
                "executed_over_k_of_passed": _mean([item["executed"] / item["k"] for item in passed]),
                "not_counted": len([item for item in mine if item["arm"] == arm]) - len(told),
            }
        line["rollback"]["located"] = locating(mine)
        bounds = [{when: n / item["k"] for when, n in item["least"].items()} for item in mine if item.get("least")]
        line["rollback"]["least_over_k"] = {when: _mean([bound[when] for bound in bounds]) for when in BOUNDS}
        if mine:
            found.append(line)
    return found


def locating(items: Iterable[Row]) -> Row:
    """How far from the earliest injected step the detector's answers were, in per cent, by when faults show."""
    told = [item for row_ in items if row_["arm"] == "rollback" for item in row_.get("located", ())]
    found: Row = {"genuine": sum(true is None for _, true, _ in told)}
    for name in ("own", "delayed"):
        off = [abs(step - true) for step, true, kind in told if true is not None and kind == name]
        found[name] = {
            "count": len(off),
            "exact": _share(off, 0),
            "within_one": _share(off, 1),
        }
    return found


def _share(off: Sequence[int], most: int) -> float | None:
    return round(100 * sum(distance <= most for distance in off) / len(off), 1) if off else None


def _mean(values: Sequence[float]) -> float | None:
    return round(statistics.mean(values), 3) if values else None


def table(lines: Sequence[Row]) -> str:
    """The summary in Markdown: the seed's figures beside ours, these with intervals and numbers of tasks."""
    out = [
        "| K/N | rate | from scratch: seed | ours | rollback: seed | ours | executed / K | oracle: when it shows, at once "
        "| located exactly: own, delayed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for line in lines:
        scratch, back, where = line["scratch"], line["rollback"], line["rollback"]["located"]
        out.append(
            f"| {line['cell']} | {line['fault_rate']:.3f} | {line['seed'][0]} | {_share_of(scratch)} | {line['seed'][1]} "
            f"| **{_share_of(back)}** | {back['executed_over_k']} | {', '.join(str(back['least_over_k'][when]) for when in BOUNDS)} "
            f"| {_exact(where['own'])}, {_exact(where['delayed'])} |"
        )
    return "\n".join(out)


def _share_of(arm: Row) -> str:
    low, high = arm["wilson"]
    return f"{arm['per_cent']} ({low}-{high}, {arm['tasks']} tasks)" if arm["tasks"] else "-"


def _exact(found: Row) -> str:
    return f"{found['exact']} % of {found['count']}" if found["count"] else "-"


def machine() -> Row:
    """Where this ran."""
    return {
        "cpus": os.cpu_count(), "machine": platform.machine(), "system": platform.platform(), "python": platform.python_version(),
        "load": [round(value, 1) for value in os.getloadavg()],
    }  # fmt: skip


def main() -> int:
    """Run what is missing, print the table on stderr and JSON on stdout."""
    options = _options()
    cells = [cell for cell in CELLS if not options.cells or cell.name in options.cells]
    if not options.report:
        options.state.parent.mkdir(parents=True, exist_ok=True)
        mend(options.state)
        settings = Settings(desktop="libvirt", mode=options.mode) if options.desktop == "libvirt" else None
        with (
            on_guest(settings) if settings else nullcontext(simulated(_KINDS[options.desktop])) as bench,
            options.state.open("a", encoding="utf-8") as out,
        ):
            for item in measure(bench, cells, options.tasks, options):
                out.write(json.dumps(item) + "\n")
                out.flush()
    kind = (options.desktop, options.mode, options.detector_errors)
    items = [item for item in rows(options.state) if _kind(item) == kind and item["number"] < options.tasks]
    lines = summary(items, cells)
    print(table(lines), file=sys.stderr)
    report = {
        "machine": machine(), "code": sorted({item.get("code", "") for item in items}), "budget": f"{ATTEMPTS} K executions", **dict(zip(_KIND, kind, strict=True)), "cells": lines,
        "located": locating(items), "leaks": sum(item.get("leaks", 0) for item in items),
        "seconds": round(sum(item.get("seconds", 0.0) for item in items), 1),
    }  # fmt: skip
    print(json.dumps(report, indent=1))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    workspace = Path(os.environ.get("CUAMASTER_WORKSPACE", "workspace"))
    parser.add_argument("--cells", nargs="*", default=[], choices=[cell.name for cell in CELLS], metavar="K/N")
    parser.add_argument("--tasks", type=int, default=200, help="tasks a cell")
    parser.add_argument("--desktop", choices=("simulated", "blind", "libvirt"), default="simulated")
    parser.add_argument("--mode", choices=("mixed", "gui", "cli"), default="mixed")
    parser.add_argument(
        "--detector-errors", type=float, default=0.0, help="share of locations moved to a neighbouring boundary"
    )
    parser.add_argument("--snapshots", type=int, default=6, help="kept in one episode at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, default=workspace / "bench" / "rollback.jsonl")
    parser.add_argument("--part", type=_part, default=(1, 1), metavar="I/N", help="every Nth task from the Ith on")
    parser.add_argument("--report", action="store_true", help="only print what there is")
    return parser.parse_args()


def _part(text: str) -> tuple[int, int]:
    part, parts = map(int, text.split("/"))
    if not 1 <= part <= parts:
        raise argparse.ArgumentTypeError(f"{text}: no such part")
    return part, parts


if __name__ == "__main__":
    sys.exit(main())
