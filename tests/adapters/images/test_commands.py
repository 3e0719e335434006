"""Programs of an image build: what they say is kept, a full disk is told, and nothing of them outlives the build."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cuamaster.adapters.images.commands import run
from cuamaster.adapters.images.publish import publish
from cuamaster.errors import ImageBuildError, StoreFull

_BUILD = """
from pathlib import Path
from cuamaster.adapters.images.commands import run
script = "mount -t tmpfs inside $0/tree && touch $0/mounted; sleep {seconds} & sleep {seconds}; touch $0/survived"
run(["sh", "-c", script, {folder!r}], log=Path({folder!r}) / "log")
"""


def wait_for(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def sleepers(seconds: str) -> list[str]:
    """Process ids of `sleep SECONDS`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:  # ended meanwhile
            continue
        if words[:2] == [b"sleep", seconds.encode()]:
            found.append(path.parent.name)
    return found


def test_output_is_given_and_kept_and_a_failure_tells_its_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert run(["sh", "-c", "echo one; echo two >&2"], log=log) == "one\ntwo\n"
    with pytest.raises(ImageBuildError, match=rf"status 3: three \(full log: {log}\)"):
        run(["sh", "-c", "echo three; exit 3"], log=log)
    assert "one\ntwo\n" in log.read_text()
    with pytest.raises(ImageBuildError, match="no-such-program"):
        run(["no-such-program"], log=log)


def test_a_full_disk_is_no_fault_of_the_recipe(tmp_path: Path) -> None:
    with pytest.raises(StoreFull, match=f"under {tmp_path}"):
        run(["dd", "if=/dev/zero", "of=/dev/full", "count=1"], log=tmp_path / "log")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_build_that_is_ended_leaves_no_program_and_no_mount(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "tree").mkdir()
    seconds = f"600.{os.getpid()}{how.value}"  # tells these processes from everybody else's
    with subprocess.Popen(
        [sys.executable, "-c", _BUILD.format(folder=str(tmp_path), seconds=seconds)], stderr=subprocess.DEVNULL
    ) as build:
        wait_for(lambda: (tmp_path / "mounted").exists() and len(sleepers(seconds)) == 2)
        build.send_signal(how)
        build.wait(30)
    wait_for(lambda: not sleepers(seconds))
    assert str(tmp_path) not in Path("/proc/mounts").read_text()
    assert not (tmp_path / "survived").exists()


def test_a_published_folder_has_all_of_its_files(tmp_path: Path) -> None:
    staged = tmp_path / ".staged"
    staged.mkdir()
    (staged / "disk").write_bytes(b"bytes")
    (staged / "link").symlink_to("/nowhere")
    publish(staged, tmp_path / "image")
    assert sorted(item.name for item in (tmp_path / "image").iterdir()) == ["disk", "link"]
    assert (tmp_path / "image" / "disk").read_bytes() == b"bytes"
    assert not staged.exists()
