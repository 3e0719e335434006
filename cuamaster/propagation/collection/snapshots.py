"""The stable boundaries of one episode: taken, kept within a bound, returned to, and retired when they prove rotten."""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.errors import NoRoom, StateDrift
from cuamaster.ports import Desktop, Policy
from cuamaster.propagation.collection.doubts import Doubts
from cuamaster.records.condition import Condition
from cuamaster.records.episode import Boundary
from cuamaster.records.trajectory import StateSignature
from cuamaster.records.verdict import Check

STILL_TRIES = 3
DISK_BUDGET = 1280 << 20
"""Bytes that the snapshots of one episode may take: a host wants to see a little more free before it starts a clone."""


class Snapshots:
    """Boundaries on the kept path, oldest first; the first is the start and is never given up."""

    def __init__(
        self, desktop: Desktop, episode_id: str, files: Sequence[str], limit: int = 6, disk_budget: int = DISK_BUDGET
    ) -> None:
        """`files` are hashed into every signature; at most `limit` (>= 2) snapshots are kept, in `disk_budget` bytes.

        Start and newest are kept whatever they take.
        """
        self._desktop = desktop
        self._prefix = episode_id
        self._files = tuple(files)
        self._limit = max(2, limit)
        self._disk_budget = disk_budget
        self._taken = 0
        self._kept: list[Boundary] = []
        self.history: list[Boundary] = []
        """Every boundary on the kept path, oldest first, those whose snapshot was dropped as well."""
        self._doubts = Doubts()

    def forked(self, desktop: Desktop, name: str) -> Snapshots:
        """The same boundaries on a fork of the desktop, which has all snapshots; new ones begin with `name`."""
        twin = Snapshots(desktop, name, self._files, self._limit, self._disk_budget)
        twin._kept = list(self._kept)
        twin.history = list(self.history)
        twin._doubts = self._doubts.copy()
        return twin

    def take(self, node: int, use: int, checks: Sequence[Check], policy: Policy) -> Boundary:
        """Snapshot the desktop once it holds still, giving up older ones where number or disk demand it.

        Raises StateDrift when it never holds still, NoRoom when not even start and newest fit, other DesktopFaults.
        """
        label = f"{self._prefix}-s{self._taken}"
        parent = self._kept[-1].label if self._kept else ""
        signature = self._saved(label)
        self._taken += 1
        boundary = Boundary(
            label=label,
            node=node,
            use=use,
            parent=parent,
            bytes=self._desktop.snapshot_sizes().get(label, 0),
            signature=signature,
            checks=tuple(checks),
            controller=policy.state(),
        )
        self._kept.append(boundary)
        self.history.append(boundary)
        self._doubts.reached(len(self.history) - 1)
        while len(self._kept) > self._limit or (len(self._kept) > 2 and self._bytes() > self._disk_budget):
            self._drop(self._sparest())
        return boundary

    def _bytes(self) -> int:
        return sum(boundary.bytes for boundary in self._kept)

    @property
    def last(self) -> Boundary:
        """The newest boundary."""
        return self._kept[-1]

    def usable(self, failed: frozenset[Condition] = frozenset()) -> list[Boundary]:
        """Those worth returning to, given the conditions that failed just now; the start always is.

        A boundary is passed over once it may be wrong itself (`doubts.py`).
        """
        newest = len(self.history) - 1
        places = {boundary.label: place for place, boundary in enumerate(self.history)}
        return [
            boundary
            for boundary in self._kept
            if boundary is self._kept[0] or self._doubts.sound(boundary.label, places[boundary.label], newest, failed)
        ]

    def back_to(
        self, label: str, failed: frozenset[Condition] = frozenset(), *, departed: bool = False, slipped: bool = False
    ) -> Boundary:
        """Roll the desktop back, attested, after `failed`; drops the boundaries of the abandoned branch. Raises StateDrift.

        `departed`: since the boundary something was done that the plan does not say; `slipped`: since the newest one.
        """
        index = next(index for index, boundary in enumerate(self._kept) if boundary.label == label)
        self._desktop.rollback(label)
        place = next(place for place, boundary in enumerate(self.history) if boundary.label == label)
        self._doubts.returned(label, place, len(self.history) - 1, failed, departed=departed, slipped=slipped)
        for boundary in self._kept[:index:-1]:
            self._drop(boundary)
        self.history = [boundary for boundary in self.history if boundary.node <= self._kept[index].node]
        return self._kept[index]

    def close(self) -> None:
        """Free all snapshots."""
        while self._kept:
            self._drop(self._kept[-1])

    def _saved(self, label: str) -> StateSignature:
        tries = 0
        while True:
            try:
                return self._desktop.snapshot(label, self._files)
            except StateDrift:  # something is still opening or closing
                tries += 1
                if tries == STILL_TRIES:
                    raise
                self._desktop.settle(timeout=5.0, quiet=1.0)
            except NoRoom:
                if len(self._kept) < 2:
                    raise
                self._drop(self._sparest())

    def _sparest(self) -> Boundary:
        """The boundary whose loss costs the fewest steps to be expected; never the start, never the newest two.

        A mistake that shows late seldom shows very late: the further back a boundary lies, the seldomer it is returned to, so
        the kept ones stand close together near the end and ever further apart towards the start.
        """
        newest = self._kept[-1].node

        def loss(index: int) -> float:
            gap = self._kept[min(index + 1, len(self._kept) - 1)].node - self._kept[index - 1].node
            return gap / (1 + newest - self._kept[index].node)

        return self._kept[min(range(1, max(2, len(self._kept) - 2)), key=loss)]

    def _drop(self, boundary: Boundary) -> None:
        self._kept.remove(boundary)
        self._doubts.forget(boundary.label)
        self._desktop.drop_snapshot(boundary.label)
