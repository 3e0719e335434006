"""Keeps leases alive while their desktops are used, and ends the use of those that cannot be kept."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from cuamaster.errors import CuamasterError, DesktopFault, LeaseLost
from cuamaster.ports import Lease, Leases

log = logging.getLogger(__name__)
HEARTBEATS = 4
"""Renewals within one time to live: two may fail, and at the third failure a quarter is left to end the desktop in."""


@dataclass(eq=False)
class Hold:
    """A lease in use. `until` is reckoned from before the table was asked, so it ends before the table's own time does."""

    lease: Lease
    until: float
    clock: Callable[[], float]
    lost: bool = False
    _end: Callable[[], None] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Raises LeaseLost when the right has run out, also for a process that was stopped and did not notice."""
        if self.lost or self.clock() >= self.until:
            raise self.fault()

    def fault(self) -> LeaseLost:
        """What to raise once the lease is lost."""
        return LeaseLost(
            f"the lease of slot {self.lease.slot} on {self.lease.host} was not renewed in time",
            hint="was this process stopped, or is the lease table out of reach?",
        )

    def guard(self, end: Callable[[], None]) -> None:
        """`end` is called once if the lease is lost from now on, at once if it is lost already."""
        with self._lock:
            self._end = end
            lost = self.lost
        if lost:
            self.lose()

    def lose(self) -> None:
        """No more use: ends what the lease was for."""
        with self._lock:
            self.lost = True
            end, self._end = self._end, None
        if end is not None:
            try:
                end()
            except (DesktopFault, OSError) as exc:  # its user learns from the lease
                log.warning("ending the desktop of slot %d: %s", self.lease.slot, exc)


class Heart:
    """One thread that renews all leases of a process, started with the first and stopped after the last."""

    def __init__(self, table: Leases, ttl: float, clock: Callable[[], float]) -> None:
        self._table, self._clock = table, clock
        self.ttl = ttl
        self._pause = ttl / HEARTBEATS
        self._holds: list[Hold] = []
        self._changed = threading.Condition()
        self._beating = False

    def hold(self, lease: Lease, asked: float) -> Hold:
        """Begin to renew; `asked` is the clock just before the lease was asked for."""
        hold = Hold(lease, asked + self.ttl, self._clock)
        with self._changed:
            self._holds.append(hold)
            if not self._beating:
                self._beating = True
                threading.Thread(target=self._run, name="lease-heart", daemon=True).start()
        return hold

    def drop(self, hold: Hold) -> None:
        """Stop renewing."""
        with self._changed:
            self._holds.remove(hold)
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._holds, self._pause)
                if not self._holds:
                    self._beating = False
                    return
                holds = [hold for hold in self._holds if not hold.lost]
            if holds:
                self._beat(holds)

    def _beat(self, holds: list[Hold]) -> None:
        asked = self._clock()
        try:
            kept = {lease.id for lease in self._table.renew([hold.lease for hold in holds], self.ttl)}
        except CuamasterError as exc:  # whatever it is, it may pass before the leases run out
            log.warning("leases could not be renewed: %s", exc)
            lost = [hold for hold in holds if hold.until - self._clock() <= self._pause]
        else:
            lost = [hold for hold in holds if hold.lease.id not in kept]
            for hold in holds:
                if hold.lease.id in kept:
                    hold.until = asked + self.ttl
        with self._changed:
            used = [hold for hold in lost if hold in self._holds]  # the others were given back meanwhile
        for hold in used:
            log.warning("%s", hold.fault())
            hold.lost = True
        for hold in used:  # ending a machine may take long, and the other leases cannot wait
            threading.Thread(target=hold.lose, name="lease-lost", daemon=True).start()
