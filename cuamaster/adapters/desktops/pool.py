"""Shares the desktops of one or several hosts among collectors: wait for a lease and for room, open, use, give back."""

from __future__ import annotations

import contextlib
import logging
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cuamaster.adapters.desktops.leased import LeasedDesktop
from cuamaster.adapters.leases.heart import Heart, Hold
from cuamaster.adapters.leases.owner import owner_name
from cuamaster.adapters.leases.sqlite import machine_seconds
from cuamaster.errors import HostBusy
from cuamaster.ports import Desktop, DesktopHost, Leases

log = logging.getLogger(__name__)
SWEEP_SECONDS = 5.0


@dataclass(frozen=True)
class Member:
    """A host of the pool. `name` is the machine's: all collectors that name it alike share its `capacity` slots."""

    name: str
    host: DesktopHost
    capacity: int


class DesktopPool:
    """A desktop host made of others, that never gives more desktops than there are slots, whoever shares the lease table.

    `flow`: collectors with the same name take their turns from one share. A lease that is not renewed for `ttl` seconds is
    lost: its desktop is closed, and its slot somebody else's. `patience`: seconds that `open` waits for a slot and for room.
    """

    name = "pool"

    def __init__(
        self,
        members: Sequence[Member],
        leases: Leases,
        *,
        flow: str,
        ttl: float = 60.0,
        patience: float = 3600.0,
        pause: float = 0.5,
        owner: str | None = None,
        clock: Callable[[], float] = machine_seconds,
    ) -> None:
        """Sweeps what dead collectors left in the table. `pause`: longest time between two looks for a free slot."""
        self._members = {member.name: member for member in members}
        self._leases = leases
        self._flow, self._owner = flow, owner or owner_name()
        self._patience, self._pause, self._clock = patience, pause, clock
        self._heart = Heart(leases, ttl, clock)
        self._asking = threading.Lock()
        self._freed = threading.Event()
        self._swept = -SWEEP_SECONDS
        self._sweep()

    @contextlib.contextmanager
    def open(self, image: str) -> Iterator[Desktop]:
        """A desktop once a slot and room are there; raises HostBusy after `patience` seconds, else what its host raises."""
        with self._lease(image, list(self._members.values()), self._patience) as hold:
            member = self._members[hold.lease.host]
            with member.host.open(image) as desktop:
                yield LeasedDesktop(desktop, hold, lambda: self._lease(image, [member], 0.0))

    def room(self, image: str) -> str | None:
        """Why no host has room for one more, or None."""
        obstacles = [obstacle for _, obstacle in self._looked_over(image, list(self._members.values()))]
        return None if None in obstacles else "; ".join(filter(None, obstacles))

    def close(self) -> None:
        """End every desktop of all hosts."""
        for member in self._members.values():
            member.host.close()

    @contextlib.contextmanager
    def _lease(self, image: str, members: Sequence[Member], patience: float) -> Iterator[Hold]:
        hold = self._acquire(image, members, patience)
        try:
            yield hold
        finally:
            self._heart.drop(hold)
            try:
                self._leases.release(hold.lease)
            except HostBusy as exc:  # it will run out by itself
                log.warning("slot %d on %s could not be given back: %s", hold.lease.slot, hold.lease.host, exc)
            self._freed.set()

    def _acquire(self, image: str, members: Sequence[Member], patience: float) -> Hold:
        """One thread of this process asks at a time, so that its other threads cost the table nothing while they wait."""
        deadline = self._clock() + patience
        busy = f"{', '.join(member.name for member in members)}: no desktop within {patience:g} s"
        if not self._asking.acquire(timeout=patience):
            raise HostBusy(f"{busy}: others of this process wait too")
        try:
            return self._asked(image, members, deadline, busy, wait=patience > 0)
        finally:
            self._asking.release()

    def _asked(self, image: str, members: Sequence[Member], deadline: float, busy: str, *, wait: bool) -> Hold:
        request, pause = uuid.uuid4().hex, self._pause / 16
        try:
            while True:
                self._freed.clear()
                self._sweep()
                looked = self._looked_over(image, members)
                obstacles = [f"{member.name}: {obstacle}" for member, obstacle in looked if obstacle is not None]
                fit = {member.name: member.capacity for member, obstacle in looked if obstacle is None}
                if fit:
                    asked = self._clock()
                    lease = self._leases.acquire(
                        fit, owner=self._owner, flow=self._flow, ttl=self._heart.ttl, request=request, wait=wait
                    )
                    if lease is not None:
                        return self._heart.hold(lease, asked)
                    obstacles.append(f"all of {sum(fit.values())} slots are taken or others come first")
                if self._clock() >= deadline:
                    raise HostBusy(f"{busy}: {'; '.join(obstacles)}", hint="`cuamaster doctor` lists the leases")
                self._freed.wait(pause)
                pause = min(self._pause, pause * 1.5)
        except BaseException:
            if wait:
                with contextlib.suppress(HostBusy):  # a place in the queue is lost by itself too
                    self._leases.withdraw(request)
            raise

    @staticmethod
    def _looked_over(image: str, members: Sequence[Member]) -> list[tuple[Member, str | None]]:
        return [(member, member.host.room(image)) for member in members]

    def _sweep(self) -> None:
        if self._clock() - self._swept < SWEEP_SECONDS:
            return
        self._swept = self._clock()
        for lapsed in self._leases.sweep():
            log.warning("slot %d on %s was left by %s", lapsed.slot, lapsed.host, lapsed.owner)
