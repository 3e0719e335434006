"""Moves device state between a running guest and a file, and runs QEMU's snapshot jobs."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from pathlib import Path
from typing import Any

from cuamaster.adapters.desktops.libvirt_guest import Guest
from cuamaster.errors import DesktopFault, GuestUnresponsive, NoRoom

_CHUNK = 1 << 20
_FULL_BYTES = 32 << 20
_POLL = 0.005


def save_state(guest: Guest, target: Path, *, timeout: float = 60.0) -> None:
    """Write a suspended guest's device state to `target`; its shared memory file is left out (x-ignore-shared)."""
    path = target.with_suffix(".sock")
    path.unlink(missing_ok=True)
    _ignore_shared(guest, True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(1)
        listener.settimeout(timeout)
        failures: list[OSError] = []

        def receive() -> None:
            try:
                peer, _ = listener.accept()
                with peer, target.open("wb") as out:
                    while data := peer.recv(_CHUNK):
                        out.write(data)
            except OSError as exc:
                failures.append(exc)

        receiver = threading.Thread(target=receive, name="golden-state")
        receiver.start()
        try:
            guest.qmp("migrate", {"uri": f"unix:{path}"})
            _finish_migration(guest, timeout)
        finally:
            receiver.join(timeout)
            path.unlink(missing_ok=True)
    if failures:
        raise DesktopFault(f"{guest.name}: device state could not be stored: {failures[0]}")


def load_state(guest: Guest, source: Path, folder: Path, *, timeout: float = 60.0) -> None:
    """Feed stored device state to a guest started with `-incoming defer`; it stays paused. The socket lies in `folder`."""
    path = folder / "in.sock"
    _ignore_shared(guest, True)
    guest.qmp("migrate-incoming", {"uri": f"unix:{path}"})
    with socket.socket(socket.AF_UNIX) as peer, source.open("rb") as data:
        peer.settimeout(timeout)
        peer.connect(str(path))
        peer.sendfile(data)
    _finish_migration(guest, timeout)
    # Snapshots inside the clone must hold all memory again.
    _ignore_shared(guest, False)


def _ignore_shared(guest: Guest, state: bool) -> None:
    guest.qmp("migrate-set-capabilities", {"capabilities": [{"capability": "x-ignore-shared", "state": state}]})


def _finish_migration(guest: Guest, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while True:
        status = guest.qmp("query-migrate")
        if status.get("status") == "completed":
            return
        if status.get("status") == "failed":
            raise DesktopFault(f"{guest.name}: device state was refused: {status.get('error-desc', 'no reason given')}")
        if time.monotonic() > deadline:
            raise GuestUnresponsive(f"{guest.name}: device state did not move within {timeout:g} s")
        time.sleep(_POLL)


class SnapshotJobs:
    """Saves, loads and deletes memory-and-disk snapshots inside a guest's own disk; libvirt does not know these tags."""

    def __init__(self, guest: Guest, folder: Path) -> None:
        """`folder`: where the guest's disk lies, if this host can see it."""
        self._guest = guest
        self._folder = folder
        self._count = 0
        inserted = [block["inserted"] for block in guest.qmp("query-block") if block.get("inserted")]
        # A machine of one's own may have firmware and CDs besides.
        ours = next((item for item in inserted if str(item["file"]).endswith("/disk.qcow2")), inserted[0])
        self._node = str(ours["node-name"])

    def sizes(self) -> dict[str, int]:
        """Bytes of device and memory state that each snapshot holds on the disk."""
        images = [block["inserted"]["image"] for block in self._guest.qmp("query-block") if block.get("inserted")]
        return {item["name"]: int(item["vm-state-size"]) for image in images for item in image.get("snapshots", ())}

    def save(self, tag: str) -> None:
        """Store memory and disk under `tag`; the guest pauses meanwhile."""
        self._run("snapshot-save", {"tag": tag, "vmstate": self._node, "devices": [self._node]})

    def load(self, tag: str) -> None:
        """Return memory and disk to `tag`."""
        self._run("snapshot-load", {"tag": tag, "vmstate": self._node, "devices": [self._node]})

    def delete(self, tag: str) -> None:
        """Free `tag`; its clusters are used again by later snapshots."""
        self._run("snapshot-delete", {"tag": tag, "devices": [self._node]})

    def _run(self, command: str, arguments: dict[str, Any], timeout: float = 120.0) -> None:
        self._count += 1
        job = f"{command}-{self._count}"
        self._guest.qmp(command, {"job-id": job, **arguments})
        deadline = time.monotonic() + timeout
        while True:
            state = next((item for item in self._guest.qmp("query-jobs") if item["id"] == job), None)
            if state is None:
                raise DesktopFault(f"{self._guest.name}: job {job} is gone")
            if state["status"] == "concluded":
                break
            if time.monotonic() > deadline:
                raise GuestUnresponsive(f"{self._guest.name}: {command} did not end within {timeout:g} s")
            time.sleep(_POLL)
        self._guest.qmp("job-dismiss", {"id": job})
        if reason := state.get("error"):
            message = f"{self._guest.name}: {command} {arguments['tag']}: {reason}"
            raise NoRoom(message) if self._full() else DesktopFault(message)

    def _full(self) -> bool:
        """Whether the disk under the guest's is full: QEMU itself only speaks of an input/output error."""
        return self._folder.is_dir() and shutil.disk_usage(self._folder).free < _FULL_BYTES
