"""The pool: never more desktops than slots, given back whatever happens, shared fairly, closed when the lease is lost."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.pool import DesktopPool, Member
from cuamaster.adapters.desktops.simulated import SimulatedDesktop, SimulatedHost
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.leases.sqlite import SqliteLeases
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.errors import GuestDied, HostBusy, LeaseLost
from cuamaster.ports import Decision, Frame
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.records.condition import FileExists
from cuamaster.records.episode import Budget, Node
from cuamaster.records.task import Environment, Task
from cuamaster.records.trajectory import Action

Make = Callable[..., DesktopPool]


@pytest.fixture
def table(tmp_path: Path) -> SqliteLeases:
    return SqliteLeases(tmp_path / "leases.sqlite")


@pytest.fixture
def pool(tmp_path: Path) -> Make:
    """A pool of its own on the shared table, as another process would have it."""

    def make(capacity: int = 1, host: SimulatedHost | None = None, **options: object) -> DesktopPool:
        settings: dict[str, object] = {"flow": "a", "patience": 20.0, "pause": 0.02, **options}
        members = [Member("m", host or SimulatedHost(), capacity)]
        return DesktopPool(members, SqliteLeases(tmp_path / "leases.sqlite"), **settings)  # type: ignore[arg-type]

    return make


def test_pools_share_one_slot_and_say_what_they_wait_for(pool: Make) -> None:
    one, two = pool(), pool(patience=0.1)
    with one.open("a") as desktop:
        assert desktop.image == "a" and desktop.shell("echo ok").stdout == "ok\n"
        with pytest.raises(HostBusy, match="all of 1 slots are taken"), two.open("b"):
            pass
    with two.open("b") as desktop:
        assert desktop.image == "b"


def test_a_slot_comes_back_after_a_fault_and_the_one_who_waits_gets_it(pool: Make, table: SqliteLeases) -> None:
    one, two = pool(), pool()
    inside, opened = threading.Event(), threading.Event()

    def wait() -> None:
        inside.wait(20)
        with two.open("b"):
            opened.set()

    other = threading.Thread(target=wait)
    other.start()
    with pytest.raises(GuestDied), one.open("a"):
        inside.set()
        time.sleep(0.1)
        assert not opened.is_set()
        raise GuestDied("gone")
    assert opened.wait(20)
    other.join()
    assert table.held() == []


def test_without_room_nothing_is_cloned_and_no_place_in_the_queue_is_taken(pool: Make, table: SqliteLeases) -> None:
    class Full(SimulatedHost):
        def room(self, image: str) -> str | None:
            return "only 3 MiB free"

    with pytest.raises(HostBusy, match="only 3 MiB free"), pool(host=Full(), patience=0.1).open("a"):
        pass
    assert table.acquire({"m": 1}, owner="other:1", flow="b", ttl=60, request="r") is not None


def test_what_a_dead_collector_left_is_swept_at_the_start(pool: Make, table: SqliteLeases) -> None:
    from cuamaster.adapters.leases.owner import owner_name

    machine = owner_name().split(":", maxsplit=1)[0]
    assert table.acquire({"m": 1}, owner=f"{machine}:00000000:1:1", flow="b", ttl=3600, request="r") is not None
    with pool().open("a"):
        assert len(table.held()) == 1


@pytest.mark.slow
def test_a_lease_outlives_its_time_while_the_desktop_is_used(pool: Make, table: SqliteLeases) -> None:
    with pool(ttl=2.0).open("a") as desktop:
        (before,) = table.held()
        time.sleep(3.0)
        desktop.shell("true")
        (after,) = table.held()
        assert before.id == after.id and after.expires > before.expires + 1.0


def test_a_lost_lease_closes_the_desktop_and_ends_its_use(pool: Make, table: SqliteLeases) -> None:
    host = SimulatedHost()
    with pytest.raises(LeaseLost), pool(host=host, ttl=2.0).open("a") as desktop:
        inner = desktop._desktop  # type: ignore[attr-defined]
        assert isinstance(inner, SimulatedDesktop)
        (lease,) = table.held()
        table.release(lease)  # as a sweep would
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            desktop.act(CUAAction("keyboard.press", {"keys": ["a"]}), "t")
            time.sleep(0.01)
    with pytest.raises(GuestDied):
        inner.screenshot()
    with pool(host=host).open("b"):
        pass


class Unlucky:
    """A policy that waits, and loses its lease before the third step."""

    name, mode = "unlucky", "gui"

    def __init__(self, table: SqliteLeases, mine: DesktopPool) -> None:
        self.table, self.pool = table, mine

    def begin(self, task: Task) -> None:
        pass

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
        if len(history) == 2:
            for lease in self.table.held():
                self.table.release(lease)  # as a sweep would
            deadline = time.monotonic() + 20
            while not self.pool._heart._holds[0].lost and time.monotonic() < deadline:
                time.sleep(0.01)
        return Decision(actions=(Action(action=CUAAction("wait", {"seconds": 1})),))

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        pass


def test_an_episode_whose_lease_is_lost_is_infra_and_its_last_action_was_not_sent(
    pool: Make, table: SqliteLeases, tmp_path: Path
) -> None:
    task = Task(
        instruction="Wait.", environment=Environment(image="a", image_digest=""), verifier=FileExists(path="~/never"),
        plan=(), strategy="imported",
    )  # fmt: skip
    reader, mine = KnownReader(lambda _: ()), pool(ttl=2.0)
    with mine.open("a") as desktop:
        episode = rollout(
            task, Unlucky(table, mine), desktop, reader=reader, journal=JsonlJournal(tmp_path / "j.jsonl"),
            detector=RulesDetector(reader), store=LocalStore(tmp_path / "blobs"), budget=Budget(), clock=time.monotonic,
            episode_id="e",
        )  # fmt: skip
    assert (episode.outcome, len(episode.nodes), episode.first_attempt_passed) == ("infra", 2, None)
    assert episode.message.startswith("LeaseLost")


def test_a_fork_takes_a_slot_of_its_own_or_is_refused_at_once(pool: Make, table: SqliteLeases) -> None:
    both = pool(capacity=2)
    with both.open("a") as desktop:
        desktop.snapshot("s")
        with desktop.fork("s") as twin:
            assert len(table.held()) == 2
            begun = time.monotonic()
            with pytest.raises(HostBusy), twin.fork("s"):
                pass
            assert time.monotonic() - begun < 5, "patience is for whole episodes"
        assert len(table.held()) == 1
    assert table.held() == []


@pytest.mark.slow
def test_flows_share_evenly_and_a_third_is_not_starved(pool: Make) -> None:
    """Three collectors on six slots, the third one late: in the end they hold two each."""
    running: Counter[str] = Counter()
    seen: dict[str, list[Counter[str]]] = {"two": [], "three": []}
    lock, over, third = threading.Lock(), threading.Event(), threading.Event()

    def episodes(flow: str, mine: DesktopPool) -> None:
        if flow == "c":
            third.wait(20)
        while not over.is_set():
            with mine.open("a"):
                with lock:
                    running[flow] += 1
                    if sum(running.values()) == 6:
                        seen["three" if third.is_set() else "two"].append(Counter(running))
                time.sleep(0.03)
                with lock:
                    running[flow] -= 1

    flows = {flow: pool(capacity=6, flow=flow) for flow in "abc"}
    threads = [threading.Thread(target=episodes, args=(flow, flows[flow])) for flow in "abc" for _ in range(6)]
    for thread in threads:
        thread.start()
    time.sleep(0.7)
    third.set()
    time.sleep(0.9)
    over.set()
    for thread in threads:
        thread.join(20)
    halfway, end = seen["two"][-1], seen["three"][-20:]
    assert abs(halfway["a"] - halfway["b"]) <= 2, halfway
    shares = Counter[str]()
    for counts in end:
        shares += counts
    assert all(shares[flow] > sum(shares.values()) / 6 for flow in "abc"), shares
