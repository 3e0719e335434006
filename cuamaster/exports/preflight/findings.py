"""Findings of a preflight: counts by check and file with a few examples of each, kept small however many problems there are."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from pydantic import AwareDatetime, ValidationError

from cuamaster.exports.datafiles import identity
from cuamaster.exports.preflight.problem import CHECKS, Level, Problem, Rules
from cuamaster.records.record import Record
from cuamaster.tables import write_atomic

EXAMPLES = 5
PREFLIGHT = "preflight.json"
"""Where findings lie beside the files that they are of; the card and the report tell them."""


class Finding(Record):
    """One check that found something in one file."""

    check: str
    level: Level
    file: str
    count: int
    examples: tuple[Problem, ...]

    @property
    def meaning(self) -> str:
        """What the check wants."""
        return CHECKS[self.check][1]


class Findings(Record):
    """What a preflight found in the dataset with this identity; `checks` are the ones that were made."""

    dataset: str
    made: AwareDatetime
    checks: tuple[str, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def blocking(self) -> int:
        """Problems that forbid a release."""
        return sum(finding.count for finding in self.findings if finding.level == "blocking")

    @property
    def warnings(self) -> int:
        """Problems to look at."""
        return sum(finding.count for finding in self.findings if finding.level == "warning")


def collect(problems: Iterable[Problem], rules: Rules, *, dataset: str, now: datetime) -> Findings:
    """Count problems; blocking checks first, then by the order of CHECKS."""
    counts: dict[tuple[str, str], int] = {}
    examples: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        key = (problem.check, problem.file)
        counts[key] = counts.get(key, 0) + 1
        few = examples.setdefault(key, [])
        if len(few) < EXAMPLES:
            few.append(problem)
    order = list(CHECKS)
    found = [
        Finding(check=check, level=examples[check, file][0].level, file=file, count=count, examples=tuple(examples[check, file]))
        for (check, file), count in counts.items()
    ]  # fmt: skip
    found.sort(key=lambda item: (item.level != "blocking", order.index(item.check), item.file))
    checks = tuple(check for check in rules.checks if rules.level(check) != "off")
    return Findings(dataset=dataset, made=now, checks=checks, findings=tuple(found))


def write_findings(folder: Path, findings: Findings) -> Path:
    """Leave the findings beside the files. Raises StoreFull, StoreUnwritable."""
    path = folder / PREFLIGHT
    write_atomic(path, findings.model_dump_json(indent=2).encode())
    return path


def read_findings(folder: Path) -> Findings | None:
    """The findings of these very files; None if there are none, or only those of files that were there before."""
    try:
        findings = Findings.model_validate_json((folder / PREFLIGHT).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
    return findings if findings.dataset == identity(folder) else None
