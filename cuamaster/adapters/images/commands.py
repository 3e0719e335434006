"""Runs the host programs that an image build needs, with their output kept for the error message."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cuamaster.adapters.images.publish import MORE_ROOM
from cuamaster.errors import ImageBuildError, MissingDependency, StoreFull

PROGRAMS: Mapping[str, str] = {
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "qemu-img": "qemu-utils",
    "dpkg-deb": "dpkg",
    "apt-get": "apt",
    "chroot": "coreutils",
    "cc": "gcc",
    "setpriv": "util-linux",
    "unshare": "util-linux",
}
"""Host program -> Debian package that has it."""
HEADERS: Mapping[str, str] = {"/usr/include/stdio.h": "libc6-dev", "/usr/include/xcb/xcb.h": "libxcb1-dev"}
"""Header -> Debian package that has it and the static library, for the program compiled into a guest."""

_TAIL = 25
_FULL = re.compile(r"No space left on device|Disk quota exceeded|You don't have enough free space")
_DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")
_ALONE = ("unshare", "--mount", "--pid", "--fork", "--kill-child")


def require_programs() -> None:
    """Raise MissingDependency naming every absent package at once."""
    absent = sorted(
        {package for program, package in PROGRAMS.items() if shutil.which(program) is None}
        | {package for header, package in HEADERS.items() if not Path(header).is_file()}
    )
    if absent:
        raise MissingDependency(
            f"the image build needs packages that are not installed: {', '.join(absent)}",
            hint=f"apt-get install --no-install-recommends {' '.join(absent)}",
        )


def run(
    command: Sequence[str | Path],
    *,
    log: Path,
    on_line: Callable[[str], None] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> str:
    """Run to the end, append all output to `log` and return it; raises ImageBuildError with the last lines on failure, StoreFull.

    Whatever ends this process, SIGKILL included, ends the program and what it started, and nothing that it mounted stays.
    """
    argv = [str(part) for part in command]
    lines: list[str] = []
    process = subprocess.Popen(
        [*_DIES_WITH_US, *(_ALONE if _may_be_alone() else ()), *argv],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=dict(env) if env else None,
        cwd=cwd, text=True, errors="replace",
    )  # fmt: skip
    assert process.stdout is not None
    try:
        with process.stdout as stream, log.open("a", encoding="utf-8") as sink:
            sink.write(f"+ {' '.join(argv)}\n")
            for line in stream:
                sink.write(line)
                lines.append(line)
                if on_line is not None:
                    on_line(line.rstrip())
        status = process.wait()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if status != 0:
        tail = "".join(lines[-_TAIL:]).strip()
        if _FULL.search(tail):
            raise StoreFull(f"{argv[0]}: no space left under {log.parent}", hint=f"{MORE_ROOM}; full log: {log}")
        raise ImageBuildError(f"{argv[0]} ended with status {status}: {tail or 'no output'}", hint=f"full log: {log}")
    return "".join(lines)


@functools.cache
def _may_be_alone() -> bool:
    """Whether programs get a space of mounts and processes of their own; where that is forbidden, so is mounting."""
    return subprocess.run([*_ALONE, "true"], capture_output=True, check=False).returncode == 0
