"""Files and folders that are there whole or not at all: write beside, fsync, rename; leftovers of killed writers are swept."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import socket
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from cuamaster.errors import FolderBusy, storing

_WAIT_SECONDS = 600
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
    with atomic_file(path) as file:
        if callable(content):
            content(file)
        else:
            file.write(content)


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """An open file that takes its name once the block is left without an error. Raises StoreFull, StoreUnwritable."""
    temporary = path.with_name(temporary_name())
    try:
        with storing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):  # what kept it from being written is the error to tell
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One process at a time replaces a folder; another one waits. Raises FolderBusy, StoreUnwritable."""
    with storing(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder.with_name(f".{folder.name}.lock"), timeout=_WAIT_SECONDS)
        try:
            lock.acquire()
        except Timeout as exc:
            raise FolderBusy(f"{folder}: another process has been writing it for {_WAIT_SECONDS} seconds") from exc
    try:
        yield
    finally:
        lock.release()


def publish(draft: Path, target: Path) -> None:
    """Put a finished folder in the place of another, of which a reader sees the old one or the new one, never a mixture.

    Where the file system cannot exchange two names, the old folder waits under the name that `restore` looks for.
    """
    with storing(target.parent):
        if not target.exists():
            draft.rename(target)
        elif _exchange(draft, target):
            shutil.rmtree(draft)
        else:
            target.rename(_aside(target))
            draft.rename(target)
            shutil.rmtree(_aside(target))
        sync_folder(target.parent)


def restore(target: Path) -> None:
    """Undo a `publish` that was killed between its two renames."""
    if _aside(target).exists():
        with storing(target.parent):
            if target.exists():
                shutil.rmtree(_aside(target))
            else:
                _aside(target).rename(target)


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.name}.previous")


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step (Linux renameat2 with RENAME_EXCHANGE); False where that is not to be had, as on NFS."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if renameat2(here, os.fsencode(one), here, os.fsencode(other), swap) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(other))


def parquet(table: pa.Table) -> Callable[[BinaryIO], None]:
    """The table as the content of a file; 10,000 rows a group keep readers' memory bounded."""
    return lambda file: pq.write_table(table, file, compression="zstd", row_group_size=10_000)
