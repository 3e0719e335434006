"""A desktop under a lease: once the lease is lost nothing more is done with it, whatever its user believes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from cuamaster.action_space import CUAAction
from cuamaster.adapters.leases.heart import Hold
from cuamaster.errors import DesktopFault
from cuamaster.ports import Desktop, Frame, ShellResult
from cuamaster.records.episode import Receipt
from cuamaster.records.scene import Elements
from cuamaster.records.trajectory import StateSignature


class LeasedDesktop:
    """The desktop itself, with LeaseLost in front of every call. `another` gives the lease for a fork."""

    def __init__(self, desktop: Desktop, hold: Hold, another: Callable[[], AbstractContextManager[Hold]]) -> None:
        self.image = desktop.image
        self.image_digest = desktop.image_digest
        self.width, self.height = desktop.width, desktop.height
        self.capabilities = desktop.capabilities
        self._desktop, self._hold, self._another = desktop, hold, another
        hold.guard(desktop.close)

    def act(self, action: CUAAction, action_id: str) -> Receipt:
        """As the desktop does."""
        with self._held():
            return self._desktop.act(action, action_id)

    def release(self) -> None:
        """As the desktop does."""
        with self._held():
            self._desktop.release()

    def screenshot(self) -> Frame:
        """As the desktop does."""
        with self._held():
            return self._desktop.screenshot()

    def settle(self, *, timeout: float = 10.0, quiet: float = 0.4) -> Frame:
        """As the desktop does."""
        with self._held():
            return self._desktop.settle(timeout=timeout, quiet=quiet)

    def shell(self, command: str, *, cwd: str | None = None, timeout: float = 60.0) -> ShellResult:
        """As the desktop does."""
        with self._held():
            return self._desktop.shell(command, cwd=cwd, timeout=timeout)

    def launch(self, app: str, args: Sequence[str] = ()) -> None:
        """As the desktop does."""
        with self._held():
            self._desktop.launch(app, args)

    def read_file(self, path: str) -> bytes | None:
        """As the desktop does."""
        with self._held():
            return self._desktop.read_file(path)

    def write_file(self, path: str, data: bytes) -> None:
        """As the desktop does."""
        with self._held():
            self._desktop.write_file(path, data)

    def state(self, files: Sequence[str] = ()) -> StateSignature:
        """As the desktop does."""
        with self._held():
            return self._desktop.state(files)

    def elements(self, *, most: int = 1000, timeout: float = 3.0) -> Elements:
        """As the desktop does."""
        with self._held():
            return self._desktop.elements(most=most, timeout=timeout)

    @property
    def pointer(self) -> tuple[int, int]:
        """As the desktop does."""
        return self._desktop.pointer

    def snapshot(self, label: str, files: Sequence[str] = ()) -> StateSignature:
        """As the desktop does."""
        with self._held():
            return self._desktop.snapshot(label, files)

    def rollback(self, label: str) -> StateSignature:
        """As the desktop does."""
        with self._held():
            return self._desktop.rollback(label)

    def drop_snapshot(self, label: str) -> None:
        """As the desktop does."""
        with self._held():
            self._desktop.drop_snapshot(label)

    def snapshot_sizes(self) -> Mapping[str, int]:
        """As the desktop does."""
        with self._held():
            return self._desktop.snapshot_sizes()

    @contextmanager
    def fork(self, label: str) -> Iterator[Desktop]:
        """As the desktop does, under a lease of its own; raises HostBusy at once when no slot is free."""
        self._hold.check()
        with self._another() as hold, self._desktop.fork(label) as twin:
            yield LeasedDesktop(twin, hold, self._another)

    def close(self) -> None:
        """End it, with or without a lease."""
        self._desktop.close()

    @contextmanager
    def _held(self) -> Iterator[None]:
        self._hold.check()
        try:
            yield
        except (DesktopFault, OSError) as exc:
            if self._hold.lost:  # it was ended under our hands
                raise self._hold.fault() from exc
            raise
