"""Programs for the tests of a host's faults; each runs in a process of its own, because a process has one embedded root for life."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cuamaster.adapters.desktops.libvirt_desktop import LibvirtDesktop
from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.desktops.libvirt_root import qemu_pids
from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.assets import asset_folder
from cuamaster.errors import DesktopFault
from cuamaster.propagation.collection.outcomes import outcome_of
from cuamaster.propagation.collection.snapshots import Snapshots
from cuamaster.settings import Settings

IMAGE = "light-desktop"


def host_at(uri: str, cache: Path | None = None) -> LibvirtHost:
    """A host over the shared images; `cache`: where a daemon's guests put their disks."""
    shared = Settings().cache
    return LibvirtHost(MmdebstrapBuilder(asset_folder("vm_snapshots"), shared), cache or shared, uri=uri)


def fault_of(call: Callable[[], object]) -> tuple[str, str]:
    """The class of the DesktopFault that a call raises and the outcome it gives an episode; empty without one."""
    try:
        call()
    except DesktopFault as exc:
        return type(exc).__name__, outcome_of(exc)[0]
    return "", ""


def full_disk(root: str) -> dict[str, object]:
    """On a root whose file system is filled up by and by: snapshots make room, then say that there is none; the start stays good."""
    host = host_at(f"qemu:///embed?root={root}")
    policy = ReplayPolicy(KnownReader(lambda _image: []))
    found: dict[str, object] = {}
    with host.open(IMAGE) as opened:
        desktop: LibvirtDesktop = opened  # type: ignore[assignment]
        desktop._guest.agent_seconds = 5
        desktop.write_file("~/note.txt", b"start")
        snapshots = Snapshots(desktop, "full", ("~/note.txt",))
        for node in (-1, 1, 2):
            snapshots.take(node, 0, (), policy)
        _leave(root, 60)
        snapshots.take(3, 0, (), policy)
        found["kept"] = sorted(desktop.snapshot_sizes())
        _leave(root, 4)
        found["fault"] = fault_of(lambda: Snapshots(desktop, "more", ()).take(4, 0, (), policy))
        shutil.rmtree(Path(root) / "ballast")
        desktop.write_file("~/note.txt", b"later")
        snapshots.back_to("full-s0")
        found["note"] = (desktop.read_file("~/note.txt") or b"").decode()
        _leave(root, 0)
        found["write"] = fault_of(lambda: desktop.shell("head -c 60000000 /dev/urandom > ~/big; sync; echo $?"))
    shutil.rmtree(Path(root) / "ballast", ignore_errors=True)
    host.close()
    found["left"] = [path.name for path in (Path(root) / "vm").iterdir()]
    return found


def _leave(root: str, mib: int) -> None:
    """Fill the file system under `root` up to `mib` MiB."""
    ballast = Path(root) / "ballast"
    ballast.mkdir(exist_ok=True)
    spare = (shutil.disk_usage(root).free >> 20) - mib
    if spare > 0:
        descriptor = os.open(ballast / str(time.monotonic_ns()), os.O_CREAT | os.O_WRONLY)
        os.posix_fallocate(descriptor, 0, spare << 20)
        os.close(descriptor)


_DAEMON = """
set -e
mkdir -p /run/libvirt /var/lib/libvirt /var/cache/libvirt /etc/libvirt
for folder in run/libvirt var/lib/libvirt var/cache/libvirt etc/libvirt; do
    mkdir -p {base}/$folder
    mount --bind {base}/$folder /$folder
done
exec libvirtd -f {base}/libvirtd.conf -p {base}/libvirtd.pid
"""
_QEMU_CONF = 'user = "root"\ngroup = "root"\nsecurity_driver = "none"\ndynamic_ownership = 0\ncgroup_controllers = []\nremember_owner = 0\nnamespaces = []\nstdio_handler = "file"\n'


def _daemon(base: Path) -> subprocess.Popen[bytes]:
    """A libvirt daemon whose folders are its own, in a mount namespace of its own."""
    (base / "etc" / "libvirt").mkdir(parents=True, exist_ok=True)
    (base / "etc" / "libvirt" / "qemu.conf").write_text(_QEMU_CONF, "utf-8")
    (base / "libvirtd.conf").write_text(
        f'unix_sock_dir = "{base}"\nauth_unix_rw = "none"\nlog_outputs = "3:file:{base}/libvirtd.log"\n', "utf-8"
    )
    (base / "libvirt-sock").unlink(missing_ok=True)
    daemon = subprocess.Popen(["unshare", "-m", "sh", "-c", _DAEMON.format(base=base)])
    deadline = time.monotonic() + 60
    while not (base / "libvirt-sock").exists():
        if daemon.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"libvirtd did not start: {daemon.returncode}")
        time.sleep(0.05)
    return daemon


def lost_connection(base: str) -> dict[str, object]:
    """A libvirt daemon is killed under a desktop: a typed fault, no orphan, and the host opens the next daemon by itself."""
    place = Path(base)
    daemon = _daemon(place)
    host = host_at(f"qemu+unix:///system?socket={base}/libvirt-sock", place / "cache")
    found: dict[str, object] = {}
    try:
        desktop = host.start(IMAGE)
        found["before"] = desktop.shell("echo here").stdout
        (machine,) = qemu_pids(desktop._folder)
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
        found["faults"] = [fault_of(call) for call in (desktop.state, desktop.screenshot)]
        found["outlived"] = Path(f"/proc/{machine}").exists()
        desktop.close()
        found["orphans"] = qemu_pids(place)
        found["start"] = fault_of(lambda: host.start(IMAGE))
        daemon = _daemon(place)
        with host.open(IMAGE) as again:
            found["after"] = again.shell("echo again").stdout
        host.close()
        found["left"] = [path.name for path in (place / "cache" / "run").iterdir()]
    finally:
        daemon.kill()
        daemon.wait()
    return found


if __name__ == "__main__":
    print(json.dumps({"full_disk": full_disk, "lost_connection": lost_connection}[sys.argv[1]](sys.argv[2])))
