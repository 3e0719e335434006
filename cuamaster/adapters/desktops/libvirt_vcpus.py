"""Whether a guest's virtual CPUs work or rest, as this host's /proc tells: asking costs the guest nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

_IDLE_SHARE = 0.3
"""Virtual CPUs that ran less than this share of the time are idle; a resting desktop needs a hundredth."""


class Vcpus:
    """Only for QEMU on this host. `listed` is the answer to QMP's query-cpus-fast, asked for once."""

    def __init__(self, listed: Callable[[], Sequence[Mapping[str, Any]]]) -> None:
        self._listed = listed
        self._threads: list[int] = []

    def seconds(self) -> float | None:
        """Seconds they ran or wanted to run so far; None when QEMU is not on this host.

        Wanting counts (schedstat's second field): on a crowded host a busy guest may get little CPU.
        """
        total = 0
        try:
            for thread in self._all():
                ran, waited, _slices = Path(f"/proc/{thread}/schedstat").read_text("ascii").split()
                total += int(ran) + int(waited)
        except OSError:
            return None
        return total / 1e9

    def halted(self) -> bool:
        """Whether none has anything to do; one that wants to run but gets no time from this host is not halted.

        True when QEMU is gone.
        """
        try:
            stats = [Path(f"/proc/{thread}/stat").read_text("ascii") for thread in self._all()]
        except OSError:
            return True
        return all(stat.rpartition(")")[2].split()[0] == "S" for stat in stats)

    def rested(self, since: float, used: float | None) -> bool:
        """Whether they were idle since that moment (time.monotonic), when `seconds` gave `used`, and are now.

        One that computes, but gets little time from a crowded host, does not rest; of one on another host nothing is known.
        """
        now = None if used is None else self.seconds()
        if used is None or now is None:
            return True
        return now - used <= _IDLE_SHARE * (time.monotonic() - since) and self.halted()

    def wait_halted(self, seconds: float) -> None:
        """Return once they were seen halted twice in a row, at the latest after `seconds`."""
        deadline = time.monotonic() + seconds
        seen = 0
        while seen < 2 and time.monotonic() < deadline:
            seen = seen + 1 if self.halted() else 0
            time.sleep(0.002)

    def wait_idle(self, seconds: float, quiet: float = 1.0) -> None:
        """Return once they rested for `quiet` seconds, at the latest after `seconds`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            since, used = time.monotonic(), self.seconds()
            time.sleep(quiet)
            if self.rested(since, used):
                return

    def _all(self) -> list[int]:
        if not self._threads:
            self._threads = [int(cpu["thread-id"]) for cpu in self._listed()]
        return self._threads
