"""Gives a finished folder of large files its name, so that a folder of that name is whole even after the power failed."""

from __future__ import annotations

import os
from pathlib import Path

MORE_ROOM = "free some, or put the cache elsewhere with CUAMASTER_CACHE"


def publish(staged: Path, target: Path) -> None:
    """Write what is in `staged` down to the disk, then rename it to `target`, which must be on the same file system."""
    for path in (*(item for item in staged.iterdir() if item.is_file() and not item.is_symlink()), staged):
        _sync(path)
    staged.rename(target)
    _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
