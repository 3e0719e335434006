"""The grid of the rollback benchmark: K primitives over N applications, the seed's figures, and the fault rate of each cell."""

from __future__ import annotations

import math
from dataclasses import dataclass

ATTEMPTS = 3
"""The budget is ATTEMPTS x K executions of primitives: so many whole attempts from scratch."""


@dataclass(frozen=True)
class Cell:
    """One cell and, in per cent, the success that the seed reports for it."""

    k: int
    n: int
    seed_scratch: float
    seed_rollback: float

    @property
    def name(self) -> str:
        """As on the command line."""
        return f"{self.k}/{self.n}"


CELLS = (
    Cell(5, 1, 74.0, 95.4), Cell(10, 1, 53.0, 89.1), Cell(20, 1, 31.5, 83.7), Cell(10, 3, 29.2, 62.3), Cell(20, 3, 19.3, 56.9),
    Cell(40, 3, 14.6, 49.8), Cell(20, 5, 1.9, 32.8), Cell(40, 5, 0.4, 24.4), Cell(50, 8, 0.0, 18.7),
)  # fmt: skip


def scratch_success(rate: float, k: int) -> float:
    """Chance that one of ATTEMPTS whole attempts is without a fault, when each execution errs with `rate`.

    A third of the faults come back in every later attempt, since one who starts again does not know what to do in another way;
    but the first use, at which every attempt starts, is done in another way then.
    """
    clean, curable = (1 - rate) ** k, (1 - rate / 3) ** (k - 1)
    return sum(clean * (curable - clean) ** attempt for attempt in range(ATTEMPTS)) if rate else 1.0


def fault_rate(cell: Cell) -> float:
    """The rate at which from-scratch gives the seed's figure, by bisection; 50/8, where the seed has none, takes that of 40/5."""
    if cell.seed_scratch == 0:
        return fault_rate(next(other for other in CELLS if other.name == "40/5"))
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if scratch_success(middle, cell.k) > cell.seed_scratch / 100 else (low, middle)
    return low


def wilson(passed: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share, in per cent (Wilson 1927); (0, 100) for nothing."""
    if not total:
        return 0.0, 100.0
    share, spread = passed / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return 100 * max(0.0, middle - half), 100 * min(1.0, middle + half)
