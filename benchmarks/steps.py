"""Measures what a step costs on a guest beside raw QMP, a screenshot, a snapshot's bytes, going back against doing it again, and a full host.

`python benchmarks/steps.py [-n 10] [--steps 18] [--fleet 8] [--root DIR]` prints JSON with the machine's description; all ratios come from
one run. A raw step presses a key through QMP, sees the screen change and waits until it has been still for as long as a rollout
does, by `screendump` alone; a step of the framework is one of a real rollout: journal, receipts, state, stored picture and all.
The prefix opens an editor and types word after word. Going back by rollback is compared with a fresh clone, and with a boot,
that do the prefix again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from vm_clone import IMAGE, boot

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.libvirt_desktop import LibvirtDesktop
from cuamaster.adapters.desktops.libvirt_guest import Guest
from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.desktops.libvirt_root import qemu_pids
from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.assets import asset_folder
from cuamaster.errors import HostBusy
from cuamaster.ports import Decision, Desktop, Frame
from cuamaster.propagation.collection.acting import QUIET_S, REACTION_S, SETTLE_S
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.records.condition import FileExists
from cuamaster.records.episode import Budget, Node
from cuamaster.records.primitive import Mode
from cuamaster.records.task import Environment, Task
from cuamaster.records.trajectory import Action
from cuamaster.settings import Settings
from cuamaster.vision.frame_gate import decode_screenshot

PREFIXES = (5, 10, 20)
"""Steps of the prefix that is done again."""
_READER = KnownReader(lambda _image: ())


class Typist:
    """Presses one key a step, so many times, then ends."""

    name = "typist"
    mode: Mode = "gui"

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def begin(self, task: Task) -> None:
        """Nothing to learn from it."""

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:  # noqa: ARG002
        """The next key."""
        if len(history) == self._steps:
            return Decision(actions=(Action(action=CUAAction("finish", {"status": "success"})),))
        return Decision(actions=(Action(action=CUAAction("keyboard.press", {"keys": ["a"]})),))

    def state(self) -> dict[str, Any]:
        """None of its own."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """None of its own."""


def rollout_steps(desktop: Desktop, folder: Path, count: int) -> list[float]:
    """Seconds of each but the first of `count` (at most MAX_STALL) steps of a real rollout, journal and pictures included."""
    journal = JsonlJournal(folder / "journal.jsonl")
    task = Task(
        instruction="Type.", environment=Environment(image=desktop.image, image_digest=desktop.image_digest), plan=(),
        verifier=FileExists(path="~"), strategy="imported",
    )  # fmt: skip
    episode = rollout(
        task, Typist(count), desktop, reader=_READER, journal=journal, detector=RulesDetector(_READER),
        store=LocalStore(folder / "blobs"), budget=Budget(), clock=time.monotonic, episode_id="steps", prepared=True,
    )  # fmt: skip
    if episode.outcome != "passed":
        raise SystemExit(f"the steps did not come to their end: {episode.outcome}: {episode.message}")
    times = [float(event["t"]) for event in journal.events() if event["event"] == "node"]
    return [after - before for before, after in pairwise(times[:-1])]  # the last step is the end, which presses nothing


def raw_step(guest: Guest, path: Path) -> float:
    """Seconds of the same step by QMP alone."""
    begun = time.perf_counter()
    before = guest.screendump(path)
    for down in (True, False):
        key = {"type": "key", "data": {"down": down, "key": {"type": "qcode", "data": "a"}}}
        guest.qmp("input-send-event", {"events": [key]})
    deadline = time.perf_counter() + REACTION_S
    while (seen := guest.screendump(path)) == before and time.perf_counter() < deadline:
        time.sleep(QUIET_S / 3)
    still, deadline = time.perf_counter(), time.perf_counter() + SETTLE_S
    while time.perf_counter() - still < QUIET_S and time.perf_counter() < deadline:
        time.sleep(QUIET_S / 3)
        now = guest.screendump(path)
        if now != seen:
            seen, still = now, time.perf_counter()
    return time.perf_counter() - begun


def screens(desktop: LibvirtDesktop, guest: Guest, path: Path, count: int) -> dict[str, list[float]]:
    """Seconds of a screendump, of a checked screenshot, of its PNG, of the state signature and the accessibility tree."""
    guest.screendump(path)
    kinds: dict[str, Callable[[], object]] = {
        "raw_screendump": lambda: guest.screendump(path),
        "raw_screendump_decoded": lambda: decode_screenshot(guest.screendump(path), desktop.width, desktop.height),
        "screenshot": desktop.screenshot,
        "screenshot_png": lambda: desktop.screenshot().png,
        "state": desktop.state,
        "elements": desktop.elements,
    }
    if "accessibility" not in desktop.capabilities:
        del kinds["elements"]
    return {name: [_timed(look) for _ in range(count)] for name, look in kinds.items()}


def prefix(desktop: Desktop, steps: int) -> float:
    """Seconds to open an editor and type `steps` words, each seen on a still screen."""
    begun = time.perf_counter()
    desktop.launch("mousepad")
    _until(lambda: any(window.app == "mousepad" for window in desktop.state().windows), 120.0)
    for number in range(steps):
        desktop.act(CUAAction("keyboard.type", {"text": f"word{number} "}), f"word-{number}")
        desktop.settle(timeout=SETTLE_S, quiet=QUIET_S)
    return time.perf_counter() - begun


def going_back(host: LibvirtHost, steps: int, count: int) -> dict[str, list[float]]:
    """Seconds of clones, of the prefix on each, and of an attested rollback to its end after one more step."""
    found: dict[str, list[float]] = {"clone": [], "prefix": [], "rollback": []}
    for _ in range(count):
        begun = time.perf_counter()
        with host.open(IMAGE) as desktop:
            found["clone"].append(time.perf_counter() - begun)
            found["prefix"].append(prefix(desktop, steps))
            desktop.snapshot("end")
            desktop.act(CUAAction("keyboard.type", {"text": "wrong"}), "wrong")
            found["rollback"].append(_timed(lambda: desktop.rollback("end")))
    return found


def bytes_of(desktop: LibvirtDesktop, count: int = 6) -> dict[str, Any]:
    """MiB that snapshots take: memory and device state of each, and the growth of the disk with one more."""
    begun = desktop.disk_mib
    grown = []
    for number in range(count):
        desktop.act(CUAAction("keyboard.type", {"text": f"line{number}"}), f"line-{number}")
        desktop.snapshot(f"size{number}")
        grown.append(desktop.disk_mib - begun)
        begun = desktop.disk_mib
    sizes = [round(size / (1 << 20), 1) for size in desktop.snapshot_sizes().values()]
    for number in range(count):
        desktop.drop_snapshot(f"size{number}")
    return {"state_mib": sizes, "disk_grown_mib": grown}


def fleet(host: LibvirtHost, count: int) -> dict[str, Any]:
    """`count` clones started side by side: until all answer, what each takes, and a step and a rollback of all at once."""
    with ExitStack() as stack, ThreadPoolExecutor(count) as threads:
        begun = time.perf_counter()
        opened = list(threads.map(lambda _: _opened(host), range(count)))
        up = time.perf_counter() - begun
        desktops = [desktop for desktop in opened if desktop is not None]
        for desktop in desktops:
            stack.callback(desktop.close)
        seconds: dict[str, list[float]] = {}
        for name, do in (
            ("snapshot", lambda desktop: desktop.snapshot("one")),
            ("command", lambda desktop: desktop.shell("echo here > ~/here.txt")),
            ("settled", lambda desktop: desktop.settle(timeout=SETTLE_S, quiet=QUIET_S)),
            ("rollback", lambda desktop: desktop.rollback("one")),
        ):
            seconds[name] = list(threads.map(lambda desktop, do=do: _timed(lambda: do(desktop)), desktops))  # type: ignore[misc]
        private = [_private_mib(desktop) for desktop in desktops]
    return {
        "wanted": count,
        "opened": len(desktops),
        "all_up_s": round(up, 1),
        "private_mib": private,
        **_shown(seconds),
    }


def _opened(host: LibvirtHost) -> LibvirtDesktop | None:
    try:
        return host.start(IMAGE)
    except HostBusy as exc:
        print(f"one desktop less: {exc}", file=sys.stderr)
        return None


def _private_mib(desktop: LibvirtDesktop) -> int:
    """What the machine does not share with the golden snapshot."""
    total = 0
    for pid in qemu_pids(desktop._folder):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines():
            total += int(line.split()[1]) if line.startswith("Private_") else 0
    return total >> 10


def _timed(do: Callable[[], object]) -> float:
    begun = time.perf_counter()
    do()
    return time.perf_counter() - begun


def _until(holds: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {seconds:g} s for an application in vain")
        time.sleep(0.1)


def _shown(series: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Median, least and most of each series, in seconds."""
    return {
        "median_s": {name: round(statistics.median(values), 4) for name, values in series.items()},
        "range_s": {name: [round(min(values), 4), round(max(values), 4)] for name, values in series.items()},
    }


def compared(boot_s: float, back: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """How many times faster a rollback is than a clone, and than a boot, with the prefix done again on it."""
    clone, again, rollback = (statistics.median(back[name]) for name in ("clone", "prefix", "rollback"))
    return {
        **_shown(back),
        "clone_and_replay_over_rollback": round((clone + again) / rollback, 1),
        "boot_and_replay_over_rollback": round((boot_s + again) / rollback, 1),
    }


def main() -> int:
    """Run everything and print one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", type=int, default=5, help="clones and rollbacks for each prefix")
    parser.add_argument("--steps", type=int, default=18, help="of each arm, at most 20")
    parser.add_argument("--fleet", type=int, default=8, help="guests at once")
    parser.add_argument("--boots", type=int, default=3)
    parser.add_argument("--root", type=Path, help="embed root of its own, so that a running collector is not disturbed")
    options = parser.parse_args()
    settings = Settings()
    uri = f"qemu:///embed?root={options.root}" if options.root else settings.libvirt_uri
    builder = MmdebstrapBuilder(asset_folder("vm_snapshots"), settings.cache)
    host = LibvirtHost(builder, settings.cache, uri=uri, capacity=max(2, options.fleet))
    with tempfile.TemporaryDirectory() as name:
        try:
            ready = host.prepare(IMAGE)
            boots = [boot(host) for _ in range(options.boots)]
            desktop = host.start(IMAGE)
            guest, path = desktop._guest, desktop._folder / "raw.ppm"
            prefix(desktop, 1)
            steps = {"rollout": rollout_steps(desktop, Path(name), options.steps)}
            steps["raw_qmp"] = [raw_step(guest, path) for _ in range(options.steps)]
            looks = screens(desktop, guest, path, options.steps)
            sizes = bytes_of(desktop)
            desktop.close()
            back = {length: going_back(host, length, options.n) for length in PREFIXES}
            crowd = fleet(host, options.fleet)
        finally:
            host.close()
    report = {
        "step": {**_shown(steps), "overhead_ms": round(1000 * float(np.median(steps["rollout"]) - np.median(steps["raw_qmp"])), 1)},
        "screen": _shown(looks),
        "snapshot": sizes,
        "boot": _shown({"boot": boots}),
        "prefix": {length: compared(statistics.median(boots), found) for length, found in back.items()},
        "fleet": crowd,
        "guest": {"image": ready.image.folder.name, "memory_mib": ready.machine.memory_mib, "accel": ready.machine.accel},
        "machine": {
            "cpus": os.cpu_count(), "load": os.getloadavg(), "system": platform.platform(), "qemu": ready.machine.qemu_version,
        },
    }  # fmt: skip
    json.dump(report, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
