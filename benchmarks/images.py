"""Measures how fast an image's applications open, cold and warmed up, and what reading their accessibility tree costs.

`python benchmarks/images.py [IMAGE ...] [-n 3]` prints JSON with the machine's description. Cold: the first start after the boot
from which the golden snapshot was made (from its manifest). Warm: the same start in a clone, measured in the same way, from
the command until the window is there and the machine rests. Elements: one reading with the application open, and for comparison one
state signature and one screenshot, medians.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from cuamaster.adapters.desktops.libvirt_desktop import LibvirtDesktop
from cuamaster.adapters.desktops.libvirt_golden import _warm_up
from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
from cuamaster.adapters.images.recipe import WarmUp
from cuamaster.assets import asset_folder
from cuamaster.settings import Settings


def opening(host: LibvirtHost, image: str, application: WarmUp, count: int) -> list[float]:
    """Seconds until the application's window is there and rests, in `count` new clones."""
    found = []
    for _ in range(count):
        desktop = host.start(image)
        found.append(_warm_up(desktop._guest, desktop._inside("shell"), application))
        desktop.close()
    return found


def medians(desktop: LibvirtDesktop, count: int) -> dict[str, Any]:
    """Seconds of looking at what is open, in three ways, and how much the tree holds."""
    looks: dict[str, Callable[[], object]] = {"screenshot": desktop.screenshot, "state": desktop.state}
    if "accessibility" in desktop.capabilities:
        looks["elements"] = desktop.elements
    told: dict[str, Any] = {}
    for name, look in looks.items():
        taken = []
        for _ in range(count):
            begun = time.perf_counter()
            look()
            taken.append(time.perf_counter() - begun)
        told[f"{name}_s"] = round(statistics.median(taken), 3)
    if "elements" in looks:
        tree = desktop.elements()
        told |= {"elements": len(tree.elements), "whole": tree.whole, "bytes": len(tree.to_json())}
    return told


def measure(host: LibvirtHost, image: str, count: int) -> dict[str, Any]:
    """Everything about one image."""
    ready = host.prepare(image)
    manifest = json.loads((ready.golden / "manifest.json").read_text("utf-8"))
    built = json.loads((ready.image.folder / "manifest.json").read_text("utf-8"))
    apps = {}
    for application in ready.recipe.warm_up:
        warm = opening(host, image, application, count)
        with host.open(image) as desktop:
            assert isinstance(desktop, LibvirtDesktop)
            desktop.shell(f"setsid {application.command} >/dev/null 2>&1 &")
            desktop.settle(timeout=120, quiet=1.5)
            looked = medians(desktop, count)
        apps[application.command] = {
            "cold_s": manifest["warm_up_seconds"][application.command],
            "warm_s": round(statistics.median(warm), 1),
            **looked,
        }
    return {
        "build_s": built["build_seconds"],
        "disk_mib": built["disk_bytes"] >> 20,
        "packages": built["packages"],
        "boot_s": manifest["boot_seconds"],
        "golden_s": manifest["seconds"],
        "golden_memory_mib": manifest["memory_bytes_on_disk"] >> 20,
        "applications": apps,
    }


def main() -> int:
    """Measure the named images and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("images", nargs="*", default=["light-desktop"])
    parser.add_argument("-n", type=int, default=3, help="clones an application, and looks")
    options = parser.parse_args()
    settings = Settings()
    builder = MmdebstrapBuilder(asset_folder("vm_snapshots"), settings.cache, own=settings.images)
    host = LibvirtHost(builder, settings.cache, uri=settings.libvirt_uri)
    try:
        result = {
            "machine": {
                "cores": os.cpu_count(),
                "processor": platform.processor() or platform.machine(),
                "load": os.getloadavg()[0],
            },
            "accel": host.prepare(options.images[0]).machine.accel,
            "images": {name: measure(host, name, options.n) for name in options.images},
        }
    finally:
        host.close()
    json.dump(result, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
