"""Seals the files of a golden snapshot, so that a truncated or changed one is found before a clone starts from it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SEAL = "seal.json"


def seal(folder: Path, names: Sequence[str]) -> None:
    """Write what the files of `folder` are now: size, time of change and sha256 of each."""
    _store(folder, {name: _facts(folder / name) | {"sha256": _digest(folder / name)} for name in names})


def damage(folder: Path) -> str | None:
    """Why the sealed files must not be used, or None. Contents are read only where size or time of change differ.

    Raises FileNotFoundError without a seal.
    """
    try:
        sealed: dict[str, dict[str, Any]] = json.loads((folder / SEAL).read_text("utf-8"))
    except ValueError as exc:
        return f"{SEAL} is not readable: {exc}"
    fresh = dict(sealed)
    for name, facts in sealed.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        now = _facts(path)
        if now["size"] != facts["size"]:
            return f"{name} has {now['size']} bytes instead of {facts['size']}"
        if now["changed_ns"] != facts["changed_ns"]:
            if _digest(path) != facts["sha256"]:
                return f"the contents of {name} were changed"
            fresh[name] = facts | now
    if fresh != sealed:
        _store(folder, fresh)  # copied or touched, the same bytes
    return None


def _store(folder: Path, facts: dict[str, dict[str, Any]]) -> None:
    staged = folder / f".{SEAL}.{os.getpid()}"
    staged.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    staged.rename(folder / SEAL)


def _facts(path: Path) -> dict[str, Any]:
    found = path.stat()
    return {"size": found.st_size, "changed_ns": found.st_mtime_ns}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
