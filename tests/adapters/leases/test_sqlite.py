"""Leases: slots, expiry, loss, dead owners, and two processes at once."""

from __future__ import annotations

import multiprocessing
import socket
import subprocess
from pathlib import Path

import pytest

from cuamaster.adapters.leases.sqlite import SqliteLeases, owner_name
from cuamaster.errors import HostBusy


def test_slots_are_given_once_and_come_back(tmp_path: Path) -> None:
    leases = SqliteLeases(tmp_path / "deep" / "leases.sqlite")
    first = leases.acquire("host", 2, "other:1", 60, 1000)
    second = leases.acquire("host", 2, "other:2", 60, 1000)
    assert first is not None
    assert second is not None
    assert {first.slot, second.slot} == {0, 1}
    assert leases.acquire("host", 2, "other:3", 60, 1000) is None
    assert leases.acquire("elsewhere", 2, "other:3", 60, 1000) is not None
    leases.release(first)
    leases.release(first)
    again = leases.acquire("host", 2, "other:3", 60, 1000)
    assert again is not None
    assert again.slot == first.slot


def test_what_is_not_renewed_is_swept_and_lost(tmp_path: Path) -> None:
    leases = SqliteLeases(tmp_path / "leases.sqlite")
    lease = leases.acquire("host", 1, "other:1", 60, 1000)
    assert lease is not None
    lease = leases.renew(lease, 60, 1050)
    assert lease.expires == 1110
    assert leases.sweep(1109) == []
    assert leases.sweep(1110) == [lease]
    with pytest.raises(HostBusy, match="slot 0"):
        leases.renew(lease, 60, 1111)
    assert leases.acquire("host", 1, "other:2", 60, 1111) is not None


def test_a_dead_process_of_this_machine_holds_nothing(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    leases = SqliteLeases(tmp_path / "leases.sqlite")
    mine = leases.acquire("host", 2, owner_name(), 60, 1000)
    leases.acquire("host", 2, f"{socket.gethostname()}:{ended.pid}", 60, 1000)
    assert [lease.owner for lease in leases.sweep(1001)] == [f"{socket.gethostname()}:{ended.pid}"]
    assert mine is not None
    assert leases.renew(mine, 60, 1002).slot == mine.slot


def _take(path: Path, count: int) -> list[int]:
    leases = SqliteLeases(path)
    taken = [leases.acquire("host", 40, "other:1", 600, 1000) for _ in range(count)]
    return [lease.slot for lease in taken if lease is not None]


def test_processes_never_get_the_same_slot(tmp_path: Path) -> None:
    path = tmp_path / "leases.sqlite"
    SqliteLeases(path)
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        results = pool.starmap(_take, [(path, 15)] * 3)
    slots = [slot for part in results for slot in part]
    assert sorted(slots) == list(range(40))
