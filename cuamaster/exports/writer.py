"""Streams rows into one Parquet file with row groups bounded in bytes, whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from cuamaster.records.record import Record
from cuamaster.tables import write_atomic

GROUP_BYTES = 32 << 20
GROUP_ROWS = 500
_PICTURES = "images.list.element.bytes"


class ExportFile(Record):
    """One written file."""

    name: str
    rows: int
    bytes: int
    sha256: str


def write_rows(path: Path, schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> ExportFile:
    """Write rows (possibly none); at most GROUP_BYTES of pictures and text are in memory, and one row more. Raises StoreFull."""
    count = 0

    def fill(file: BinaryIO) -> None:
        nonlocal count
        # Pictures are compressed already, and a dictionary or statistics of them would be further copies in memory.
        texts = [path for field in schema for path in _leaves(field.name, field.type) if path != _PICTURES]
        options: dict[str, Any] = {
            "compression": dict.fromkeys(texts, "zstd") | {_PICTURES: "none"},
            "use_dictionary": texts,
            "write_statistics": texts,
        }
        with pq.ParquetWriter(file, schema, **options) as writer:
            waiting: list[dict[str, Any]] = []
            size = 0
            for row in rows:
                waiting.append(row)
                size += _size(row)
                count += 1
                if size >= GROUP_BYTES or len(waiting) >= GROUP_ROWS:
                    writer.write_table(_table(waiting, schema))
                    waiting, size = [], 0
            if waiting:
                writer.write_table(_table(waiting, schema))

    write_atomic(path, fill)
    with path.open("rb") as done:
        digest = hashlib.file_digest(done, "sha256").hexdigest()
    return ExportFile(name=path.name, rows=count, bytes=path.stat().st_size, sha256=digest)


def _leaves(path: str, kind: pa.DataType) -> Iterator[str]:
    """Column paths as Parquet names them."""
    if isinstance(kind, pa.ListType):
        yield from _leaves(f"{path}.list.element", kind.value_type)
    elif isinstance(kind, pa.StructType):
        for field in kind:
            yield from _leaves(f"{path}.{field.name}", field.type)
    else:
        yield path


def _table(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays(
        [pa.array([row[field.name] for row in rows], field.type) for field in schema], schema=schema
    )


def _size(row: dict[str, Any]) -> int:
    pictures = sum(len(image["bytes"]) for image in row["images"])
    return pictures + sum(len(value) for value in row.values() if isinstance(value, str))
