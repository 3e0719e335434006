"""A desktop in a QEMU guest: actions, screenshots, shell, state, snapshots and rollback."""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.libvirt_actions import SHELL_SECONDS, Performer
from cuamaster.adapters.desktops.libvirt_domain import copy_disk
from cuamaster.adapters.desktops.libvirt_eyes import Eyes
from cuamaster.adapters.desktops.libvirt_guest import Guest
from cuamaster.adapters.desktops.libvirt_input import Input
from cuamaster.adapters.desktops.libvirt_migration import SnapshotJobs
from cuamaster.adapters.desktops.libvirt_root import end_qemus
from cuamaster.adapters.desktops.libvirt_session import Session
from cuamaster.adapters.desktops.libvirt_snapshots import AttestedSnapshots
from cuamaster.adapters.desktops.signatures import screen_signature
from cuamaster.adapters.images.recipe import GuestRecipe
from cuamaster.errors import (
    DesktopFault,
    GuestUnresponsive,
    HostBusy,
    MissingCapability,
    UnknownName,
)
from cuamaster.ports import Desktop, Frame, GuestImage, ShellResult
from cuamaster.records.episode import Receipt
from cuamaster.records.scene import Elements
from cuamaster.records.trajectory import StateSignature

log = logging.getLogger(__name__)


class LibvirtDesktop:
    """One clone of a golden snapshot; `on_close` tells the host that its slot is free.

    `twin` makes a fork of this desktop at a label; `snapshots_of`: the desktop whose disk, snapshots included, this one has a
    copy of.
    """

    def __init__(
        self,
        guest: Guest,
        recipe: GuestRecipe,
        image: GuestImage,
        folder: Path,
        on_close: Callable[[], None],
        *,
        local: bool = True,
        twin: Callable[[LibvirtDesktop, str], LibvirtDesktop] | None = None,
        snapshots_of: LibvirtDesktop | None = None,
    ) -> None:
        self.image = image.name
        self.image_digest = image.digest
        self.width = image.width
        self.height = image.height
        self.capabilities = image.capabilities
        self.name = guest.name
        self._guest = guest
        self._folder = folder
        self._local = local  # QEMU runs as this user on this host, so both see `folder`
        self._on_close = on_close
        self._session = Session(guest, recipe.user, recipe.home, recipe.window_apps) if recipe.agent != "none" else None
        self._input = Input(guest, image.width, image.height, local=local, agent=self._session is not None)
        self._performer = Performer(self._input, self._session, image.width, image.height)
        self._twin = twin
        self._eyes = Eyes(guest, folder, self._input, (image.width, image.height), local=local, draws=self._draws)
        self.snapshots: AttestedSnapshots = AttestedSnapshots(
            guest, SnapshotJobs(guest, folder), self._input, self._eyes.freshness, self._signature,
            answers=self._session is not None, inherited=snapshots_of.snapshots if snapshots_of else None,
        )  # fmt: skip
        self._closed = False
        self._input.release_all()

    # --- acting

    def act(self, action: CUAAction, action_id: str) -> Receipt:
        """Perform a gui or cli action or a wait, once. Status: `sent`; `effect_seen` for a command whose exit status came back;
        `unknown` when an answer did not come in time.

        Raises InvalidAction for tool.call and finish, GuestDied when the machine is gone; nothing is sent twice.
        """
        action.validate()
        started = time.monotonic()
        try:
            response, code = self._performer.perform(action)
            status = "sent" if code is None else "effect_seen"
        except GuestUnresponsive as exc:
            response, code, status = exc.message, None, "unknown"
        if action.category == "gui":
            self._eyes.freshness.acted()
        seconds = round(time.monotonic() - started, 4)
        return Receipt(action_id=action_id, status=status, response=response, exit_code=code, seconds=seconds)

    def release(self) -> None:
        """Let go of every key and button."""
        self._input.release_all()

    # --- looking

    def screenshot(self) -> Frame:
        """The screen now; raises BadFrame: black, truncated or wrong-sized for seconds (a mode switch is shorter), or stale."""
        return self._eyes.screenshot()

    def settle(self, *, timeout: float = 10.0, quiet: float = 0.4) -> Frame:
        """The screen once no pixel changed and the guest was idle for `quiet` seconds, or the last one at the deadline."""
        return self._eyes.settle(timeout, quiet)

    def _draws(self) -> bool:
        return self._session is None or self._session.draws()

    def shell(self, command: str, *, cwd: str | None = None, timeout: float = SHELL_SECONDS) -> ShellResult:
        """Run with bash as the desktop's user in its session; after `timeout` seconds the process group is killed."""
        return self._inside("shell").shell(command, cwd, timeout)

    def _inside(self, capability: str) -> Session:
        """The session; raises MissingCapability where nobody inside the guest can be asked."""
        if self._session is None or capability not in self.capabilities:
            raise MissingCapability(
                f"image {self.image} has no capability {capability}",
                capability=capability,
                hint="docs/images.md says what needs what",
            )
        return self._session

    def launch(self, app: str, args: Sequence[str] = ()) -> None:
        """Start an application of the image in the background; raises UnknownName when the image does not have it."""
        session = self._inside("shell")
        if f"app:{app}" not in self.capabilities:
            apps = sorted(item.removeprefix("app:") for item in self.capabilities if item.startswith("app:"))
            raise UnknownName(f"image {self.image} has no application {app!r}", hint=f"it has {', '.join(apps)}")
        command = " ".join(shlex.quote(session.expand(arg) if arg.startswith("~") else arg) for arg in (app, *args))
        result = session.shell(f"setsid {command} >/dev/null 2>&1 &", None, SHELL_SECONDS)
        if result.exit_code != 0:
            raise DesktopFault(f"{self.name}: {app} did not start: {result.stderr.strip()}")

    def read_file(self, path: str) -> bytes | None:
        """Contents, or None when there is no such file."""
        return self._inside("shell").read(path)

    def write_file(self, path: str, data: bytes) -> None:
        """Write as the user, making parent folders."""
        self._inside("shell").write(path, data)

    def state(self, files: Sequence[str] = ()) -> StateSignature:
        """The light state signature, with hashes of `files`."""
        return self._inside("shell").state(files)

    def elements(self, *, most: int = 1000, timeout: float = 3.0) -> Elements:
        """The accessibility tree, at most `most` elements and about `timeout` seconds; raises MissingCapability."""
        return self._inside("accessibility").elements(most, timeout, self.width, self.height)

    @property
    def pointer(self) -> tuple[int, int]:
        """Where the pointer is, in pixels."""
        return self._input.pointer

    def _signature(self, files: Sequence[str]) -> StateSignature:
        """The state, or, where nobody can be asked, what the screen shows."""
        return self.state(files) if self._session is not None or files else screen_signature(self.settle().image)

    # --- going back

    def snapshot(self, label: str, files: Sequence[str] = ()) -> StateSignature:
        """Save memory and disk under `label`, replacing an older one; returns the signature attested with it.

        The signature is read before and after: raises StateDrift when the desktop does not hold still for it.
        """
        return self.snapshots.save(label, files)

    def rollback(self, label: str) -> StateSignature:
        """Return memory and disk to `label` and release held keys.

        Raises UnknownName for a label never saved, StateDrift when the state is not the attested one.
        """
        return self.snapshots.load(label)

    def snapshot_sizes(self) -> Mapping[str, int]:
        """Bytes that each snapshot's memory and device state take on disk."""
        return self.snapshots.sizes()

    def drop_snapshot(self, label: str) -> None:
        """Free a snapshot's space; unknown labels are ignored."""
        self.snapshots.drop(label)

    @contextmanager
    def fork(self, label: str) -> Iterator[Desktop]:
        """Another guest that stands at `label`, with a copy of this one's disk; this one stops while the disk is copied."""
        self.snapshots.known(label)
        if self._twin is None:
            raise HostBusy(f"{self.name} has no host that could start a fork")
        desktop = self._twin(self, label)
        try:
            yield desktop
        finally:
            desktop.close()

    def copy_disk(self, target: Path) -> None:
        """Copy the disk with all snapshots in it. A stopped QEMU has written everything it held back (bdrv_flush_all)."""
        self._guest.suspend()
        try:
            copy_disk(self._folder / "disk.qcow2", target)
        finally:
            self._guest.resume()

    @property
    def disk_mib(self) -> int:
        """What the disk takes on the host now."""
        return (self._folder / "disk.qcow2").stat().st_blocks >> 11

    def close(self) -> None:
        """End the machine and free its disk; safe to call twice, and never a reason to lose what was collected on it."""
        if self._closed:
            return
        self._closed = True
        try:
            self._guest.destroy()
        except DesktopFault as exc:
            log.warning("%s", exc)
        finally:
            end_qemus(self._folder)  # libvirt may have gone, and its machine not
            self._on_close()
