"""Finds out whether KVM really works here by booting a kernel with it: a device node or an ioctl can mislead."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BOOT_SECONDS = 15.0
"""A kernel under hardware KVM prints its banner in well under a second, and panics without a root disk soon after."""


def kernel_for(image: Path, cache: Path) -> Path | None:
    """A kernel to probe with: the image's own, or, for a disk of one's own, that of any image built here; None without one."""
    own = image / "vmlinuz"
    return own if own.is_file() else next(iter(sorted((cache / "images").glob("*/vmlinuz"))), None)


def probe_kvm(kernel: Path, cache: Path) -> bool:
    """True when `kernel` prints its banner under KVM before the deadline; remembered under `cache` until the host reboots."""
    emulator = shutil.which("qemu-system-x86_64")
    if emulator is None or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text("utf-8").strip()
    remembered = cache / f"kvm-{boot_id}"
    if remembered.is_file():
        return remembered.read_text("utf-8").strip() == "works"
    works = _boots(emulator, kernel)
    cache.mkdir(parents=True, exist_ok=True)
    for stale in cache.glob("kvm-*"):
        stale.unlink(missing_ok=True)
    remembered.write_text("works\n" if works else "does not boot\n", "utf-8")
    return works


def _boots(emulator: str, kernel: Path) -> bool:
    """Boot without a root disk: the kernel prints its banner, panics and, told to reboot, ends QEMU."""
    with tempfile.TemporaryDirectory() as folder:
        console = Path(folder) / "console"
        command = [
            emulator, "-accel", "kvm", "-cpu", "host", "-m", "256", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-serial", f"file:{console}", "-kernel", str(kernel), "-append", "console=ttyS0 panic=-1",
        ]  # fmt: skip
        # After a time-out, what the kernel printed until then decides.
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, timeout=BOOT_SECONDS, check=False)
        return console.is_file() and b"Linux version" in console.read_bytes()
