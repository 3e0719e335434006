"""What sharing desktops costs: lease transactions a second with 2,000 slots taken, and the wait for a desktop an episode has.

`python benchmarks/pool.py [--slots 2000] [--seconds 5] [--collectors 2] [--postgres URL]` prints JSON with the machine's
description. `table`: collectors (processes) that take and give back a slot as fast as they can while all but 100 slots are
taken. `episodes`: a wave of simulated desktops on all slots, opened by as many threads, shared between collectors of two flows;
`overhead_s` is from asking to having the desktop. Without --postgres a server of the installed
PostgreSQL is started on a socket in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import statistics
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from cuamaster.adapters.desktops.pool import DesktopPool, Member
from cuamaster.adapters.desktops.simulated import SimulatedHost
from cuamaster.adapters.leases.postgres import PostgresLeases
from cuamaster.adapters.leases.sqlite import SqliteLeases
from cuamaster.adapters.leases.table import LeaseTable

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.servers.postgres_server import postgres_server

SPARE = 100
EPISODE_SECONDS = 60.0
"""What the rates are compared with: 2,000 desktops with episodes of a minute need 33 leases a second."""
TTL = 60.0


def table_of(where: str) -> LeaseTable:
    """The lease table at a path or a URL."""
    return PostgresLeases(where) if where.startswith("postgres") else SqliteLeases(Path(where))


def churn(where: str, slots: int, seconds: float, name: str) -> tuple[int, list[float]]:
    """Take and give back until the time is over: how often, and the seconds of each take."""
    table, took = table_of(where), list[float]()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.perf_counter()
        lease = table.acquire(
            {"host": slots}, owner=name, flow=name, ttl=TTL, request=f"{name}-{len(took)}", wait=False
        )
        took.append(time.perf_counter() - begun)
        if lease is not None:
            table.release(lease)
    return len(took), took


def table_rates(where: str, slots: int, seconds: float, collectors: int) -> dict[str, Any]:
    """Leases a second with the table nearly full, and one renewal of everything."""
    table = table_of(where)
    held = []
    for number in range(max(0, slots - SPARE)):
        lease = table.acquire(
            {"host": slots}, owner="other:1", flow=f"flow-{number % 5}", ttl=3600, request=f"fill-{number}", wait=False
        )
        assert lease is not None
        held.append(lease)
    with multiprocessing.get_context("spawn").Pool(collectors) as pool:
        done = pool.starmap(churn, [(where, slots, seconds, f"collector-{number}") for number in range(collectors)])
    begun = time.perf_counter()
    kept = table.renew(held, 3600)
    renewed = time.perf_counter() - begun
    assert len(kept) == len(held)
    for lease in held:
        table.release(lease)
    took = [seconds for _, times in done for seconds in times]
    rate = sum(count for count, _ in done) / seconds
    return {
        "slots_taken": len(held),
        "leases_per_s": round(rate),
        "acquire_ms": _spread(took, 1000),
        "renew_all_ms": round(renewed * 1000, 1),
        "times_what_2000_desktops_need": round(rate / (2000 / EPISODE_SECONDS), 1),
    }


def wave(where: str, slots: int, seconds: float, flow: str, threads: int) -> tuple[list[float], float, float]:
    """Open `threads` desktops at once and use each for a while: seconds waited by each, when all were open, when all were closed."""
    pool = DesktopPool([Member("wave", SimulatedHost(slots), slots)], table_of(where), flow=flow, ttl=TTL)
    waited: list[float] = []
    begun = time.perf_counter()
    opened: list[float] = []

    def episode() -> None:
        asked = time.perf_counter()
        with pool.open("light-desktop") as desktop:
            waited.append(time.perf_counter() - asked)
            opened.append(time.perf_counter() - begun)
            desktop.shell("echo working")
            time.sleep(seconds)

    crew = [threading.Thread(target=episode) for _ in range(threads)]
    for member in crew:
        member.start()
    for member in crew:
        member.join()
    return waited, max(opened), time.perf_counter() - begun


def episodes(where: str, slots: int, seconds: float, collectors: int) -> dict[str, Any]:
    """Waves of two flows that together fill all slots: how long until all desktops are in use."""
    share = slots // collectors
    with multiprocessing.get_context("spawn").Pool(collectors) as pool:
        done = pool.starmap(
            wave, [(where, slots, seconds, f"flow-{number % 2}", share) for number in range(collectors)]
        )
    all_open = max(opened for _, opened, _ in done)
    per_episode = all_open / share / collectors
    left = table_of(where).held()
    return {
        "desktops": share * collectors,
        "all_in_use_after_s": round(all_open, 2),
        "scheduled_per_s": round(share * collectors / all_open),
        "overhead_ms_per_episode": round(per_episode * 1000, 2),
        "overhead_share_of_a_minute": round(per_episode / EPISODE_SECONDS, 6),
        "waited_s": _spread([seconds for waits, _, _ in done for seconds in waits], 1),
        "left_behind": len(left),
    }


def _spread(values: list[float], scale: float) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered) * scale, 3),
        "p95": round(ordered[int(len(ordered) * 0.95)] * scale, 3),
        "max": round(ordered[-1] * scale, 3),
    }


def main() -> int:
    """Both measurements on both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--slots", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=5.0, help="of churn, and of each simulated episode")
    parser.add_argument("--collectors", type=int, default=2, help="processes")
    parser.add_argument("--postgres", help="URL of an empty database")
    options = parser.parse_args()
    found: dict[str, Any] = {
        "machine": {"cpus": os.cpu_count(), "system": platform.platform(), "load": os.getloadavg(), "python": sys.version.split()[0]}
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, ExitStack() as servers:
        url = options.postgres or servers.enter_context(postgres_server()).url
        for name, where in (("sqlite", f"{folder}/leases.sqlite"), ("postgres", url)):
            found[name] = {
                "table": table_rates(where, options.slots, options.seconds, options.collectors),
                "episodes": episodes(where, options.slots, options.seconds, options.collectors),
            }
    json.dump(found, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
