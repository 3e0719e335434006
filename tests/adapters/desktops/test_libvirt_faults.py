"""What happens when things break: QEMU killed, a silent guest, a second owner, a dead owner's leftovers."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.libvirt_desktop import LibvirtDesktop
from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.desktops.libvirt_root import link_name, qemu_pids
from cuamaster.errors import DesktopFault, GuestDied, GuestUnresponsive, HostBusy, StateDrift
from tests.adapters.desktops.conftest import clone

pytestmark = pytest.mark.vm

_COLLECTOR = """
import sys, time
from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
from cuamaster.assets import asset_folder
from cuamaster.errors import HostBusy
from cuamaster.settings import Settings
cache = Settings().cache
host = LibvirtHost(MmdebstrapBuilder(asset_folder("vm_snapshots"), cache), cache, uri=f"qemu:///embed?root={sys.argv[1]}")
try:
    desktop = host.start("light-desktop")
except HostBusy as exc:
    print("busy", exc, flush=True)
    sys.exit()
print("ready", desktop.shell("echo mine").stdout.strip(), flush=True)
if len(sys.argv) > 2:
    time.sleep(600)
host.close()
"""


def _collector(root: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _COLLECTOR, str(root), *more], stdout=subprocess.PIPE, text=True)


def test_a_killed_qemu_is_a_dead_guest_and_the_host_goes_on(host: LibvirtHost) -> None:
    root = host.prepare("light-desktop").root.folder.parent
    with clone(host) as desktop:
        mine = [pid for pid in qemu_pids(root) if f"guest={desktop.name}," in Path(f"/proc/{pid}/cmdline").read_text()]
        assert len(mine) == 1
        os.kill(mine[0], signal.SIGKILL)
        deadline = time.monotonic() + 20
        while Path(f"/proc/{mine[0]}").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        for call in (desktop.screenshot, desktop.state, lambda: desktop.shell("true")):
            with pytest.raises(GuestDied):
                call()
        with pytest.raises(GuestDied):
            desktop.act(CUAAction("keyboard.press", {"keys": ["a"]}), "t")
    with clone(host) as desktop:
        assert desktop.shell("echo fine").stdout == "fine\n"


def test_a_guest_that_does_not_answer_is_unresponsive_and_its_action_unknown(host: LibvirtHost) -> None:
    with clone(host) as desktop:
        # The agent stops itself a moment after it has answered.
        desktop._guest.start(["/usr/lib/desk/busybox", "sh", "-c", "sleep 0.5; kill -STOP $(pidof qemu-ga)"])
        deadline = time.monotonic() + 60
        with pytest.raises(GuestUnresponsive):
            while time.monotonic() < deadline:
                desktop.shell("true")
        receipt = desktop.act(CUAAction("shell.exec", {"command": "true"}), "t")
        assert receipt.status == "unknown"
        assert receipt.exit_code is None
        assert desktop.screenshot().image.any()  # the screen needs no agent


def test_the_second_agent_serves_clones_restores_and_forks(desktop: LibvirtDesktop) -> None:
    data = bytes(range(256)) * 4096
    desktop.write_file("~/data", data)
    desktop.snapshot("written", ["~/data"])
    desktop.shell("rm ~/data")
    desktop.rollback("written")
    with desktop.fork("written") as twin:
        for place in (desktop, twin):
            assert place._guest._direct is not None  # type: ignore[attr-defined]
            assert place.read_file("~/data") == data
    desktop.drop_snapshot("written")


def test_a_drifted_state_is_told_from_the_attested_one(desktop: LibvirtDesktop) -> None:
    desktop.write_file("~/f.txt", b"one")
    signature = desktop.snapshot("drift", ["~/f.txt"])
    wrong = signature.model_copy(update={"files": {"~/f.txt": "0" * 64}})
    saved = desktop.snapshots._saved
    saved["drift"] = dataclasses.replace(saved["drift"], signature=wrong)
    with pytest.raises(StateDrift, match=r"f\.txt"):
        desktop.rollback("drift")
    desktop.drop_snapshot("drift")


def test_clones_leave_the_golden_files_alone(host: LibvirtHost) -> None:
    golden = host.prepare("light-desktop").golden

    def digests() -> dict[str, str]:
        return {
            name: hashlib.sha256((golden / name).read_bytes()).hexdigest()
            for name in ("memory.img", "device.state", "disk.qcow2")
        }

    before = digests()
    with clone(host) as desktop:
        desktop.shell("head -c 30000000 /dev/urandom > ~/noise; sync")
        desktop.snapshot("s")
        desktop.rollback("s")
    assert digests() == before


def test_large_output_comes_whole_and_the_agent_survives(desktop: LibvirtDesktop) -> None:
    result = desktop.shell("head -c 5000000 /dev/zero | tr '\\0' x; echo done >&2")
    assert (len(result.stdout), result.stderr, result.exit_code) == (5_000_000, "done\n", 0)
    assert desktop.shell("echo " + "y" * 200_000).stdout == "y" * 200_000 + "\n"


def test_the_limit_ends_the_whole_process_group(desktop: LibvirtDesktop) -> None:
    result = desktop.shell("trap '' TERM; sleep 987 & sleep 987", timeout=1)
    assert result.exit_code is None
    assert desktop.shell("pgrep -f 'sleep 98[7]'").exit_code == 1
    assert desktop.shell("exit 124").exit_code == 124


def test_the_shell_is_the_users_not_roots(desktop: LibvirtDesktop) -> None:
    assert desktop.shell("id -un; id -Gn").stdout.split()[0] == "user"
    with pytest.raises(DesktopFault, match="Permission denied"):
        desktop.write_file("/root/x", b"")
    assert desktop.shell("gsettings set org.xfce.mousepad.preferences.view word-wrap true").exit_code == 0
    assert desktop.shell("gsettings get org.xfce.mousepad.preferences.view word-wrap").stdout == "true\n"


def test_capacity_is_kept(host: LibvirtHost) -> None:
    small = LibvirtHost(host._builder, host._cache, uri=host._uri, capacity=1)  # shares the process's root
    with clone(small), pytest.raises(HostBusy, match="all 1 desktops"), clone(small):
        pass
    small.close()


def test_a_process_has_one_root(host: LibvirtHost, tmp_path: Path) -> None:
    host.prepare("light-desktop")
    other = LibvirtHost(host._builder, host._cache, uri=f"qemu:///embed?root={tmp_path}/elsewhere")
    with pytest.raises(HostBusy, match="already holds"):
        other.start("light-desktop")
    assert other._live == {}


def test_a_second_owner_is_told_who_holds_the_root_and_a_dead_owners_guests_are_swept(tmp_path: Path) -> None:
    # Longer than a socket path may be: the root is then reached through a short link.
    root = tmp_path / ("a" * 60)
    owner = _collector(root, "stay")
    assert owner.stdout is not None
    link = Path(tempfile.gettempdir()) / link_name(root)

    def pids() -> set[int]:
        return {*qemu_pids(root), *qemu_pids(link)}

    try:
        assert owner.stdout.readline() == "ready mine\n"
        left = pids()
        assert len(left) == 1
        told, _ = _collector(root).communicate(timeout=120)
        assert told.startswith(f"busy process {owner.pid} ")
        assert pids() == left  # the second one harmed nothing
        owner.kill()
        owner.wait()
        assert pids() == left  # a guest outlives its owner ...
        told, _ = _collector(root).communicate(timeout=240)
        assert told == "ready mine\n"
        assert pids() == set()  # ... until the next owner opens the root
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()
        for pid in pids():
            os.kill(pid, signal.SIGKILL)
        link.unlink(missing_ok=True)


def test_more_jobs_than_are_kept_disturb_none(desktop: LibvirtDesktop) -> None:
    for number in range(30):
        desktop.write_file("~/many.txt", str(number).encode() * 10)
        assert desktop.shell("cat ~/many.txt").stdout == str(number) * 10
    left = int(desktop.shell("ls /run/desk/jobs | wc -l").stdout)
    assert left < 110
