"""Files that are there whole or not at all: write beside, fsync, rename; leftovers of killed writers are swept."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from cuamaster.errors import storing

_PREFIX = ".tmp-"


def temporary_name() -> str:
    """A name that tells which process of which host is writing."""
    return f"{_PREFIX}{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def sweep_temporary(folder: Path) -> None:
    """Remove what dead processes of this host left behind; the files of living ones and of other hosts stay."""
    for path in folder.glob(f"{_PREFIX}{socket.gethostname()}-*"):
        if not Path("/proc", path.name.rsplit("-", 2)[1]).exists():
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make renames inside `folder` durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomic(path: Path, content: bytes | Callable[[BinaryIO], None]) -> None:
    """Write bytes, or what a function puts into the open file, making parent folders. Raises StoreFull, StoreUnwritable."""
    temporary = path.with_name(temporary_name())
    try:
        with storing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as file:
                if callable(content):
                    content(file)
                else:
                    file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):  # what kept it from being written is the error to tell
            temporary.unlink(missing_ok=True)


def parquet(table: pa.Table) -> Callable[[BinaryIO], None]:
    """The table as the content of a file; 10,000 rows a group keep readers' memory bounded."""
    return lambda file: pq.write_table(table, file, compression="zstd", row_group_size=10_000)
