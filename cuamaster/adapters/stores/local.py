"""Blobs in a folder, `<root>/<aa>/<sha256>`: written whole or not at all, checked on every read."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import tempfile
from pathlib import Path

from cuamaster.errors import IntegrityError, storing

_DIGEST = re.compile(r"[0-9a-f]{64}")


class LocalStore:
    """Store port over a local or network folder; many processes may share one root."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self._drafts = self.root / ".drafts"
        self._sweep()

    def path(self, digest: str) -> Path:
        """Where a blob lies; raises IntegrityError for anything that is not a SHA-256."""
        if not _DIGEST.fullmatch(digest):
            raise IntegrityError(f"not a SHA-256 digest: {digest!r}")
        return self.root / digest[:2] / digest

    def put(self, data: bytes) -> str:
        """Store and return the SHA-256; a blob that is there already is checked, and repaired if it was damaged. Raises StoreFull, StoreUnwritable."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.path(digest)
        if not (path.exists() and path.stat().st_size == len(data) and path.read_bytes() == data):
            with storing(self.root):
                self._write(path, data)
        return digest

    def get(self, digest: str) -> bytes:
        """Bytes of a blob; raises IntegrityError when missing or changed."""
        path = self.path(digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError as exc:
            raise IntegrityError(
                f"blob {digest} is missing from {self.root}", hint="run the stage that made it again"
            ) from exc
        if hashlib.sha256(data).hexdigest() != digest:
            raise IntegrityError(
                f"{path}: its content is not what its name says", hint="delete it and run the stage that made it again"
            )
        return data

    def has(self, digest: str) -> bool:
        """Whether the blob is there (its content is checked by `get`)."""
        return self.path(digest).exists()

    def _sweep(self) -> None:
        """Remove what killed processes of this host were writing."""
        for path in self._drafts.glob(f"{socket.gethostname()}-*"):
            if not Path("/proc", path.name.rsplit("-", 2)[1]).exists():
                path.unlink(missing_ok=True)

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._drafts.mkdir(exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=self._drafts, prefix=f"{socket.gethostname()}-{os.getpid()}-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
