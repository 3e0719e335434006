"""Opens libvirt: one process owns an embed root to its end, an event loop runs in a thread, a dead owner's leftovers are swept."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import os
import re
import shutil
import signal
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import libvirt

from cuamaster.adapters.desktops.libvirt_guest import connected
from cuamaster.errors import HostBusy, MissingDependency

log = logging.getLogger(__name__)

MAX_ROOT = 34
"""Longest embed root in characters: the agent socket below it adds up to 72, and a unix socket's path ends at 107."""

_EMBED_CONF = """\
user = "root"
group = "root"
security_driver = "none"
dynamic_ownership = 0
cgroup_controllers = []
remember_owner = 0
namespaces = []
stdio_handler = "file"
"""
_KEEP_ALIVE = (5, 6)
"""Seconds between two signs of life of a libvirt daemon, and how many may be missed before the connection counts as lost."""
_lock = threading.RLock()
_loop_started = False
_embed_roots: dict[Path, Any] = {}
"""Connections to this process's embed roots, never closed: libvirt registers its embedded driver again at every opening
after a close, in a table that is full after some twenty ("Too many drivers, cannot register QEMU")."""


@dataclass(frozen=True)
class Root:
    """An open libvirt connection and the folder for disks and sockets of its machines (`embed`: this process owns it)."""

    connection: Any
    folder: Path
    embed: bool

    def make_folder(self, name: str) -> Path:
        """A new folder for one machine's disk and sockets; a QEMU that runs as another user must be able to write there."""
        folder = self.folder / name
        folder.mkdir()
        if not self.embed:
            folder.chmod(0o777)
        return folder

    def forget(self, name: str) -> None:
        """Remove what one ended machine left: its folder, and the log that libvirt keeps for ever."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        if self.embed:
            (self.folder.parent / "log" / "qemu" / f"{name}.log").unlink(missing_ok=True)

    @property
    def alive(self) -> bool:
        """Whether the connection still leads to libvirt."""
        return connected(self.connection)

    def close(self) -> None:
        """Give it back; an embed root stays this process's own until it ends."""
        if self.embed:
            return
        try:
            self.connection.close()
        except libvirt.libvirtError as exc:
            log.debug("closing libvirt: %s", exc)


def open_root(uri: str, cache: Path) -> Root:
    """Open `uri`, or when it is empty a `qemu:///embed` under the cache that no other process holds.

    Several hosts of one process share a root; an embed root is held until the process ends. Raises HostBusy naming the
    owner's pid when another process holds the embed root, MissingDependency when libvirt cannot be opened at all.
    """
    _start_event_loop()
    parts = urlsplit(uri)
    if uri and parts.path.rstrip("/") != "/embed":
        folder = cache / "run"
        folder.mkdir(parents=True, exist_ok=True)
        connection = _open(uri, None)
        connection.setKeepAlive(*_KEEP_ALIVE)
        if not parts.netloc:
            _sweep_daemon(connection, folder)
        return Root(connection, folder, embed=False)
    given = parse_qs(parts.query).get("root", [""])[0]
    return _open_embed(Path(given)) if given else _open_any(cache)


def _open_embed(wanted: Path) -> Root:
    """This process's embed root, swept of what a dead owner left there. Raises HostBusy."""
    wanted.mkdir(parents=True, exist_ok=True)
    root = _short(wanted.resolve())
    folder = root / "vm"
    with _lock:
        if folder not in _embed_roots:
            (root / "etc").mkdir(exist_ok=True)
            if os.geteuid() == 0:
                (root / "etc" / "qemu.conf").write_text(_EMBED_CONF, "utf-8")
            connection = _open(f"qemu:///embed?root={root}", root)
            _sweep(connection, root)
            _embed_roots[folder] = connection
        return Root(_embed_roots[folder], folder, embed=True)


def _open_any(cache: Path) -> Root:
    """The first of `lv`, `lv-1`, ... under the cache that no living process owns; what dead owners left in any is swept."""
    from filelock import FileLock

    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / "lv.lock"):  # between a root's opening and its owner's pid nobody else looks
        roots = [path.resolve() for path in (cache / "lv", *cache.glob("lv-[0-9]*")) if path.is_dir()]
        left = {path for path in roots if _living_owner(path) is None}
        mine = {folder.parent.resolve() for folder in _embed_roots}
        names = (cache / (f"lv-{number}" if number else "lv") for number in itertools.count())
        root = next((path for path in roots if path in mine), None) or next(
            path for path in names if path.resolve() not in roots or path.resolve() in left
        )
        for other in left - {root.resolve()}:
            _sweep_files(other)
        return _open_embed(root)


def _living_owner(root: Path) -> int | None:
    pid = owner_pid(root)
    return pid if pid is not None and Path(f"/proc/{pid}").exists() else None


def _start_event_loop() -> None:
    """Register libvirt's event loop and run it in a thread: needed before the first connection of a process."""
    global _loop_started
    with _lock:
        if _loop_started:
            return
        libvirt.registerErrorHandler(lambda _context, _error: None, None)  # errors are raised; keep stderr clean
        libvirt.virEventRegisterDefaultImpl()

        def run() -> None:
            while True:
                libvirt.virEventRunDefaultImpl()

        threading.Thread(target=run, name="libvirt-events", daemon=True).start()
        _loop_started = True


def _open(uri: str, root: Path | None) -> Any:
    try:
        return libvirt.open(uri)
    except libvirt.libvirtError as exc:
        if root is not None and "pid file" in str(exc):
            raise HostBusy(
                f"process {owner_pid(root) or 'unknown'} already holds the desktop host {root}",
                hint="wait for it, or give this process its own root: CUAMASTER_LIBVIRT_URI='qemu:///embed?root=DIR'",
            ) from exc
        if root is not None and "already open with path" in str(exc):
            raise HostBusy(
                f"this process already holds another desktop host: {exc}", hint="a process has one embed root"
            ) from exc
        raise MissingDependency(
            f"cannot open libvirt {uri}: {exc}", hint="install libvirt-daemon-driver-qemu and qemu-system-x86"
        ) from exc


def owner_pid(root: Path) -> int | None:
    """The pid in the embed root's driver.pid, if it can be read."""
    for path in sorted(root.glob("run/**/driver.pid")):
        text = path.read_text("utf-8").strip()
        if text.isdigit():
            return int(text)
    return None


def link_name(root: Path) -> str:
    """Name of the short link that stands for a long root."""
    return f"cuam-{hashlib.sha256(str(root).encode()).hexdigest()[:10]}"


def _short(root: Path) -> Path:
    """The root itself, or a short symbolic link to it when socket paths below it would be too long."""
    if len(str(root)) <= MAX_ROOT:
        return root
    link = Path(tempfile.gettempdir()) / link_name(root)
    try:
        link.symlink_to(root)
    except FileExistsError:
        if not link.is_symlink() or link.resolve() != root:
            raise HostBusy(f"{link} is in the way", hint="remove it or choose a shorter cache path") from None
    return link


def _sweep(connection: Any, root: Path) -> None:
    """Destroy what a dead owner of this root left: its machines, QEMUs libvirt no longer knows, their disks."""
    for domain in connection.listAllDomains(0):
        log.warning("ending machine %s of a dead owner", domain.name())
        try:
            domain.destroy()
        except libvirt.libvirtError as exc:
            log.debug("destroying %s: %s", domain.name(), exc)
    _sweep_files(root)


def _sweep_files(root: Path) -> None:
    """End the QEMUs of a root without libvirt, and empty its folders for machines and their logs."""
    for place in {root, _short(root)}:
        end_qemus(place)
    for leftover in ("vm", "log"):
        shutil.rmtree(root / leftover, ignore_errors=True)
    (root / "vm").mkdir(parents=True)
    (root / "log" / "qemu").mkdir(parents=True)


def _sweep_daemon(connection: Any, folder: Path) -> None:
    """Under a daemon that others use too: end only machines in our folder whose process (`d<pid>-<n>`) is dead."""
    for domain in connection.listAllDomains(0):
        match = re.fullmatch(r"[dg](\d+)(-\d+)?", domain.name())
        if match and not Path(f"/proc/{match.group(1)}").exists() and f"{folder}/" in domain.XMLDesc(0):
            log.warning("ending machine %s of a dead owner", domain.name())
            try:
                domain.destroy()
            except libvirt.libvirtError as exc:
                log.debug("destroying %s: %s", domain.name(), exc)
            shutil.rmtree(folder / domain.name(), ignore_errors=True)


def end_qemus(folder: Path) -> None:
    """Kill the QEMU processes of this machine that have `folder` in their arguments, whether libvirt knows them or not."""
    for pid in qemu_pids(folder):
        log.warning("ending orphaned QEMU %d", pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def qemu_pids(root: Path) -> list[int]:
    """QEMU processes with this root in their arguments."""
    found = []
    needle = re.compile(rb"(^|[^\w./-])" + re.escape(os.fsencode(root)) + b"/")
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes()
        except OSError:
            continue  # ended meanwhile
        program = arguments.split(b"\0", 1)[0]
        if b"qemu-system" in program and needle.search(arguments):
            found.append(int(entry.name))
    return found
