"""Finds rows with the same key among any number of rows in bounded memory: keys are spilled to disk in buckets, then compared."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

_BUCKETS = 64
_WAITING = 256
_RECORD = np.dtype([("key", "S16"), ("number", "u8"), ("file", "u4"), ("tag", "u4"), ("row", "S64")])


@dataclass(frozen=True)
class Place:
    """Where a key was seen: file and row, and a tag of the caller's (a split, say)."""

    file: str
    row: str
    number: int
    tag: str


class Repeats:
    """Add keys, then ask for the groups; a context, since it keeps its buckets in a temporary folder."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="cuamaster-repeats-")
        self._waiting: dict[int, list[tuple[bytes, int, int, int, bytes]]] = {}
        self._files: dict[str, int] = {}
        self._tags: dict[str, int] = {}

    def __enter__(self) -> Repeats:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    def add(self, key: str, *, file: str, row: str, number: int, tag: str = "") -> None:
        """Remember where a key was seen; ids beyond 64 bytes are kept cut off."""
        digest = (
            hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=15).digest() + b"\x01"
        )  # S16 drops end zeros
        bucket = digest[0] % _BUCKETS
        waiting = self._waiting.setdefault(bucket, [])
        indices = (self._files.setdefault(file, len(self._files)), self._tags.setdefault(tag, len(self._tags)))
        waiting.append((digest, number, *indices, row.encode(errors="replace")[:64]))
        if len(waiting) >= _WAITING:
            self._flush(bucket)

    def groups(self) -> Iterator[list[Place]]:
        """Places that share a key, in the order in which they were added; keys seen once are left out."""
        files, tags = list(self._files), list(self._tags)
        for bucket in list(self._waiting):
            self._flush(bucket)
            found = np.fromfile(self._path(bucket), _RECORD)
            order = np.argsort(found["key"], kind="stable")
            keys = found["key"][order]
            starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1], [True])))
            for first, end in pairwise(starts.tolist()):
                if end - first > 1:
                    yield [_place(found[index], files, tags) for index in order[first:end]]

    def _flush(self, bucket: int) -> None:
        waiting = self._waiting[bucket]
        with self._path(bucket).open("ab") as file:
            file.write(np.array(waiting, _RECORD).tobytes())
        waiting.clear()

    def _path(self, bucket: int) -> Path:
        return Path(self._folder.name, str(bucket))


def _place(record: Any, files: list[str], tags: list[str]) -> Place:
    row = bytes(record["row"]).decode(errors="ignore")
    return Place(files[int(record["file"])], row, int(record["number"]), tags[int(record["tag"])])
