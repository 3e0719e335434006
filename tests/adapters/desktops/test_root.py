"""A process opens its libvirt root as often as it has hosts; several processes get roots of their own."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

_OPEN_OFTEN = """
import sys
from pathlib import Path
from cuamaster.adapters.desktops.libvirt_root import open_root
for _ in range(60):
    roots = [open_root(f"qemu:///embed?root={sys.argv[1]}", Path(sys.argv[1])) for _ in range(2)]
    for root in roots:
        root.close()
    assert roots[0].connection.isAlive()
    (root.make_folder("m")).rmdir()
"""


def test_a_root_can_be_opened_sixty_times() -> None:
    root = Path(tempfile.mkdtemp(prefix="lv-"))  # a short path, and a process of its own: it holds the root to its end
    try:
        done = subprocess.run(
            [sys.executable, "-c", _OPEN_OFTEN, str(root)], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
    finally:
        shutil.rmtree(root)


_STAY = """
import sys
from pathlib import Path
from cuamaster.adapters.desktops.libvirt_root import open_root
root = open_root("", Path(sys.argv[1]))
assert open_root("", Path(sys.argv[1])).folder == root.folder
(root.make_folder("m") / "disk").write_text("x")
print(root.folder, flush=True)
sys.stdin.readline()
"""


@pytest.mark.slow
def test_collectors_of_one_machine_get_roots_of_their_own_and_what_dead_ones_left_is_swept() -> None:
    cache = Path(tempfile.mkdtemp(prefix="lv-"))
    running: list[subprocess.Popen[str]] = []

    def collector() -> Path:
        process = subprocess.Popen(
            [sys.executable, "-c", _STAY, str(cache)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        running.append(process)
        assert process.stdout is not None
        return Path(process.stdout.readline().strip())

    def left_behind(folder: Path) -> subprocess.Popen[str]:
        """A process that looks like a QEMU of that root."""
        argv = ["qemu-system-x86_64", "-c", "import time; time.sleep(600)", f"{folder}/m/disk"]
        process = subprocess.Popen(argv, executable=sys.executable, text=True)
        running.append(process)
        return process

    try:
        first, second = collector(), collector()
        assert (first, second) == (cache / "lv" / "vm", cache / "lv-1" / "vm")
        orphan = left_behind(second)
        assert collector() == cache / "lv-2" / "vm"
        assert orphan.poll() is None and (second / "m" / "disk").exists(), "its owner lives"
        for process in running[:2]:
            process.kill()
            process.wait()
        assert collector() == first
        assert orphan.wait(20) == -signal.SIGKILL
        assert list(second.iterdir()) == []
        assert (cache / "lv-2" / "vm" / "m" / "disk").exists()
    finally:
        for process in running:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
        shutil.rmtree(cache)
