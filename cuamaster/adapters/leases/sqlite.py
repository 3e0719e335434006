"""The lease table in one SQLite file: collectors of one machine share its desktop slots through it."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cuamaster.adapters.leases.table import SCHEMA, LeaseTable, Statements
from cuamaster.errors import HostBusy, IntegrityError, StoreFull, StoreUnwritable, storing
from cuamaster.ports import Lease

T = TypeVar("T")
_WAIT_SECONDS = 10.0
"""How long a statement waits for another process's transaction, which takes milliseconds."""


def machine_seconds() -> float:
    """Seconds since this machine booted, sleep included: the same in all its processes, and no setting of the clock moves it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class SqliteLeases(LeaseTable):
    """Leases in `path`, for processes of one machine. Raises StoreUnwritable, StoreFull, IntegrityError besides HostBusy."""

    LISTED = "SELECT value FROM json_each(?)"

    def __init__(self, path: Path, clock: Callable[[], float] = machine_seconds) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def now(self, run: Statements) -> float:  # noqa: ARG002  no question to the database
        """The machine's own time."""
        return self._clock()

    def held(self) -> list[Lease]:
        """All leases that have not expired; to look makes no file."""
        return super().held() if self._path.exists() else []

    def transaction(self, work: Callable[[Statements], T], *, alone: bool = False) -> T:  # noqa: ARG002  SQLite has one writer
        """A write transaction from its first statement on, so that reading and taking a slot are one step."""
        with self._lock:
            try:
                table = self._connection or self._open()
                table.execute("BEGIN IMMEDIATE")
                try:
                    done = work(lambda sql, values=(): _rows(table, sql, values))
                except BaseException:
                    table.rollback()
                    raise
                table.commit()
            except sqlite3.Error as exc:
                raise self._fault(exc) from exc
            return done

    def _open(self) -> sqlite3.Connection:
        """One connection, used by one thread at a time; write-ahead, so that a commit needs no flush of the disk."""
        with storing(self._path.parent):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        table = sqlite3.connect(self._path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            table.execute("PRAGMA journal_mode = WAL")
            table.execute("PRAGMA synchronous = NORMAL")
            for statement in SCHEMA:
                table.execute(statement)
        except sqlite3.Error:
            table.close()
            raise
        self._connection = table
        return table

    def _fault(self, exc: sqlite3.Error) -> Exception:
        code = getattr(exc, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return HostBusy(f"{self._path}: another process holds the lease table: {exc}")
        if code == sqlite3.SQLITE_FULL:
            return StoreFull(f"no space left for {self._path}", hint="free some space and run again")
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR):
            return StoreUnwritable(f"cannot write the lease table {self._path}: {exc}")
        return IntegrityError(
            f"{self._path} is no lease table: {exc}", hint="delete it while no collector runs; it is made anew"
        )


def _rows(table: sqlite3.Connection, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    return table.execute(sql, values).fetchall()
