"""Parts joined into shards of bounded size, and shards without the rows of some items."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cuamaster.tables.files import parquet, write_atomic
from cuamaster.tables.manifest import FileEntry, Kind, Manifest
from cuamaster.tables.rows import ITEM

SHARD_ROWS = 50_000
SHARD_BYTES = 128 << 20


def of_item(table: pa.Table, name: str) -> pa.Table:
    """The table with the name of its item in every row."""
    return table.append_column(ITEM, pa.array([name] * table.num_rows, pa.string()))


def write_shards(folder: Path, kind: Kind, tables: Iterable[pa.Table], before: Manifest) -> Iterator[FileEntry]:
    """Write tables as files with numbers that no file of `before` has."""
    number = max((int(entry.name[len(kind) + 1 :].split(".")[0]) + 1 for entry in before.named(kind)), default=0)
    for offset, table in enumerate(tables):
        path = folder / f"{kind}-{number + offset:05d}.parquet"
        write_atomic(path, parquet(table))
        yield FileEntry(name=path.name, rows=table.num_rows, bytes=path.stat().st_size, sha256=sha256_of(path))


def without(folder: Path, kind: Kind, gone: Collection[str], manifest: Manifest) -> Iterator[FileEntry]:
    """The files of one kind as they are where they hold nothing of the items that are `gone`, else anew without their rows."""
    cut: list[pa.Table] = []
    for entry in manifest.named(kind):
        table = pq.read_table(folder / entry.name, partitioning=None)
        left = table.filter(pc.invert(pc.is_in(table[ITEM], pa.array(gone, pa.string()))))
        if left.num_rows == table.num_rows:
            yield entry
        elif left.num_rows:
            cut.append(left)
    yield from write_shards(folder, kind, cut, manifest)


def joined(paths: Iterable[Path]) -> Iterator[pa.Table]:
    """Tables of parts joined up to the size of a shard; a part with another schema starts a new one."""
    waiting: list[pa.Table] = []
    rows = size = 0
    for path in paths:
        table = pq.read_table(path, partitioning=None)
        same = not waiting or waiting[0].schema.equals(table.schema, check_metadata=True)
        if waiting and (not same or rows >= SHARD_ROWS or size >= SHARD_BYTES):
            yield pa.concat_tables(waiting)
            waiting, rows, size = [], 0, 0
        waiting.append(table)
        rows, size = rows + table.num_rows, size + table.nbytes
    if waiting:
        yield pa.concat_tables(waiting)


def sha256_of(path: Path) -> str:
    """Hex digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
