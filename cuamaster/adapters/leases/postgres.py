"""The lease table in PostgreSQL: collectors of many machines share all their desktop slots through it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from cuamaster.adapters.leases.table import SCHEMA, LeaseTable, Statements
from cuamaster.errors import HostBusy, InvalidInput, MissingDependency

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")
_LOCK = 0x6375616D  # any number that nobody else's advisory lock has: "cuam"
_OPTIONS = (
    "-c synchronous_commit=off -c lock_timeout=10s -c statement_timeout=10s -c idle_in_transaction_session_timeout=10s"
)
"""A crash of the server may forget the leases of its last moments: their holders then learn at the next renewal."""


class PostgresLeases(LeaseTable):
    """Leases in the database of `url` (`postgresql://user:password@host/database`), whose clock is the one that counts.

    Raises MissingDependency without psycopg, InvalidInput for a URL that is none, HostBusy when the server does not answer.
    """

    LISTED = "SELECT jsonb_array_elements_text(CAST(? AS jsonb))"

    def __init__(self, url: str, clock: Callable[[], float] | None = None) -> None:
        """`clock`: seconds, instead of the server's clock."""
        try:
            import psycopg
        except ImportError as exc:
            raise MissingDependency(
                "the lease table is in PostgreSQL, and psycopg is not installed",
                hint="pip install 'cuamaster[postgres]'",
            ) from exc
        self._psycopg = psycopg
        try:
            psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.ProgrammingError as exc:
            raise InvalidInput(f"leases_url: {exc}", hint="postgresql://user:password@host:5432/database") from exc
        self._url = url
        self._clock = clock
        self._lock = threading.Lock()
        self._connection: psycopg.Connection | None = None

    def now(self, run: Statements) -> float:
        """The server's time, seconds since the epoch."""
        if self._clock is not None:
            return self._clock()
        ((seconds,),) = run("SELECT EXTRACT(EPOCH FROM clock_timestamp())::double precision")
        return float(seconds)

    def transaction(self, work: Callable[[Statements], T], *, alone: bool = False) -> T:
        """One transaction; tried once more when the connection turns out to be gone (a restarted server)."""
        with self._lock:
            tries = 1 if self._connection is None else 2
            while True:
                tries -= 1
                try:
                    return self._once(work, alone)
                except self._psycopg.OperationalError as exc:
                    self._close()
                    if not tries:
                        raise HostBusy(f"the lease table does not answer: {_first_line(exc)}") from exc
                except self._psycopg.Error as exc:
                    self._close()
                    raise InvalidInput(
                        f"the lease table cannot be used: {_first_line(exc)}",
                        hint="the user of leases_url must be allowed to make tables in its database",
                    ) from exc

    def _once(self, work: Callable[[Statements], T], alone: bool) -> T:
        connection = self._connection or self._open()

        def run(sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
            cursor = connection.execute(sql.replace("?", "%s").encode(), values)
            return cursor.fetchall() if cursor.description is not None else []

        with connection.transaction():
            if alone:
                run("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
            return work(run)

    def _open(self) -> psycopg.Connection:
        """One connection, used by one thread at a time; tables are made when they are missing."""
        connection = self._psycopg.connect(
            self._url, autocommit=True, connect_timeout=5, options=_OPTIONS, application_name="cuamaster"
        )
        try:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))  # two may come first
                for statement in SCHEMA:
                    connection.execute(statement.encode())
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _first_line(exc: Exception) -> str:
    return str(exc).strip().splitlines()[0] if str(exc).strip() else type(exc).__name__
