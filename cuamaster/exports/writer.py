"""Streams rows into one Parquet file with row groups bounded in bytes, every picture once a group; whole or not at all."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from cuamaster.exports.columns import IMAGE, IMAGES
from cuamaster.records.record import Record
from cuamaster.tables import atomic_file

GROUP_BYTES = 16 << 20
GROUP_ROWS = 500
_ONE_PAGE = 1 << 30
_PICTURE = pa.struct([("bytes", pa.dictionary(pa.int32(), pa.binary())), ("path", pa.string())])
_PICTURES = pa.list_(pa.field("element", _PICTURE))


class ExportFile(Record):
    """One written file."""

    name: str
    rows: int
    bytes: int
    sha256: str


def write_rows(path: Path, schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> ExportFile:
    """Write rows (possibly none) into one file. Raises StoreFull, StoreUnwritable."""
    with parquet_file(path, schema) as file:
        for row in rows:
            file.add(row)
    return file.written()


@contextlib.contextmanager
def parquet_file(path: Path, schema: pa.Schema) -> Iterator[RowFile]:
    """A file to add rows to; it gets its name when the block is left without an error. Raises StoreFull, StoreUnwritable."""
    leaves = [leaf for field in schema for leaf in _leaves(field.name, field.type)]
    texts = [leaf for leaf in leaves if not leaf.endswith(".bytes")]
    options: dict[str, Any] = {
        # Pictures are compressed already. A dictionary holds each of them once in a row group, however many rows show it.
        "compression": {leaf: "zstd" if leaf in texts else "none" for leaf in leaves},
        "use_dictionary": leaves,
        "dictionary_pagesize_limit": _ONE_PAGE,
        "write_statistics": texts,
        "write_batch_size": 16,  # values between two looks at the size of a page: a picture may have megabytes
    }
    with atomic_file(path) as raw, ThreadPoolExecutor(1) as pool, ThreadPoolExecutor(2) as beside:
        hashed = _Hashed(raw, beside)
        # Readers are told the plain types: that a column is a dictionary on its way in is nobody else's business.
        with pq.ParquetWriter(hashed, _stored(schema), store_schema=False, **options) as writer:
            file = RowFile(path.name, schema, writer, hashed, pool)
            try:
                yield file
            finally:
                file.wait()  # nobody may close the writer under the thread that writes
            file.finish()
            told = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
            plain = base64.b64encode(schema.serialize().to_pybytes()).decode()
            writer.add_key_value_metadata({**told, "ARROW:schema": plain})
        hashed.settle()


class RowFile:
    """Rows on their way into a Parquet file: at most two row groups of GROUP_BYTES are in memory, and one row more."""

    def __init__(
        self, name: str, schema: pa.Schema, writer: pq.ParquetWriter, hashed: _Hashed, pool: ThreadPoolExecutor
    ) -> None:
        self.rows = 0
        self._name, self._writer, self._hashed, self._pool = name, writer, hashed, pool
        self._tables = _Tables(schema)
        self._waiting: list[dict[str, Any]] = []
        self._seen: set[str] = set()
        self._unique = self._repeated = 0
        self._busy: Future[None] | None = None

    @property
    def bytes(self) -> int:
        """Bytes written so far."""
        return self._hashed.count

    def add(self, row: dict[str, Any]) -> None:
        """Append a row: a value for every column."""
        self._waiting.append(row)
        self.rows += 1
        for picture in _pictures(row):
            if picture["path"] in self._seen:
                self._repeated += len(picture["path"])
            else:
                self._seen.add(picture["path"])
                self._unique += len(picture["bytes"])
        self._unique += sum(len(value) for value in row.values() if isinstance(value, str))
        if self._unique + self._repeated >= GROUP_BYTES or len(self._waiting) >= GROUP_ROWS:
            self._flush()

    def wait(self) -> None:
        """Until no group is being written, well or not."""
        if self._busy is not None:
            wait([self._busy])

    def finish(self) -> None:
        """Write what is waiting."""
        if self._waiting:
            self._flush()
        self._settle()

    def written(self) -> ExportFile:
        """What the finished file is."""
        return ExportFile(name=self._name, rows=self.rows, bytes=self.bytes, sha256=self._hashed.digest())

    def _flush(self) -> None:
        """Hand the group to the other thread, which compresses and writes while the next rows are read."""
        self._settle()
        self._busy = self._pool.submit(self._write, self._waiting)
        self._waiting, self._seen, self._unique, self._repeated = [], set(), 0, 0

    def _settle(self) -> None:
        if self._busy is not None:
            self._busy.result()
            self._busy = None

    def _write(self, rows: list[dict[str, Any]]) -> None:
        self._writer.write_table(self._tables.of(rows), row_group_size=len(rows))


class _Hashed(io.RawIOBase, BinaryIO):
    """A file that knows the SHA-256 of what went through it; hashing goes on beside the writing, one piece behind.

    What is written goes to the disk meanwhile, so that little is left to wait for at the end.
    """

    def __init__(self, file: BinaryIO, pool: Executor) -> None:
        self._file, self._pool, self._sha, self.count = file, pool, hashlib.sha256(), 0
        self._hashing: Future[None] | None = None
        self._storing: Future[None] | None = None
        self._sent = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.count

    def write(self, data: Any) -> int:
        if self._hashing is not None:
            self._hashing.result()
        self._hashing = self._pool.submit(self._sha.update, bytes(data))  # of bytes, that is no copy
        self._file.write(data)
        self.count += len(data)
        if self.count - self._sent >= GROUP_BYTES and (self._storing is None or self._storing.done()):
            self.settle()
            self._storing = self._pool.submit(os.fsync, self._file.fileno())
            self._sent = self.count
        return len(data)

    def settle(self) -> None:
        """Wait for what is on its way to the disk. Raises OSError: the kernel tells only once that it could not be stored."""
        if self._storing is not None:
            self._storing.result()

    def digest(self) -> str:
        if self._hashing is not None:
            self._hashing.result()
        return self._sha.hexdigest()


def _leaves(path: str, kind: pa.DataType) -> Iterator[str]:
    """Column paths as Parquet names them."""
    if isinstance(kind, pa.ListType):
        yield from _leaves(f"{path}.list.element", kind.value_type)
    elif isinstance(kind, pa.StructType):
        for field in kind:
            yield from _leaves(f"{path}.{field.name}", field.type)
    else:
        yield path


def _stored(schema: pa.Schema) -> pa.Schema:
    kinds = {IMAGES: _PICTURES, IMAGE: _PICTURE}
    return pa.schema([pa.field(field.name, kinds.get(field.type, field.type)) for field in schema])


def _pictures(row: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [*(row.get("images") or ())]
    return [*found, row["image"]] if isinstance(row.get("image"), dict) else found


class _Tables:
    """Makes Arrow tables of rows; the buffer that pictures are joined in serves one table after the other.

    A table is good until the next one is asked for. Fresh memory for every group would cost more than all the copying.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._buffer = bytearray()

    def of(self, rows: list[dict[str, Any]]) -> pa.Table:
        """The table of some rows."""
        columns = [self._column([row[field.name] for row in rows], field.type) for field in self._schema]
        return pa.Table.from_arrays(columns, schema=_stored(self._schema))

    def _column(self, values: list[Any], kind: pa.DataType) -> pa.Array[Any]:
        if kind == IMAGE:
            return self._album(values)
        if kind == IMAGES:
            ends = [0]
            for images in values:
                ends.append(ends[-1] + len(images))
            album = self._album([image for images in values for image in images])
            return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), album, type=_PICTURES)
        return pa.array(values, kind)

    def _album(self, pictures: list[dict[str, Any]]) -> pa.StructArray:
        """Pictures, the bytes of each once."""
        unique, order = _numbered([picture["bytes"] for picture in pictures])
        ends = [0]
        for data in unique:
            ends.append(ends[-1] + len(data))
        if len(self._buffer) < ends[-1]:
            self._buffer = bytearray(ends[-1])
        for place, data in zip(ends, unique, strict=False):
            self._buffer[place : place + len(data)] = data
        joined = [None, pa.array(ends, pa.int32()).buffers()[1], pa.py_buffer(self._buffer)]
        values = pa.Array.from_buffers(pa.binary(), len(unique), joined)
        once = pa.DictionaryArray.from_arrays(pa.array(order, pa.int32()), values)
        paths = pa.array([picture["path"] for picture in pictures], pa.string())
        return pa.StructArray.from_arrays([once, paths], fields=list(_PICTURE))


def _numbered(values: list[bytes]) -> tuple[list[bytes], list[int]]:
    """The different values, and which of them each one is; two are compared only where a few of their bytes agree."""
    unique: list[bytes] = []
    alike: dict[tuple[int, bytes, bytes], list[int]] = {}
    order = []
    for value in values:
        group = alike.setdefault((len(value), value[len(value) // 2 : len(value) // 2 + 64], value[-64:]), [])
        number = next((number for number in group if unique[number] == value), None)
        if number is None:
            number = len(unique)
            unique.append(value)
            group.append(number)
        order.append(number)
    return unique, order
