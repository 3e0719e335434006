"""Says whether another guest fits on this machine: memory and disk that are free now."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

CLONE_DISK_MIB = 1536
"""What an episode's overlay may grow to: a few memory snapshots of 200 MiB and what the guest writes."""
CLONE_MEMORY_SHARE = 0.6
"""Part of a guest's memory that a clone copies in use; the rest stays shared with the golden snapshot."""


def obstacle(folder: Path, memory_mib: int, *, disk_mib: int = 0, meminfo: Path = Path("/proc/meminfo")) -> str | None:
    """Why a clone of `memory_mib` in `folder` does not fit, or None; `disk_mib`: what it has on its disk from the start."""
    free, wanted = shutil.disk_usage(folder).free >> 20, CLONE_DISK_MIB + disk_mib
    if free < wanted:
        return f"only {free} MiB free under {folder}, a clone needs {wanted}"
    match = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text("ascii"), re.MULTILINE)
    available = int(match.group(1)) >> 10 if match else None
    needed = int(memory_mib * CLONE_MEMORY_SHARE)
    if available is not None and available < needed:
        return f"only {available} MiB of memory available, a clone needs {needed}"
    return None
