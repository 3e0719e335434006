"""One suite for both lease tables: slots, queues, expiry, loss, dead owners, several processes, and many deaths."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cuamaster import wiring
from cuamaster.adapters.leases.heart import Heart
from cuamaster.adapters.leases.owner import is_dead, owner_name
from cuamaster.adapters.leases.postgres import PostgresLeases
from cuamaster.adapters.leases.sqlite import SqliteLeases, machine_seconds
from cuamaster.adapters.leases.table import QUEUE_SECONDS, LeaseTable
from cuamaster.errors import HostBusy, IntegrityError, InvalidInput, LeaseLost, MissingDependency, StoreUnwritable
from cuamaster.ports import Lease
from cuamaster.settings import Settings

Take = Callable[..., Lease | None]
SLOW = pytest.mark.slow


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def opened(where: str, clock: Callable[[], float] | None = None) -> LeaseTable:
    if where.startswith("postgresql:"):
        return PostgresLeases(where, clock)
    return SqliteLeases(Path(where), clock or machine_seconds)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=SLOW)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "deep" / "leases.sqlite")
        return
    import psycopg

    url = request.getfixturevalue("server").url
    yield url
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS cuamaster_leases, cuamaster_requests")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def table(where: str, clock: Clock) -> LeaseTable:
    return opened(where, clock)


@pytest.fixture
def take(table: LeaseTable) -> Take:
    """Ask for a slot; `name` keeps the place in the queue."""

    def ask(flow: str = "flow", name: str = "", hosts: dict[str, int] | None = None, **more: object) -> Lease | None:
        options: dict[str, object] = {"owner": "other:1", "ttl": 60.0, **more}
        name = name or f"{random.random()}"
        return table.acquire(hosts or {"host": 2}, flow=flow, request=name, **options)  # type: ignore[arg-type]

    return ask


def test_slots_are_given_once_and_come_back(table: LeaseTable, take: Take) -> None:
    first, second = take(), take()
    assert first is not None and second is not None
    assert (first.slot, second.slot, first.expires) == (0, 1, 1060)
    assert take(wait=False) is None
    assert take(hosts={"elsewhere": 1}) is not None
    table.release(first)
    table.release(first)
    again = take()
    assert again is not None and again.slot == 0
    assert [(lease.host, lease.slot) for lease in table.held()] == [("elsewhere", 0), ("host", 0), ("host", 1)]


def test_what_is_not_renewed_runs_out_and_is_lost(table: LeaseTable, take: Take, clock: Clock) -> None:
    lease = take(hosts={"host": 1})
    assert lease is not None
    clock.now = 1050
    (renewed,) = table.renew([lease], 60)
    assert (renewed.id, renewed.expires) == (lease.id, 1110)
    clock.now = 1109
    assert table.sweep() == [] and take(hosts={"host": 1}, wait=False) is None
    clock.now = 1110
    assert table.held() == []
    assert table.sweep() == [renewed]
    assert table.renew([renewed], 60) == []
    taken = take(hosts={"host": 1})
    assert taken is not None and taken.slot == lease.slot and taken.id != lease.id


def test_an_expired_lease_is_taken_without_a_sweep(table: LeaseTable, take: Take, clock: Clock) -> None:
    lease = take(hosts={"host": 1})
    clock.now = 1060
    other = take(hosts={"host": 1})
    assert lease is not None and other is not None and other.slot == lease.slot
    assert table.renew([lease, other], 60) == [other], "the former holder learns that it is not his any more"


def test_a_slot_that_comes_free_goes_to_the_flow_with_the_least_and_there_to_who_came_first(
    table: LeaseTable, take: Take, clock: Clock
) -> None:
    held = [take("greedy", hosts={"host": 4}) for _ in range(4)]
    for name, flow in (("g", "greedy"), ("late", "second"), ("later", "second"), ("third", "third")):
        clock.now += 1
        assert take(flow, name, hosts={"host": 4}) is None
    order = []
    for lease in held:
        assert lease is not None
        table.release(lease)
        for name, flow in (("g", "greedy"), ("later", "second"), ("late", "second"), ("third", "third")):
            if take(flow, name, hosts={"host": 4}) is not None:
                order.append(name)
                break
    assert order == ["late", "third", "g", "later"]


def test_who_does_not_ask_again_loses_its_place(table: LeaseTable, take: Take, clock: Clock) -> None:
    lease = take(hosts={"host": 1}, ttl=600.0)
    assert take("a", "gone", hosts={"host": 1}) is None
    assert take("a", "withdrawn", hosts={"host": 1}) is None
    assert take("a", "not waiting", hosts={"host": 1}, wait=False) is None
    table.withdraw("withdrawn")
    assert lease is not None
    table.release(lease)
    assert take("b", "next", hosts={"host": 1}) is None, "the first in the queue has a few seconds to come back"
    clock.now += QUEUE_SECONDS
    assert take("b", "next", hosts={"host": 1}) is not None


def test_the_host_with_the_most_room_is_taken(take: Take) -> None:
    hosts = {"small": 1, "large": 3}
    taken = [lease.host for lease in (take(hosts=hosts) for _ in range(4)) if lease is not None]
    assert sorted(taken) == ["large"] * 3 + ["small"] and taken[:2] == ["large", "large"]
    assert take(hosts=hosts) is None


def test_a_dead_process_of_this_machine_holds_nothing(table: LeaseTable, take: Take) -> None:
    told = "from cuamaster.adapters.leases.owner import owner_name; print(owner_name())"
    dead = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout.strip()
    machine, boot, pid, started = owner_name().rsplit(":", 3)
    used_again, before = f"{machine}:{boot}:{pid}:1", f"{machine}:00000000:{pid}:{started}"
    assert is_dead(dead) and is_dead(used_again) and is_dead(before)
    assert not is_dead(owner_name()) and not is_dead("elsewhere:1:2:3") and not is_dead("odd")
    mine = take(hosts={"host": 9}, owner=owner_name())
    for owner in (dead, used_again, before):
        take(hosts={"host": 9}, owner=owner)
    assert [lease.owner for lease in table.sweep()] == [dead, used_again, before]
    assert mine is not None and len(table.renew([mine], 60)) == 1


def _take(where: str, count: int, process: int) -> list[int]:
    table = opened(where)
    taken = [
        table.acquire({"host": 40}, owner="other:1", flow="flow", ttl=600, request=f"{process}-{number}", wait=False)
        for number in range(count)
    ]
    return [lease.slot for lease in taken if lease is not None]


@SLOW
def test_processes_never_get_the_same_slot(where: str) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.starmap(_take, [(where, 22, process) for process in range(2)])
    assert sorted(slot for part in results for slot in part) == list(range(40))


@SLOW
def test_thousands_of_leases_with_random_deaths_leave_none_behind(where: str, clock: Clock) -> None:
    """Collectors take, renew and give back; one in three dies with what it holds. No slot ever has two holders."""
    table, draw = opened(where, clock), random.Random(7)
    wanted = 10_000 if isinstance(table, SqliteLeases) else 2_000  # the same statements, at ten times the cost
    capacity, ttl = 50, 60.0
    holders: dict[str, tuple[Lease, float]] = {}
    granted = died = 0
    while granted < wanted:
        clock.now += draw.uniform(0, 1.5)
        dead_by_now = {name for name, (_, until) in holders.items() if until <= clock.now}
        lease = table.acquire(
            {"host": capacity}, owner="other:1", flow=f"flow-{granted % 3}", ttl=ttl, request=f"r{granted}", wait=False
        )
        for name in dead_by_now:
            del holders[name]
        if lease is not None:
            granted += 1
            assert lease.slot not in {other.slot for other, _ in holders.values()}, "two holders of one slot"
            holders[lease.id] = (lease, lease.expires)
        living = [item for item, until in holders.values() if not item.owner.startswith("dead")]
        for item in draw.sample(living, min(len(living), 2)):
            fate = draw.random()
            if fate < 0.33:  # dies: neither renewed nor given back, and runs out
                holders[item.id] = (
                    Lease(item.id, item.host, item.slot, "dead", item.flow, item.expires),
                    holders[item.id][1],
                )
                died += 1
            elif fate < 0.66:
                table.release(item)
                del holders[item.id]
            else:
                (kept,) = table.renew([item], ttl)
                holders[item.id] = (kept, kept.expires)
    assert died > wanted / 10
    clock.now += ttl
    table.sweep()
    assert table.held() == []


def test_a_holder_that_cannot_renew_stops_before_its_time_is_over(table: LeaseTable, take: Take) -> None:
    """The heart ends the use of a lease that somebody swept, and of one whose table is out of reach."""
    lease = take(ttl=600.0)
    assert lease is not None
    ended: list[str] = []
    real = machine_seconds
    heart = Heart(table, 0.4, real)
    hold = heart.hold(lease, real())
    hold.guard(lambda: ended.append("closed"))
    hold.check()
    table.release(lease)
    deadline = time.monotonic() + 20
    while not ended and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ended == ["closed"]
    with pytest.raises(LeaseLost, match="slot 0"):
        hold.check()
    heart.drop(hold)


def test_a_stopped_holder_finds_its_lease_lost_when_it_goes_on(table: LeaseTable, take: Take, clock: Clock) -> None:
    lease = take()
    assert lease is not None
    heart = Heart(table, 60, clock)  # it beats every 15 real seconds: not once in this test
    hold = heart.hold(lease, clock())
    clock.now += 59
    hold.check()
    clock.now += 1
    with pytest.raises(LeaseLost):
        hold.check()
    heart.drop(hold)


def test_settings_choose_the_table(where: str, tmp_path: Path) -> None:
    url = where if where.startswith("postgresql:") else ""
    settings = Settings(workspace=tmp_path, desktop="simulated", leases_url=url)
    for episode in range(2):
        with wiring.desktop_ports(settings) as ports, ports.host.open("light-desktop") as desktop:
            assert desktop.shell("echo ok").stdout == "ok\n"
            (lease,) = wiring.leases(settings).held()
            assert (lease.slot, lease.flow, lease.owner) == (0, str(tmp_path.resolve()), owner_name()), episode
    assert wiring.leases(settings).held() == []


# --- what only one of them can suffer


def test_a_file_that_is_no_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "leases.sqlite").write_bytes(b"not a database, but long enough to be looked at" * 40)
    with pytest.raises(IntegrityError, match=r"leases\.sqlite"):
        SqliteLeases(tmp_path / "leases.sqlite").held()
    (tmp_path / "folder.sqlite").mkdir()
    with pytest.raises(StoreUnwritable, match=r"folder\.sqlite"):
        SqliteLeases(tmp_path / "folder.sqlite").held()


def test_a_machine_without_psycopg_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingDependency, match=r"cuamaster\[postgres\]"):
        PostgresLeases("postgresql://nowhere/x")


def test_no_server_and_no_address_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(HostBusy, match="does not answer"):
        PostgresLeases(f"postgresql:///postgres?host={tmp_path}").held()
    with pytest.raises(InvalidInput, match="leases_url"):
        PostgresLeases("postgresql://host:port:port/x?nonsense=1")


@SLOW
def test_a_restarted_server_is_found_again_and_a_gone_one_is_told(server: Any) -> None:
    table = PostgresLeases(server.url)
    lease = table.acquire({"host": 1}, owner="other:1", flow="f", ttl=600, request="r")
    assert lease is not None
    server.stop()
    with pytest.raises(HostBusy, match="does not answer"):
        table.renew([lease], 600)
    server.start()
    assert [item.id for item in table.renew([lease], 600)] == [lease.id]
    server.stop()
    server.start()
    assert [item.id for item in table.held()] == [lease.id], "one try more, unnoticed"
    table.release(lease)


_STOPPED = """
import sys, time
from pathlib import Path
from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.pool import DesktopPool, Member
from cuamaster.adapters.desktops.simulated import SimulatedHost
from cuamaster.adapters.leases.sqlite import SqliteLeases
from cuamaster.errors import LeaseLost
pool = DesktopPool([Member("m", SimulatedHost(), 1)], SqliteLeases(Path(sys.argv[1])), flow="a", ttl=1.0)
with pool.open("x") as desktop:
    print("held", flush=True)
    try:
        while True:
            desktop.act(CUAAction("wait", {"seconds": 0.01}), "a")
            time.sleep(0.01)
    except LeaseLost:
        print("lost", flush=True)
"""


@SLOW
def test_a_stopped_process_loses_its_slot_and_does_nothing_when_it_wakes_up(tmp_path: Path) -> None:
    path = tmp_path / "leases.sqlite"
    process = subprocess.Popen([sys.executable, "-c", _STOPPED, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        os.kill(process.pid, signal.SIGSTOP)
        table, deadline, mine = SqliteLeases(path), time.monotonic() + 30, None
        while mine is None and time.monotonic() < deadline:
            mine = table.acquire({"m": 1}, owner=owner_name(), flow="b", ttl=60, request="mine")
            time.sleep(0.02)
        assert mine is not None and mine.slot == 0
        os.kill(process.pid, signal.SIGCONT)
        assert process.stdout.readline() == "lost\n"
        assert process.wait(30) == 0
        assert [lease.id for lease in table.held()] == [mine.id], "what it gave back was not somebody else's"
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
