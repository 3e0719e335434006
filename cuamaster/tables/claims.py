"""Takes one piece of work in hand, so that of several processes over the same items each does another."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from cuamaster.errors import storing


@contextlib.contextmanager
def claim(path: Path, *, wait: bool = False) -> Iterator[bool]:
    """True while `path` is this worker's; False at once when another one has it, unless it is to `wait`.

    The lock is the kernel's (flock(2), on NFS the server's), so that it ends with its holder, however that dies. The file is
    removed with it. Raises StoreFull, StoreUnwritable.
    """
    with storing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = _locked(path, wait)
    if handle is None:
        yield False
        return
    try:
        yield True
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _locked(path: Path, wait: bool) -> int | None:
    """An open file that `path` names, locked; None when somebody else has locked it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is(path, handle):
                return handle
        except BlockingIOError:
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # its former holder removed it while we waited


def _is(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
