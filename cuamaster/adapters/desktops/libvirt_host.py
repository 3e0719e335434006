"""Gives desktops on this machine through libvirt: opens its root once, makes golden snapshots, clones them."""

from __future__ import annotations

import dataclasses
import itertools
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cuamaster.adapters.desktops.kvm_probe import kernel_for, probe_kvm
from cuamaster.adapters.desktops.libvirt_desktop import LibvirtDesktop
from cuamaster.adapters.desktops.libvirt_domain import Machine, describe_machine
from cuamaster.adapters.desktops.libvirt_golden import ensure_golden, golden_signature, has_direct_agent
from cuamaster.adapters.desktops.libvirt_guest import Guest
from cuamaster.adapters.desktops.libvirt_machine import start_clone, start_fork
from cuamaster.adapters.desktops.libvirt_root import Root, open_root
from cuamaster.adapters.desktops.libvirt_screen import switch_screen
from cuamaster.adapters.desktops.room import obstacle
from cuamaster.adapters.images.mmdebstrap import MmdebstrapBuilder
from cuamaster.adapters.images.recipe import GuestRecipe
from cuamaster.errors import HostBusy, storing
from cuamaster.ports import Desktop, GuestImage, Progress

log = logging.getLogger(__name__)

_AGENT_SECONDS = 60.0
_numbers = itertools.count(1)
"""Guests of this process: its hosts may share a libvirt root, and a libvirt daemon may serve many processes."""


@dataclass(frozen=True)
class Prepared:
    """What a clone needs: an open root, and the image with its machine and golden snapshot."""

    root: Root
    recipe: GuestRecipe
    image: GuestImage
    machine: Machine
    golden: Path


class LibvirtHost:
    """Desktop host over one libvirt connection; nothing is opened before the first desktop is asked for.

    `uri` empty: `qemu:///embed` under `cache`. `accel`: auto (KVM if it boots a kernel, else TCG), kvm or tcg. `screen`: width
    and height in pixels that every desktop is switched to, None for the image's own.
    """

    def __init__(
        self,
        builder: MmdebstrapBuilder,
        cache: Path,
        *,
        uri: str = "",
        capacity: int = 1,
        accel: str = "auto",
        screen: tuple[int, int] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.name = uri or "qemu:///embed"
        self._builder = builder
        self._cache = cache
        self._uri = uri
        self._capacity = capacity
        self._accel = accel
        self._screen = screen
        self._progress: Progress = progress or (lambda _phrase, _share: None)
        self._root: Root | None = None
        self._prepared: dict[str, Prepared] = {}
        self._live: dict[str, LibvirtDesktop | None] = {}
        self._lock = threading.RLock()

    @contextmanager
    def open(self, image: str) -> Iterator[Desktop]:
        """A clone of the image's golden snapshot (both made if missing), ended when the block is left.

        Raises HostBusy (capacity used up, or another process owns the root), StateDrift when the clone is not what the golden
        snapshot attests, GuestUnresponsive, MissingDependency, InvalidInput (no such screen), StoreFull, StoreUnwritable.
        """
        desktop = self.start(image)
        try:
            yield desktop
        finally:
            desktop.close()

    def start(self, image: str) -> LibvirtDesktop:
        """Like `open`, for callers that close the desktop themselves."""
        try:
            return self._start(self.prepare(image))
        except BaseException:
            self._distrust(image)
            raise

    def fork(self, source: LibvirtDesktop, label: str) -> LibvirtDesktop:
        """A guest at a snapshot of another one. Raises as `start` does, and StateDrift when it is not in the attested state."""
        return self._start(self.prepare(source.image), source, label)

    def _start(self, ready: Prepared, source: LibvirtDesktop | None = None, label: str = "") -> LibvirtDesktop:
        """A clone, or a fork of `source` at `label`, if there is room; nothing is left of one that fails."""
        with storing(self._cache), ExitStack() as undo:
            name = self._reserve()
            undo.callback(self._free, name)
            disk = source.disk_mib if source else 0
            if (why := obstacle(ready.root.folder, ready.machine.memory_mib, disk_mib=disk)) is not None:
                raise HostBusy(f"{self.name}: no room for another desktop: {why}")
            folder = ready.root.make_folder(name)
            undo.callback(ready.root.forget, name)
            if source is None:
                guest = start_clone(ready.root, ready.machine, name, ready.image.folder, ready.golden, folder)
            else:
                source.copy_disk(folder / "disk.qcow2")
                guest = start_fork(ready.root, ready.machine, name, ready.image.folder, ready.golden, folder, label)
            undo.callback(guest.destroy)
            if ready.recipe.agent != "none":
                if has_direct_agent(ready.golden):
                    guest.use_direct()
                guest.wait_agent(_AGENT_SECONDS)
            desktop = (
                self._forked(guest, ready, folder, source, label) if source else self._cloned(guest, ready, folder)
            )
            undo.pop_all()
        with self._lock:
            self._live[name] = desktop
        return desktop

    def _cloned(self, guest: Guest, ready: Prepared, folder: Path) -> LibvirtDesktop:
        """The desktop of a clone that is what the golden snapshot attests, on the wanted screen, with the clock set."""
        if ready.recipe.agent != "none":  # its clock stopped when the golden snapshot was made
            guest.execute(["/usr/lib/desk/busybox", "date", "-s", f"@{time.time():.0f}"])
        wanted = self._screen or (ready.image.width, ready.image.height)
        desktop = self._desktop(guest, ready, folder, wanted)
        desktop.snapshots.attest(golden_signature(ready.golden), "the start from the golden snapshot")
        if wanted != (ready.image.width, ready.image.height):
            switch_screen(desktop, *wanted)
        return desktop

    def _forked(
        self, guest: Guest, ready: Prepared, folder: Path, source: LibvirtDesktop, label: str
    ) -> LibvirtDesktop:
        """The desktop of a fork that stands at `label` of `source`, attested."""
        desktop = self._desktop(guest, ready, folder, (source.width, source.height), source)
        desktop.snapshots.loaded(label)
        return desktop

    def _desktop(
        self, guest: Guest, ready: Prepared, folder: Path, screen: tuple[int, int], source: LibvirtDesktop | None = None
    ) -> LibvirtDesktop:
        image = dataclasses.replace(ready.image, width=screen[0], height=screen[1])

        def ended() -> None:
            ready.root.forget(guest.name)
            self._free(guest.name)

        return LibvirtDesktop(
            guest, ready.recipe, image, folder, ended, local=ready.root.embed, twin=self.fork, snapshots_of=source
        )

    def _distrust(self, image: str) -> None:
        """After a failed start everything is looked at again: files may have been damaged, the connection may be lost."""
        with self._lock:
            self._prepared.pop(image, None)
            if self._root is not None and not self._root.alive:
                self._root.close()
                self._root = None
                self._prepared.clear()

    def room(self, image: str) -> str | None:
        """Why a clone of `image` does not fit into this machine's memory or disk now, or None."""
        with storing(self._cache):
            self._cache.mkdir(parents=True, exist_ok=True)
        folder = self._root.folder if self._root is not None else self._cache
        return obstacle(folder, self._builder.recipe(image).memory_mib)

    def prepare(self, image: str) -> Prepared:
        """Open the root, build the image and make its golden snapshot where they are missing; once for each image."""
        with self._lock:
            if image not in self._prepared:
                guest_image = self._builder.build(image, self._progress)
                if self._root is None:
                    self._root = open_root(self._uri, self._cache)
                recipe = self._builder.recipe(image)
                machine = describe_machine(recipe, self._choose_accel(guest_image))
                golden = ensure_golden(self._root, recipe, guest_image, machine, self._progress)
                self._prepared[image] = Prepared(self._root, recipe, guest_image, machine, golden)
            return self._prepared[image]

    def close(self) -> None:
        """End every desktop this host gave and give the root back; safe to call twice."""
        for desktop in list(self._live.values()):
            if desktop is not None:
                desktop.close()
        with self._lock:
            self._prepared.clear()
            if self._root is not None:
                self._root.close()
                self._root = None

    def _choose_accel(self, image: GuestImage) -> str:
        if self._accel != "auto":
            return self._accel
        kernel = kernel_for(image.folder, self._cache)
        return "kvm" if kernel is not None and probe_kvm(kernel, self._cache) else "tcg"

    def _reserve(self) -> str:
        with self._lock:
            if len(self._live) >= self._capacity:
                raise HostBusy(
                    f"{self.name}: all {self._capacity} desktops are in use", hint="raise CUAMASTER_VM_CAPACITY"
                )
            name = f"d{os.getpid()}-{next(_numbers)}"
            self._live[name] = None
            return name

    def _free(self, name: str) -> None:
        with self._lock:
            self._live.pop(name, None)
