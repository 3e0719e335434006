"""What an importer says of one record of its source: what it became, and what of it could not be mapped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cuamaster.errors import InvalidInput, Unmappable
from cuamaster.records.episode import Dropped
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Trajectory

STAGE = "import"
NOT_MAPPED = "not-mapped"
"""The reason beside a record that was kept, for what of it has no place here."""
_MAX_LINE = 256 << 20
_MAX_TEXT = 1_000_000
_DETAIL = 2000


@dataclass(frozen=True)
class Found:
    """One record of the source: `id` is `<dataset>:<id there>`, the same at every run; `skipped`: an earlier run has done it."""

    id: str
    kept: tuple[Trajectory | Task, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    skipped: bool = False


Skip = Callable[[str], bool]
"""Whether a record of this id is done already, so that its pictures need not be read again."""


def never(_: str) -> bool:
    """Nothing is done yet."""
    return False


FAULTS = (InvalidInput, ValidationError)
"""What a record may do that stops it, and nothing else."""


def refused(item: str, *faults: Exception) -> Found:
    """A record that is not kept, with one row a reason; its detail begins with the names it is about, to be counted."""
    item = told(item)
    reasons: dict[str, list[Exception]] = {}
    for fault in faults:
        reasons.setdefault(getattr(fault, "reason", "malformed"), []).append(fault)
    dropped = []
    for reason, group in reasons.items():
        names = ", ".join(dict.fromkeys(name for fault in group for name in getattr(fault, "names", ())))
        words = "; ".join(map(str, group))
        detail = f"[{names}] {words}" if names else words
        dropped.append(Dropped(item_id=item, stage=STAGE, reason=reason, detail=told(detail[:_DETAIL])))
    return Found(item, dropped=tuple(dropped))


def lost(item: str, names: Counter[str]) -> tuple[Dropped, ...]:
    """What of a kept record has no place here, with how often; nothing when everything has one."""
    if not names:
        return ()
    words = ", ".join(f"{name} x{count}" for name, count in sorted(names.items()))
    return (Dropped(item_id=item, stage=STAGE, reason=NOT_MAPPED, detail=told(f"[{words}]"[:_DETAIL])),)


def told(text: str) -> str:
    """A text that can be stored: JSON may hold halves of characters."""
    return text.encode("utf-8", "replace").decode()


def named(dropped: Iterable[Dropped]) -> Counter[tuple[str, str]]:
    """How many records a (reason, name) stands in; a reason without names is counted under ''."""
    found: Counter[tuple[str, str]] = Counter()
    for item in dropped:
        inside = item.detail[1:].partition("]")[0] if item.detail.startswith("[") else ""
        names = {name.rpartition(" x")[0] or name for name in inside.split(", ")} if inside else {""}
        found.update((item.reason, name) for name in names)
    return found


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | Unmappable]]:
    """(line number from 1, object) of a JSONL file, one line in memory at a time; Unmappable for a line that is none.

    Raises InvalidInput when the file itself cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number in range(1, 1 << 62):
                line = file.readline(_MAX_LINE + 1)
                if not line:
                    return
                if len(line) > _MAX_LINE:
                    while line and not line.endswith(b"\n"):
                        line = file.readline(_MAX_LINE)
                    yield (
                        number,
                        Unmappable(f"{path}, line {number}: longer than {_MAX_LINE >> 20} MiB", reason="too-big"),
                    )
                elif line.strip():
                    yield number, _object(line, path, number)
    except OSError as exc:
        raise InvalidInput(f"{path}: {exc.strerror or exc}") from exc


def _object(line: bytes, path: Path, number: int) -> dict[str, Any] | Unmappable:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as exc:
        return Unmappable(f"{path}, line {number}: not JSON: {exc}", reason="not-json")
    if not isinstance(data, dict):
        return Unmappable(f"{path}, line {number}: not an object", reason="not-json")
    return data


def text_of(data: Any, key: str, where: str, *, empty: bool = False) -> str:
    """A string field of an object; raises Unmappable when it is missing, no string, (unless `empty`) blank, or too long."""
    value = data.get(key) if isinstance(data, dict) else None
    if isinstance(value, str) and len(value) > _MAX_TEXT:
        raise Unmappable(f"{where}: {key} has {len(value)} characters", reason="too-big", names=(key,))
    if not isinstance(value, str) or not (empty or value.strip()):
        raise Unmappable(f"{where}: {key} must be a text, got {_short(value)}", reason="malformed", names=(key,))
    return value


def list_of(data: Any, key: str, where: str) -> list[Any]:
    """A list field of an object; raises Unmappable (malformed)."""
    value = data.get(key) if isinstance(data, dict) else None
    if not isinstance(value, list):
        raise Unmappable(f"{where}: {key} must be a list, got {_short(value)}", reason="malformed", names=(key,))
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
