"""The lease table in SQL: what SQLite and PostgreSQL have in common, which is everything but connection, clock and lock."""

from __future__ import annotations

import json
import uuid
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from cuamaster.adapters.leases.owner import is_dead
from cuamaster.adapters.leases.shares import Request, grants
from cuamaster.ports import Lease

T = TypeVar("T")
QUEUE_SECONDS = 10.0
"""A place in the queue is lost when it was not asked for again for so long: its collector died."""

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS cuamaster_leases (
        id TEXT PRIMARY KEY, host TEXT NOT NULL, slot INTEGER NOT NULL, owner TEXT NOT NULL, flow TEXT NOT NULL,
        expires DOUBLE PRECISION NOT NULL, UNIQUE (host, slot)
    )""",
    """CREATE TABLE IF NOT EXISTS cuamaster_requests (
        id TEXT PRIMARY KEY, flow TEXT NOT NULL, owner TEXT NOT NULL, hosts TEXT NOT NULL,
        since DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION NOT NULL
    )""",
    "CREATE INDEX IF NOT EXISTS cuamaster_leases_expires ON cuamaster_leases (expires)",
)
_COLUMNS = "id, host, slot, owner, flow, expires"
_QUEUE = """
    INSERT INTO cuamaster_requests (id, flow, owner, hosts, since, expires) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET hosts = excluded.hosts, expires = excluded.expires
"""
_LOWEST_FREE = """
    SELECT taken.slot + 1 FROM (SELECT -1 AS slot UNION ALL SELECT slot FROM cuamaster_leases WHERE host = ?) AS taken
    WHERE NOT EXISTS (SELECT 1 FROM cuamaster_leases AS next WHERE next.host = ? AND next.slot = taken.slot + 1)
    ORDER BY taken.slot LIMIT 1
"""


class Statements(Protocol):
    """An open transaction: runs one statement with `?` for its values and returns all rows."""

    def __call__(self, sql: str, values: Sequence[Any] = (), /) -> list[tuple[Any, ...]]:
        """Rows, [] for a statement that gives none."""


class LeaseTable(ABC):
    """Leases in a database. Every call is one transaction, so any number of processes may share the table."""

    LISTED: str
    """A subquery that gives the strings of a JSON array, passed as one value."""

    @abstractmethod
    def transaction(self, work: Callable[[Statements], T], *, alone: bool = False) -> T:
        """Run `work` in a transaction and commit; `alone`: no other `alone` transaction runs at the same time."""

    @abstractmethod
    def now(self, run: Statements) -> float:
        """Seconds on the one clock that all processes sharing the table see."""

    def acquire(
        self, capacities: Mapping[str, int], *, owner: str, flow: str, ttl: float, request: str, wait: bool = True
    ) -> Lease | None:
        """The lowest free slot of the host with the most room, in the order of `shares.grants`, or None."""

        def work(run: Statements) -> Lease | None:
            now = self.now(run)
            run("DELETE FROM cuamaster_leases WHERE expires <= ?", (now,))
            run("DELETE FROM cuamaster_requests WHERE expires <= ?", (now,))
            counts = run("SELECT host, flow, COUNT(*) FROM cuamaster_leases GROUP BY host, flow")
            free, held = Counter(capacities), Counter[str]()
            for host, holder, count in counts:
                free[host] -= count
                held[holder] += count
            rows = run("SELECT id, flow, hosts FROM cuamaster_requests ORDER BY since, id")
            waiting = [Request(name, other, tuple(json.loads(hosts))) for name, other, hosts in rows]
            known = any(place.id == request for place in waiting)
            if not known:
                waiting.append(Request(request, flow, tuple(capacities)))
            chosen = grants(free, held, waiting).get(request)
            if chosen is None:
                if wait:
                    run(_QUEUE, (request, flow, owner, json.dumps(list(capacities)), now, now + QUEUE_SECONDS))
                return None
            if known:
                run("DELETE FROM cuamaster_requests WHERE id = ?", (request,))
            ((slot,),) = run(_LOWEST_FREE, (chosen, chosen))
            lease = Lease(uuid.uuid4().hex, chosen, int(slot), owner, flow, now + ttl)
            run(
                f"INSERT INTO cuamaster_leases ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
                (lease.id, chosen, lease.slot, owner, flow, lease.expires),
            )
            return lease

        return self.transaction(work, alone=True)

    def withdraw(self, request: str) -> None:
        """Give up waiting; nothing happens when it is gone already."""
        self.transaction(lambda run: run("DELETE FROM cuamaster_requests WHERE id = ?", (request,)))

    def renew(self, leases: Sequence[Lease], ttl: float) -> list[Lease]:
        """Extend to now + ttl; those that somebody swept or took meanwhile are missing in what is returned."""
        names = json.dumps([lease.id for lease in leases])
        return self.transaction(
            lambda run: _leases(
                run(
                    f"UPDATE cuamaster_leases SET expires = ? WHERE id IN ({self.LISTED}) RETURNING {_COLUMNS}",
                    (self.now(run) + ttl, names),
                )
            )
        )

    def release(self, lease: Lease) -> None:
        """Give back; nothing happens when it is gone already."""
        self.transaction(lambda run: run("DELETE FROM cuamaster_leases WHERE id = ?", (lease.id,)))

    def sweep(self) -> list[Lease]:
        """Remove and return leases that expired or whose owner, a process of this machine, is dead; its requests go too."""

        def work(run: Statements) -> list[Lease]:
            owners = run("SELECT owner FROM cuamaster_leases UNION SELECT owner FROM cuamaster_requests")
            dead = json.dumps([owner for (owner,) in owners if is_dead(owner)])
            run(f"DELETE FROM cuamaster_requests WHERE owner IN ({self.LISTED})", (dead,))
            gone = f"DELETE FROM cuamaster_leases WHERE expires <= ? OR owner IN ({self.LISTED}) RETURNING {_COLUMNS}"
            return _leases(run(gone, (self.now(run), dead)))

        return self.transaction(work)

    def held(self) -> list[Lease]:
        """All leases that have not expired, by host and slot."""
        return self.transaction(
            lambda run: _leases(
                run(f"SELECT {_COLUMNS} FROM cuamaster_leases WHERE expires > ? ORDER BY host, slot", (self.now(run),))
            )
        )


def _leases(rows: Sequence[tuple[Any, ...]]) -> list[Lease]:
    return [Lease(*row) for row in rows]
