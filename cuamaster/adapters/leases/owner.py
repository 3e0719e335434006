"""Names the process that holds a lease, so that any process of the same machine can tell whether it still lives."""

from __future__ import annotations

import os
import socket
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def owner_name() -> str:
    """This machine, its boot, this process and when it started, as `host:boot:pid:ticks`: a number used again is not taken for it."""
    pid = os.getpid()
    return f"{socket.gethostname()}:{_boot()}:{pid}:{_started(pid)}"


def is_dead(owner: str) -> bool:
    """True only for a process of this machine that certainly does not live any more; unknown names live."""
    machine, *rest = owner.rsplit(":", 3)
    if machine != socket.gethostname() or len(rest) != 3 or not rest[1].isdigit():
        return False
    boot, pid, started = rest
    return boot != _boot() or _started(int(pid)) != started


def _boot() -> str:
    return _BOOT.read_text("ascii")[:8]


def _started(pid: int) -> str:
    """Clock ticks from boot to the process's start (field 22 of proc_pid_stat(5)); empty when it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
