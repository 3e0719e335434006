"""Measures what golden clones and rollbacks save: seconds to a usable desktop, as medians and as ratios to a boot.

`python benchmarks/vm_clone.py [-n 10] [--boots 3] [--root DIR]` prints JSON with the machine's description. Boot: QEMU start until
the session has drawn its desktop. Clone: copy of the golden snapshot until the agent answers. Rollback: the same, back to a
snapshot with an application open, until the agent answers; `attested` adds the comparison of state signatures. Fork: from the
call to a second guest that stands attested at the same snapshot (its disk copied, its memory loaded).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import time
from pathlib import Path

from cuamaster.adapters.desktops.libvirt_golden import wait_desktop
from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.desktops.libvirt_machine import start_fresh
from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
from cuamaster.assets import asset_folder
from cuamaster.settings import Settings

IMAGE = "light-desktop"


def boot(host: LibvirtHost) -> float:
    """Seconds from QEMU's start to a drawn desktop."""
    ready = host.prepare(IMAGE)
    folder = ready.root.make_folder("bench")
    started = time.perf_counter()
    guest = start_fresh(ready.root, ready.machine, "bench", ready.image.folder, folder)
    try:
        wait_desktop(guest, 600)
        return time.perf_counter() - started
    finally:
        guest.destroy()
        shutil.rmtree(folder)


def clone(host: LibvirtHost) -> float:
    """Seconds from nothing to an answering agent, clock set and ready for input."""
    started = time.perf_counter()
    desktop = host.start(IMAGE)
    seconds = time.perf_counter() - started
    desktop.close()
    return seconds


def rollbacks(host: LibvirtHost, count: int) -> dict[str, list[float]]:
    """Seconds of snapshots, rollbacks and forks with an editor open and changed since."""
    found: dict[str, list[float]] = {"snapshot": [], "rollback": [], "rollback_attested": [], "fork_attested": []}
    with host.open(IMAGE) as desktop:
        desktop.launch("mousepad")
        desktop.settle(timeout=120, quiet=1)
        for number in range(count):
            label = f"s{number}"
            started = time.perf_counter()
            desktop.snapshot(label)
            found["snapshot"].append(time.perf_counter() - started)
            desktop.shell(f"echo {number} > ~/changed.txt")
            started = time.perf_counter()
            desktop.rollback(label)
            found["rollback_attested"].append(time.perf_counter() - started)
            # The same again, but only until the agent answers.
            started = time.perf_counter()
            desktop.snapshots._jobs.load(label)  # type: ignore[attr-defined]
            desktop._guest.wait_agent(60)  # type: ignore[attr-defined]
            found["rollback"].append(time.perf_counter() - started)
            started = time.perf_counter()
            with desktop.fork(label):
                found["fork_attested"].append(time.perf_counter() - started)
            desktop.drop_snapshot(label)
    return found


def main() -> int:
    """Run all three and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("-n", type=int, default=10, help="clones and rollbacks")
    parser.add_argument("--boots", type=int, default=10)
    parser.add_argument("--root", type=Path, help="embed root of its own, so that a running collector is not disturbed")
    options = parser.parse_args()
    settings = Settings()
    uri = f"qemu:///embed?root={options.root}" if options.root else settings.libvirt_uri
    host = LibvirtHost(
        MmdebstrapBuilder(asset_folder("vm_snapshots"), settings.cache), settings.cache, uri=uri, capacity=2
    )
    try:
        ready = host.prepare(IMAGE)
        series = {"boot": [boot(host) for _ in range(options.boots)], "clone": [clone(host) for _ in range(options.n)]}
        series |= rollbacks(host, options.n)
    finally:
        host.close()
    medians = {name: statistics.median(values) for name, values in series.items()}
    report = {
        "median_s": {name: round(value, 3) for name, value in medians.items()},
        "times_faster_than_boot": {
            name: round(medians["boot"] / value, 1) for name, value in medians.items() if name != "boot"
        },
        "min_s": {name: round(min(values), 3) for name, values in series.items()},
        "max_s": {name: round(max(values), 3) for name, values in series.items()},
        "runs": {name: len(values) for name, values in series.items()},
        "guest": {
            "image": ready.image.folder.name,
            "memory_mib": ready.machine.memory_mib,
            "vcpus": ready.machine.vcpus,
            "accel": ready.machine.accel,
        },
        "golden": json.loads((ready.golden / "manifest.json").read_text("utf-8"))["seconds"],
        "machine": {
            "cpus": os.cpu_count(),
            "load": os.getloadavg(),
            "system": platform.platform(),
            "qemu": ready.machine.qemu_version,
        },
    }
    json.dump(report, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
