"""The lease table in one SQLite file: collectors of one machine share its desktop slots through it."""

from __future__ import annotations

import os
import socket
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from cuamaster.errors import HostBusy
from cuamaster.ports import Lease

_SCHEMA = """
CREATE TABLE IF NOT EXISTS leases (
    id TEXT NOT NULL UNIQUE, host TEXT NOT NULL, slot INTEGER NOT NULL, owner TEXT NOT NULL, expires REAL NOT NULL,
    PRIMARY KEY (host, slot)
)
"""
_WAIT_SECONDS = 30.0
"""How long a statement waits for another process's transaction, which takes milliseconds."""


def owner_name() -> str:
    """Who holds a lease: this machine and process, as `hostname:pid`."""
    return f"{socket.gethostname()}:{os.getpid()}"


class SqliteLeases:
    """Leases in `path`; every call is one transaction, so any number of processes may share the file."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        with self._transaction() as table:
            table.execute(_SCHEMA)

    def acquire(self, host: str, capacity: int, owner: str, ttl: float, now: float) -> Lease | None:
        """The lowest free slot of `host` until now + ttl, or None when all are taken; expired leases count as free."""
        with self._transaction() as table:
            self._remove_lapsed(table, now)
            taken = {slot for (slot,) in table.execute("SELECT slot FROM leases WHERE host = ?", (host,))}
            slot = next((number for number in range(capacity) if number not in taken), None)
            if slot is None:
                return None
            lease = Lease(id=uuid.uuid4().hex, host=host, slot=slot, owner=owner, expires=now + ttl)
            table.execute("INSERT INTO leases VALUES (?, ?, ?, ?, ?)", (lease.id, host, slot, owner, lease.expires))
            return lease

    def renew(self, lease: Lease, ttl: float, now: float) -> Lease:
        """Extend to now + ttl; raises HostBusy when somebody swept or took it meanwhile."""
        with self._transaction() as table:
            changed = table.execute("UPDATE leases SET expires = ? WHERE id = ?", (now + ttl, lease.id)).rowcount
        if not changed:
            raise HostBusy(
                f"the lease of slot {lease.slot} on {lease.host} was lost", hint="it was not renewed in time"
            )
        return Lease(id=lease.id, host=lease.host, slot=lease.slot, owner=lease.owner, expires=now + ttl)

    def release(self, lease: Lease) -> None:
        """Give back; nothing happens when it is gone already."""
        with self._transaction() as table:
            table.execute("DELETE FROM leases WHERE id = ?", (lease.id,))

    def sweep(self, now: float) -> list[Lease]:
        """Remove and return leases that expired or whose owner, a process of this machine, is dead."""
        with self._transaction() as table:
            return self._remove_lapsed(table, now)

    @staticmethod
    def _remove_lapsed(table: sqlite3.Connection, now: float) -> list[Lease]:
        rows = table.execute("SELECT id, host, slot, owner, expires FROM leases").fetchall()
        lapsed = [lease for lease in (Lease(*row) for row in rows) if lease.expires <= now or _dead(lease.owner)]
        table.executemany("DELETE FROM leases WHERE id = ?", [(lease.id,) for lease in lapsed])
        return lapsed

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction from its first statement on, so that reading and taking a slot are one step."""
        with closing(sqlite3.connect(self._path, timeout=_WAIT_SECONDS, isolation_level=None)) as table:
            table.execute("BEGIN IMMEDIATE")
            try:
                yield table
            except BaseException:
                table.execute("ROLLBACK")
                raise
            table.execute("COMMIT")


def _dead(owner: str) -> bool:
    """True only for a process of this machine that certainly does not exist."""
    machine, _, pid = owner.rpartition(":")
    if machine != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
