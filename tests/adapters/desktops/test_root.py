"""A process opens its libvirt root as often as it has hosts, one after the other or at once."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

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
