"""A journal as lines of JSON in one file, each on the disk before `append` returns."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cuamaster.errors import IntegrityError, storing


class JsonlJournal:
    """Appends with fsync; one process writes a file, any may read it."""

    def __init__(self, path: Path) -> None:
        """Opens for appending, parent folders made; a torn last line left by a crash is cut off first."""
        self.path = path
        self._lock = threading.Lock()
        with storing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._mend()
            if not path.exists():
                path.touch()
                _sync_folder(path.parent)

    def append(self, event: Mapping[str, Any]) -> None:
        """Durable when it returns; raises StoreFull, and then nothing of the event is left in the file."""
        line = json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        with self._lock, storing(self.path):
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            size = os.fstat(descriptor).st_size
            try:
                written = 0
                while written < len(line):
                    written += os.write(descriptor, line[written:])
                os.fsync(descriptor)
            except OSError:
                with contextlib.suppress(OSError):  # a device cannot be cut; the first error is the one to tell
                    os.ftruncate(descriptor, size)
                raise
            finally:
                os.close(descriptor)

    def events(self) -> list[dict[str, Any]]:
        """All whole lines; raises IntegrityError naming a line in the middle that is no JSON object."""
        if not self.path.exists():
            return []
        *lines, _torn = self.path.read_bytes().split(b"\n")
        events: list[dict[str, Any]] = []
        for number, line in enumerate(lines, 1):
            try:
                event = json.loads(line)
            except ValueError as exc:
                raise IntegrityError(f"{self.path}:{number}: not JSON: {exc}") from exc
            if not isinstance(event, dict):
                raise IntegrityError(f"{self.path}:{number}: not an object")
            events.append(event)
        return events

    def _mend(self) -> None:
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with self.path.open("r+b") as file:
                file.truncate(whole)
                os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
