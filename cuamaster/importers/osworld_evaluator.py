"""OSWorld evaluators as verifiers of our language; what stands in the way of one is named, all of it.

How metrics are joined: `_set_evaluator_info` and `evaluate` in desktop_env/desktop_env.py of github.com/xlang-ai/OSWorld.
"""

from __future__ import annotations

from typing import Any

from cuamaster.errors import CheckFailed, Unmappable
from cuamaster.importers.osworld_files import TaskFiles
from cuamaster.importers.osworld_getters import SUPPORTED_GETTERS, resolve
from cuamaster.importers.osworld_metrics import METRICS
from cuamaster.importers.osworld_tables import SUPPORTED_RULES, known_rules
from cuamaster.records.condition import AnyOf, Condition, EpisodeFinish, Not
from cuamaster.records.filling import placeholders
from cuamaster.records.parts import conjoin

FEASIBLE = Not(of=EpisodeFinish(status="infeasible"))
"""OSWorld gives no credit to a policy that ended with FAIL, whatever stands on the disk."""


def verifier_of(evaluator: Any, files: TaskFiles, where: str) -> tuple[Condition | None, list[Unmappable]]:
    """The verifier, or None with everything that stands in its way."""
    if not isinstance(evaluator, dict) or "func" not in evaluator:
        return None, [Unmappable(f"{where}: no evaluator with a func", reason="malformed", names=("evaluator",))]
    func = evaluator["func"]
    if func == "infeasible":
        return EpisodeFinish(status="infeasible"), []
    several = isinstance(func, list)
    names = func if several else [func]
    columns = {key: _column(evaluator.get(key), several, len(names)) for key in ("result", "expected", "options")}
    wrong = [key for key, column in columns.items() if column is None]
    conj = evaluator.get("conj", "and")
    if wrong or not names or conj not in ("and", "or"):
        what = ", ".join([*wrong, *([] if conj in ("and", "or") else ["conj"])]) or "func"
        return None, [Unmappable(f"{where}: {what} does not go with func", reason="malformed", names=("evaluator",))]
    parts: list[Condition] = []
    faults: list[Unmappable] = []
    for index, name in enumerate(names):
        given = [(columns[key] or [])[index] for key in ("result", "expected", "options")]
        try:
            parts.append(_metric(name, given[0], given[1], given[2] or {}, files, f"{where}.{name}"))
        except Unmappable as exc:
            faults.append(exc)
    if faults:
        return None, faults
    whole = conjoin([*parts, FEASIBLE]) if conj == "and" else conjoin([AnyOf(of=tuple(parts)), FEASIBLE])
    holes = sorted(placeholders(whole))
    if holes:  # would be taken for parameters of a primitive
        return None, [Unmappable(f"{where}: holds {{{holes[0]}}}", reason="unsupported-evaluator", names=("braces",))]
    return whole, []


def _column(value: Any, several: bool, count: int) -> list[Any] | None:
    """One entry for each metric; None when the number is wrong."""
    if not value:
        return [None] * count
    if not several:
        return [value]
    return value if isinstance(value, list) and len(value) == count else None


def _metric(name: Any, result: Any, expected: Any, options: Any, files: TaskFiles, where: str) -> Condition:
    metric = METRICS.get(name) if isinstance(name, str) else None
    if metric is None:
        raise Unmappable(f"{where}: no condition does this", reason="unsupported-evaluator", names=(str(name),))
    try:
        if name == "compare_table":
            known_rules(options.get("rules"), where)  # told even when the files to compare with are not there
        return metric(resolve(result, files, where), resolve(expected, files, where), options, where)
    except CheckFailed as exc:
        raise Unmappable(f"{where}: {exc}", reason="bad-file", names=(name,)) from exc
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as exc:
        if isinstance(exc, Unmappable):
            raise
        raise Unmappable(f"{where}: {type(exc).__name__} {exc}", reason="malformed", names=(name,)) from exc


SUPPORTED = {
    "metrics": (*METRICS, "infeasible"),
    "getters": SUPPORTED_GETTERS,
    "rules of compare_table": SUPPORTED_RULES,
}
"""What has a translation, for the documentation."""
