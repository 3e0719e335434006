"""The pool: never more desktops than slots, released whatever happens, renewed while in use."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from cuamaster.adapters.desktops.simulated import SimulatedHost
from cuamaster.adapters.leases.sqlite import SqliteLeases
from cuamaster.errors import GuestDied, HostBusy
from cuamaster.propagation.collection.pool import DesktopPool


class Clock:
    """Time that passes by waiting."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


def pool(path: Path, clock: Clock, **options: object) -> DesktopPool:
    settings: dict[str, object] = {"capacity": 1, "owner": "other:1", "ttl": 3600.0, "patience": 5.0, **options}
    return DesktopPool(SimulatedHost(), SqliteLeases(path), clock=clock, wait=clock.wait, **settings)  # type: ignore[arg-type]


def test_two_pools_share_one_slot(tmp_path: Path) -> None:
    path, clock = tmp_path / "leases.sqlite", Clock()
    one, two = pool(path, clock), pool(path, clock, owner="other:2")
    with one.open("a") as desktop:
        assert desktop.image == "a"
        with pytest.raises(HostBusy, match="1 slots are taken"), two.open("b"):
            pass
        assert clock.now >= 1005
    with two.open("b") as desktop:
        assert desktop.image == "b"


def test_a_slot_comes_back_after_a_fault(tmp_path: Path) -> None:
    path, clock = tmp_path / "leases.sqlite", Clock()
    shared = pool(path, clock)
    with pytest.raises(GuestDied), shared.open("a"):
        raise GuestDied("gone")
    with shared.open("a") as desktop:
        assert desktop.shell("echo ok").stdout == "ok\n"


def test_a_waiting_collector_gets_the_slot_that_another_let_lapse(tmp_path: Path) -> None:
    path, clock = tmp_path / "leases.sqlite", Clock()
    assert SqliteLeases(path).acquire("simulated", 1, "other:9", 3.0, clock.now) is not None
    with pool(path, clock).open("a"):
        assert 1003 <= clock.now < 1006


def test_without_room_nothing_is_cloned(tmp_path: Path) -> None:
    path, clock = tmp_path / "leases.sqlite", Clock()
    full = pool(path, clock, room=lambda: "only 3 MiB free")
    with pytest.raises(HostBusy, match="only 3 MiB free"), full.open("a"):
        pass
    assert SqliteLeases(path).acquire("simulated", 1, "other:2", 60, clock.now) is not None


def test_the_lease_is_renewed_while_the_desktop_is_used(tmp_path: Path) -> None:
    path, clock = tmp_path / "leases.sqlite", Clock()
    renewed = threading.Event()

    class Watched(SqliteLeases):
        def renew(self, lease, ttl, now):  # type: ignore[no-untyped-def]
            extended = super().renew(lease, ttl, now)
            renewed.set()
            return extended

    beating = DesktopPool(
        SimulatedHost(), Watched(path), capacity=1, owner="other:1", clock=clock, wait=clock.wait, ttl=0.3, patience=1.0
    )
    with beating.open("a"):
        assert renewed.wait(20)
