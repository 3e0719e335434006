"""The stable boundaries of one episode: taken, kept within a bound, returned to, and retired when they prove rotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cuamaster.ports import Desktop, Policy
from cuamaster.records.episode import Boundary
from cuamaster.records.verdict import Check

MAX_FAILURES = 2


class Snapshots:
    """Boundaries on the kept path, oldest first; the first is the start and is never given up."""

    def __init__(self, desktop: Desktop, episode_id: str, files: Sequence[str], limit: int = 6) -> None:
        """`files` are hashed into every signature; at most `limit` (>= 2) snapshots are kept on disk."""
        self._desktop = desktop
        self._prefix = episode_id
        self._files = tuple(files)
        self._limit = max(2, limit)
        self._taken = 0
        self._kept: list[Boundary] = []
        self._failures: Counter[str] = Counter()

    def take(self, node: int, use: int, checks: Sequence[Check], policy: Policy) -> Boundary:
        """Snapshot the desktop now; raises DesktopFault when it cannot be saved."""
        label = f"{self._prefix}-s{self._taken}"
        signature = self._desktop.snapshot(label, self._files)
        self._taken += 1
        boundary = Boundary(label=label, node=node, use=use, signature=signature, checks=tuple(checks), controller=policy.state())
        self._kept.append(boundary)
        if len(self._kept) > self._limit:
            self._drop(self._sparest())
        return boundary

    @property
    def last(self) -> Boundary:
        """The newest boundary."""
        return self._kept[-1]

    def usable(self) -> list[Boundary]:
        """Those worth returning to: once attempts from one have failed twice it may be wrong itself, so it is passed over."""
        sound = [boundary for boundary in self._kept[1:] if self._failures[boundary.label] < MAX_FAILURES]
        return [self._kept[0], *sound]

    def back_to(self, label: str) -> Boundary:
        """Roll the desktop back, attested; drops the boundaries of the abandoned branch. Raises StateDrift."""
        index = next(index for index, boundary in enumerate(self._kept) if boundary.label == label)
        self._desktop.rollback(label)
        self._failures[label] += 1
        for boundary in self._kept[index + 1 :]:
            self._desktop.drop_snapshot(boundary.label)
        del self._kept[index + 1 :]
        return self._kept[index]

    def close(self) -> None:
        """Free all snapshots."""
        while self._kept:
            self._drop(self._kept[-1])

    def _sparest(self) -> Boundary:
        """The boundary whose loss costs the fewest steps; never the start, never the newest two."""
        candidates = range(1, max(2, len(self._kept) - 2))
        return self._kept[min(candidates, key=lambda index: self._kept[index + 1].node - self._kept[index - 1].node)]

    def _drop(self, boundary: Boundary) -> None:
        self._kept.remove(boundary)
        self._desktop.drop_snapshot(boundary.label)
