"""What rounds add up to: deltas, sampling weights by domain, K and N, and which tasks are worth training on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from cuamaster.exports.options import Options
from cuamaster.exports.rl import Released
from cuamaster.exports.samples import MAX_INSTRUCTION
from cuamaster.records.episode import Dropped
from cuamaster.records.record import Record

SMOOTHING = 0.5
"""Exponent of a cell's share: 1 samples as collected, 0 gives every cell the same; a half lies between, as for languages."""

Key = tuple[str, int, int]


class Delta(Record):
    """What one round added to the union."""

    round: int
    samples: int
    rows: int


class Cell(Record):
    """One domain and difficulty: how many samples, and how much more often than by chance each should be drawn."""

    domain: str
    K: int
    N: int
    samples: int
    weight: float


class Tally:
    """Counts samples and rows as they are written."""

    def __init__(self) -> None:
        self._samples: Counter[int] = Counter()
        self._rows: Counter[int] = Counter()
        self._cells: Counter[Key] = Counter()

    def add(self, round_number: int, cell: Key, rows: int) -> None:
        """Count one sample that became so many rows."""
        self._samples[round_number] += 1
        self._rows[round_number] += rows
        self._cells[cell] += 1

    def deltas(self) -> tuple[Delta, ...]:
        """One entry a round that added something."""
        return tuple(
            Delta(round=number, samples=self._samples[number], rows=self._rows[number])
            for number in sorted(self._samples)
        )

    def weights(self) -> tuple[Cell, ...]:
        """One entry a cell."""
        weights = sampling_weights(self._cells)
        return tuple(
            Cell(domain=key[0], K=key[1], N=key[2], samples=self._cells[key], weight=weight)
            for key, weight in sorted(weights.items())
        )


def sampling_weights(counts: Mapping[Key, int], smoothing: float = SMOOTHING) -> dict[Key, float]:
    """Weight of a sample of each cell: proportional to count ** (smoothing - 1), its mean over all samples 1."""
    total = sum(counts.values())
    raw = {key: count ** (smoothing - 1) for key, count in counts.items() if count}
    scale = total / sum(counts[key] * weight for key, weight in raw.items()) if raw else 1.0
    return {key: round(weight * scale, 6) for key, weight in raw.items()}


def worth_training(tasks: Iterable[Released], options: Options) -> Iterator[Released | Dropped]:
    """The tasks of the wanted difficulty that the base policy neither always nor never solves; the others with the reason."""
    for item in tasks:
        problem = _unwanted(item, options)
        yield Dropped(item_id=item.task.id, stage="export", reason=problem[0], detail=problem[1]) if problem else item


def _unwanted(item: Released, options: Options) -> tuple[str, str] | None:
    k, n = item.task.k, item.task.n
    if len(item.task.instruction) > MAX_INSTRUCTION:
        return (
            "instruction-too-long",
            f"{len(item.task.instruction)} characters; at most {MAX_INSTRUCTION} are exported",
        )
    if k < options.min_k or (options.max_k is not None and k > options.max_k):
        return "difficulty", f"K = {k}"
    if n < options.min_n or (options.max_n is not None and n > options.max_n):
        return "difficulty", f"N = {n}"
    if item.attempts >= options.min_attempts and item.passed in (0, item.attempts):
        return "always-solved" if item.passed else "never-solved", f"{item.passed} of {item.attempts} first attempts"
    return None
