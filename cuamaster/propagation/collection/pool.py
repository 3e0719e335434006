"""Shares a host's desktops among collectors: acquire a lease, check for room, clone, use, release."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cuamaster.errors import HostBusy
from cuamaster.ports import Desktop, DesktopHost, Lease, Leases

log = logging.getLogger(__name__)

HEARTBEATS = 3
"""Renewals within one time to live: two may be late before the lease is lost."""


class DesktopPool:
    """A desktop host that never gives more than `capacity` desktops at once to all processes sharing `leases`.

    `clock` gives seconds since the epoch; `room` says why another clone does not fit now, or None; `wait` blocks for some
    seconds (time.sleep). A lease not renewed for `ttl` seconds is another collector's to take.
    """

    def __init__(
        self,
        host: DesktopHost,
        leases: Leases,
        *,
        capacity: int,
        owner: str,
        clock: Callable[[], float],
        wait: Callable[[float], None],
        room: Callable[[], str | None] = lambda: None,
        ttl: float = 60.0,
        patience: float = 600.0,
    ) -> None:
        self.name = host.name
        self._host = host
        self._leases = leases
        self._capacity = capacity
        self._owner = owner
        self._clock = clock
        self._wait = wait
        self._room = room
        self._ttl = ttl
        self._patience = patience

    @contextmanager
    def open(self, image: str) -> Iterator[Desktop]:
        """A desktop once a slot and room are there; raises HostBusy after `patience` seconds, else what the host raises."""
        lease = self._acquire()
        stop = threading.Event()
        heart = threading.Thread(target=self._beat, args=(lease, stop), name=f"lease-{lease.slot}", daemon=True)
        heart.start()
        try:
            with self._host.open(image) as desktop:
                yield desktop
        finally:
            stop.set()
            heart.join()
            self._leases.release(lease)

    def close(self) -> None:
        """End every desktop of the host."""
        self._host.close()

    def _acquire(self) -> Lease:
        deadline = self._clock() + self._patience
        pause = 0.05
        while True:
            for lapsed in self._leases.sweep(self._clock()):
                log.warning("slot %d on %s was left by %s", lapsed.slot, lapsed.host, lapsed.owner)
            obstacle = self._room()
            if obstacle is None:
                lease = self._leases.acquire(self.name, self._capacity, self._owner, self._ttl, self._clock())
                if lease is not None:
                    return lease
                obstacle = f"all {self._capacity} slots are taken"
            if self._clock() >= deadline:
                raise HostBusy(f"{self.name}: no desktop within {self._patience:g} s: {obstacle}")
            self._wait(pause)
            pause = min(2.0, pause * 1.5)

    def _beat(self, lease: Lease, stop: threading.Event) -> None:
        """Renew until told to stop; a lost lease is reported, the desktop's user goes on."""
        while not stop.wait(self._ttl / HEARTBEATS):
            try:
                lease = self._leases.renew(lease, self._ttl, self._clock())
            except HostBusy as exc:
                log.warning("%s", exc)
                return
