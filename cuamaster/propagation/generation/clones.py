"""One clone for many pieces of work: each begins from the same fresh snapshot; a clone that failed is replaced."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from cuamaster.errors import DesktopFault, StateDrift
from cuamaster.ports import Desktop, DesktopHost, ScreenReader
from cuamaster.propagation.collection.setup import establish
from cuamaster.records.task import Environment

_FRESH, _READY = "fresh", "ready"


class FreshDesktops:
    """Gives the same clone, rolled back to its first state, again and again; a context manager that ends it."""

    def __init__(self, host: DesktopHost, image: str) -> None:
        self._host = host
        self._image = image
        self._opened: Iterator[Desktop] | None = None
        self._desktop: Desktop | None = None
        self._used = False
        self._kept: Environment | None = None

    def __enter__(self) -> FreshDesktops:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()

    def fresh(self) -> Desktop:
        """A desktop in its first state; raises DesktopFault when none can be had."""
        if self._desktop is not None and self._used:
            try:
                self._desktop.rollback(_FRESH)
            except DesktopFault:  # a clone that cannot go back is replaced by a new one
                self.discard()
        if self._desktop is None:
            self._desktop = self._open()
            self._desktop.snapshot(_FRESH)
        self._used = True
        return self._desktop

    def ready(self, environment: Environment, reader: ScreenReader, *, keep: bool = False) -> Desktop:
        """A desktop in an environment's start state; raises DesktopFault (SetupFailed among them) when it is not reached.

        `keep`: the next call will ask for the same one; it then returns to a snapshot instead of setting up again.
        """
        if self._kept == environment and self._desktop is not None:
            try:
                self._desktop.rollback(_READY)
            except DesktopFault:
                self.discard()
            else:
                return self._desktop
        desktop = self.fresh()
        establish(environment, desktop, reader)
        if keep:
            try:
                desktop.snapshot(_READY)
            except StateDrift:  # something on the screen never rests: it is set up anew each time
                return desktop
            self._kept = environment
        return desktop

    def discard(self) -> None:
        """End the clone; the next one will be new."""
        if self._desktop is not None:
            self._desktop.close()
        if self._opened is not None:
            next(self._opened, None)  # leaves the host's context
        self._desktop, self._opened, self._used, self._kept = None, None, False, None

    def _open(self) -> Desktop:
        self._opened = self._hold()
        return next(self._opened)

    def _hold(self) -> Iterator[Desktop]:
        with self._host.open(self._image) as desktop:
            yield desktop
