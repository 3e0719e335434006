"""Faults of the host under a real guest: its disk is full, libvirt is gone, the collector is killed; nothing is lost or left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuamaster.adapters.desktops.libvirt_root import qemu_pids
from cuamaster.records.episode import Episode
from cuamaster.tables import Workspace
from tests.vm import host_faults

pytestmark = [pytest.mark.vm, pytest.mark.xdist_group("vm-programs")]


def _run(name: str, place: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", host_faults.__name__, name, str(place)], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with a short path, in which no machine may be left running."""
    with tempfile.TemporaryDirectory(prefix="lvs-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
        left = qemu_pids(Path(folder))
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert left == []


@pytest.fixture
def small_disk(place: Path) -> Iterator[Path]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2600m", "none", str(place)], check=True)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_costs_older_snapshots_then_the_episode_but_never_a_label_or_the_start(small_disk: Path) -> None:
    found = _run("full_disk", small_disk)
    assert "full-s0" in found["kept"]
    assert "full-s3" in found["kept"]
    assert len(found["kept"]) < 4, "one of the others made room"
    assert found["fault"] == ["NoRoom", "infra"]
    assert found["note"] == "start", "the oldest snapshot was not harmed"
    assert found["write"][1] == "infra", "a machine whose disk cannot grow says nothing about the policy"
    assert found["left"] == []


def test_a_lost_libvirt_is_infra_leaves_no_orphan_and_is_opened_again(place: Path) -> None:
    found = _run("lost_connection", place)
    assert found["before"] == "here\n"
    assert found["faults"] == [["ConnectionLost", "infra"]] * 2
    assert found["outlived"], "libvirt's machines outlive it ..."
    assert found["orphans"] == [], "... but not their desktop"
    assert found["start"] != ["", ""]
    assert found["after"] == "again\n"
    assert found["left"] == []


_COLLECT = "import sys; from tests.e2e.collector import run_on_guest; run_on_guest(sys.argv[1], int(sys.argv[2]))"


def test_a_collector_killed_with_a_real_guest_is_swept_and_the_next_one_finishes(place: Path, tmp_path: Path) -> None:
    environment = os.environ | {"CUAMASTER_LIBVIRT_URI": f"qemu:///embed?root={place}/r"}

    def collect(die_at: int) -> int:
        command = [sys.executable, "-c", _COLLECT, str(tmp_path / "w"), str(die_at)]
        return subprocess.run(command, env=environment, check=False).returncode

    assert [collect(point) for point in (5, 21)] == [-signal.SIGKILL] * 2
    assert len(qemu_pids(place)) == 1, "the guest of the last one; that of the one before was swept"
    assert collect(0) == 0
    episodes = Workspace(tmp_path / "w").round(1).stage("collect").kept(Episode)
    assert [episode.outcome for episode in episodes if episode.outcome != "infra"] == ["passed"]
    assert len(episodes) == len({episode.id for episode in episodes}) <= 3
    assert list((place / "r" / "vm").iterdir()) == []
