"""Rolls one desktop back a thousand times and watches what grows: disk, memory, open files, threads; JSON on stdout.

`python benchmarks/endurance.py --desktop simulated --rollbacks 1000`. One turn: two boundaries are taken under the retention
rules of a rollout, files are written and text is typed, and the desktop goes back to the first. `growth` compares the second half of the samples with the first
after a warm-up of a tenth: what is bounded has a ratio near 1.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cuamaster import wiring
from cuamaster.action_space import CUAAction
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.ports import Desktop
from cuamaster.propagation.collection.snapshots import Snapshots
from cuamaster.settings import Settings

IMAGE = "light-desktop"
SAMPLES = 40


def turns(desktop: Desktop, count: int, samples: int = SAMPLES) -> list[dict[str, float]]:
    """`count` rollbacks; what the process, its QEMU and their disk take, at about `samples` moments."""
    policy = ReplayPolicy(KnownReader(lambda _image: []))
    snapshots = Snapshots(desktop, "endurance", ("~/note.txt",))
    desktop.write_file("~/note.txt", b"start")
    start = snapshots.take(-1, 0, (), policy)
    seen = []
    every = max(1, count // samples)
    for number in range(count):
        begun = time.perf_counter()
        desktop.write_file("~/note.txt", os.urandom(20_000))
        desktop.act(CUAAction("keyboard.press", {"keys": ["a"]}), f"endurance-{number}")
        snapshots.take(number, 1, (), policy)
        desktop.write_file("~/more.txt", os.urandom(20_000))
        snapshots.back_to(start.label)
        milliseconds = 1000 * (time.perf_counter() - begun)
        if number % every == every - 1:
            seen.append(sample(desktop) | {"turn": number + 1, "turn_ms": milliseconds})
    snapshots.close()
    return seen


def sample(desktop: Desktop) -> dict[str, float]:
    """Numbers of this process and, for a guest on this host, of its QEMU and its disk."""
    gc.collect()
    found = {
        "rss_mib": _rss_mib("self"),
        "files": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
    }
    guest = getattr(desktop, "_desktop", desktop)  # without its lease
    folder: Path | None = getattr(guest, "_folder", None)
    if folder is None:
        return found
    from cuamaster.adapters.desktops.libvirt_root import qemu_pids

    (pid,) = qemu_pids(folder)
    found |= {
        "qemu_rss_mib": _rss_mib(str(pid)),
        "qemu_files": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "qemu_threads": len(list(Path(f"/proc/{pid}/task").iterdir())),
        "disk_mib": sum(path.stat().st_blocks for path in folder.iterdir()) / 2048,
        "snapshots_mib": sum(desktop.snapshot_sizes().values()) / (1 << 20),
    }
    return found


def _rss_mib(pid: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1]) / 1024


def growth(seen: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """For each number: first, median of each half after the warm-up, their ratio, and the most."""
    settled = seen[len(seen) // 10 :]
    half = len(settled) // 2
    report = {}
    for name in (key for key in settled[0] if key != "turn"):
        values = [item[name] for item in settled]
        one, two = statistics.median(values[:half]), statistics.median(values[half:])
        report[name] = {
            "first": round(seen[0][name], 3), "half_1": round(one, 3), "half_2": round(two, 3), "most": round(max(values), 3),
            "ratio": round(two / one, 3) if one else 1.0,
        }  # fmt: skip
    return report


@contextmanager
def opened(kind: str) -> Iterator[Desktop]:
    """A desktop of the wanted kind, through the same wiring as a collector's."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(workspace=Path(folder), desktop=kind)
        with wiring.desktop_ports(settings) as ports, ports.host.open(IMAGE) as desktop:
            yield desktop


def main() -> int:
    """Run and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--desktop", choices=("simulated", "libvirt"), default="simulated")
    parser.add_argument("--rollbacks", type=int, default=1000)
    parser.add_argument("--samples", action="store_true", help="print every sample too")
    options = parser.parse_args()
    with opened(options.desktop) as desktop:
        begun = time.perf_counter()
        seen = turns(desktop, options.rollbacks)
        seconds = time.perf_counter() - begun
    report: dict[str, Any] = {
        "desktop": options.desktop,
        "rollbacks": options.rollbacks,
        "seconds": round(seconds, 1),
        "growth": growth(seen),
        "machine": {
            "cpus": os.cpu_count(),
            "load": os.getloadavg(),
            "system": platform.platform(),
            "python": platform.python_version(),
        },
    }
    if options.samples:
        report["samples"] = seen
    json.dump(report, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
