"""What is known of each site on this machine, in one SQLite file that all processes share: whose turn, until when to leave it alone, why."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from cuamaster.errors import FolderBusy, IntegrityError, StoreFull, StoreUnwritable, storing

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS sites (site TEXT PRIMARY KEY, free REAL NOT NULL, until REAL NOT NULL, reason TEXT NOT NULL, strikes INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS tries (item TEXT PRIMARY KEY, count INTEGER NOT NULL)",
)
_WAIT_SECONDS = 30.0
"""How long a statement waits for another process's transaction, which takes milliseconds."""
FARTHEST = 2 * 24 * 3600.0
"""No turn and no rest lies farther ahead: one that does was written by a clock that was wrong."""
_ALIASES = {"youtu.be": "youtube.com", "youtube-nocookie.com": "youtube.com", "b23.tv": "bilibili.com"}
_SECOND_LEVEL = frozenset(["ac", "co", "com", "edu", "gov", "net", "org"])


@dataclass(frozen=True)
class SiteState:
    """`free`: when the next request may be sent; `until`: left alone till then, because of `reason`; `strikes`: refusals in a row."""

    site: str
    free: float = 0.0
    until: float = 0.0
    reason: str = ""
    strikes: int = 0


class SiteTable:
    """States of sites, and how often what failed was tried. Times are epoch seconds. Raises StoreFull, StoreUnwritable, IntegrityError.

    The file is made when the first request is sent. It belongs to the machine, not to a workspace: sites count by address.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._table: sqlite3.Connection | None = None

    def claim(self, site: str, gap: float, now: float) -> tuple[float, SiteState]:
        """(when this caller may send its request, the state); the next caller's turn comes `gap` seconds later. Nothing is claimed of a
        site that is left alone."""
        with self._transaction() as table:
            state = _state(table, site)
            if now < state.until < now + FARTHEST:
                return state.until, state
            turn = max(now, state.free) if state.free < now + FARTHEST else now
            state = replace(state, until=min(state.until, now))
            _save(table, replace(state, free=turn + gap))
        return turn, state

    def rest(self, site: str, until: float, reason: str) -> None:
        """Leave a site alone; one strike more. A longer rest that stands is not cut short."""
        with self._transaction() as table:
            old = _state(table, site)
            if until < old.until < until + FARTHEST:
                until, reason = old.until, old.reason
            _save(table, SiteState(site, old.free, until, reason, old.strikes + 1))

    def answered(self, site: str) -> None:
        """The site served something: its strikes are forgotten."""
        with self._transaction() as table:
            table.execute("UPDATE sites SET strikes = 0, reason = '' WHERE site = ? AND strikes > 0", (site,))

    def state(self, site: str) -> SiteState:
        """What is known of a site."""
        if not self.path.exists():
            return SiteState(site)
        with self._transaction() as table:
            return _state(table, site)

    def states(self) -> list[SiteState]:
        """Every site that was ever asked, by name."""
        if not self.path.exists():
            return []
        with self._transaction() as table:
            return [SiteState(*row) for row in table.execute("SELECT * FROM sites ORDER BY site")]

    def forget(self, site: str) -> bool:
        """Ask the site again at once; whether it was known."""
        if not self.path.exists():
            return False
        with self._transaction() as table:
            return bool(table.execute("DELETE FROM sites WHERE site = ?", (site,)).rowcount)

    def tried(self, item: str) -> int:
        """Count one failed try of an item; returns how many there were."""
        with self._transaction() as table:
            table.execute("INSERT INTO tries VALUES (?, 1) ON CONFLICT (item) DO UPDATE SET count = count + 1", (item,))
            return int(table.execute("SELECT count FROM tries WHERE item = ?", (item,)).fetchone()[0])

    def settled(self, item: str) -> None:
        """The item is done or given up: its tries are forgotten."""
        if self.path.exists():
            with self._transaction() as table:
                table.execute("DELETE FROM tries WHERE item = ?", (item,))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction from its first statement on, so that reading a turn and taking it are one step."""
        try:
            with self._lock:
                if self._table is None:
                    self._table = self._opened()
                with self._table as table:
                    table.execute("BEGIN IMMEDIATE")
                    yield table
        except sqlite3.OperationalError as exc:
            if "full" in str(exc):
                raise StoreFull(f"no space left for {self.path}") from exc
            if "locked" in str(exc):
                raise FolderBusy(f"{self.path}: another process holds it for more than {_WAIT_SECONDS:g} s") from exc
            raise StoreUnwritable(f"cannot write {self.path}: {exc}", hint="CUAMASTER_CACHE names the folder") from exc
        except sqlite3.DatabaseError as exc:
            raise IntegrityError(f"{self.path}: {exc}", hint="delete it: only rests of sites are forgotten") from exc

    def _opened(self) -> sqlite3.Connection:
        """One connection for the life of the process. With a write-ahead log a turn costs no wait for the disk; a power cut may forget the last."""
        with storing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        table = sqlite3.connect(self.path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", *_SCHEMA):
            table.execute(statement)
        return table


def _state(table: sqlite3.Connection, site: str) -> SiteState:
    row = table.execute("SELECT * FROM sites WHERE site = ?", (site,)).fetchone()
    return SiteState(*row) if row else SiteState(site)


def _save(table: sqlite3.Connection, state: SiteState) -> None:
    table.execute(
        "INSERT OR REPLACE INTO sites VALUES (?, ?, ?, ?, ?)",
        (state.site, state.free, state.until, state.reason, state.strikes),
    )


def site_of(address: str) -> str:
    """The name under which a host's requests are counted: `m.youtube.com` and `youtu.be` are youtube.com; an IP keeps its port."""
    parts = urlsplit(address if "//" in address else f"//{address}")
    host = (parts.hostname or "").rstrip(".").lower()
    if not host or host == "localhost" or ":" in host or re.fullmatch(r"[\d.]+", host):
        return parts.netloc.rpartition("@")[2].lower() or address[:100]
    labels = host.split(".")
    short = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    name = ".".join(labels[-3:] if short else labels[-2:])
    return _ALIASES.get(name, name)
