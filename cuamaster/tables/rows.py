"""One record as one Parquet row: scalars and lists of strings in typed columns, anything nested as canonical JSON."""

from __future__ import annotations

import functools
import json
import types
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from cuamaster.errors import IntegrityError, InvalidInput
from cuamaster.records.record import Record, canonical_json, content_id

R = TypeVar("R", bound=Record)
_SCALARS: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
_RECORD_KEY = b"cuamaster.record"
ITEM = "_item"
"""Column of the part's name, so that an item's rows can be found again in a shard."""


def record_id(record: Record) -> str:
    """The record's own `id`, or one derived from its type and content."""
    own = getattr(record, "id", None)
    return own if isinstance(own, str) else content_id(type(record).__name__.lower(), record)


def _column(annotation: Any) -> pa.DataType | None:
    """The Arrow type of a scalar or list-of-strings annotation; None: it is stored as JSON."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        rest = [arg for arg in args if arg is not type(None)]
        return _column(rest[0]) if len(rest) == 1 else None
    if origin is Literal and all(isinstance(arg, str) for arg in args):
        return pa.string()
    if (origin is tuple and args == (str, ...)) or (origin is list and args == (str,)):
        return pa.list_(pa.string())
    return _SCALARS.get(annotation)


@functools.cache
def _columns(record_type: type[Record]) -> dict[str, pa.DataType]:
    """Field name -> Arrow type for typed columns only."""
    found = {name: _column(info.annotation) for name, info in record_type.model_fields.items()}
    return {name: kind for name, kind in found.items() if kind is not None}


def schema_of(record_type: type[Record]) -> pa.Schema:
    """`id`, then one column a field: `<field>` if it is a scalar or a list of strings, `<field>_json` otherwise."""
    columns: dict[str, pa.DataType] = {"id": pa.string()}
    for name in record_type.model_fields:
        kind = _columns(record_type).get(name)
        if kind is None:
            columns[f"{name}_json"] = pa.string()
        else:
            columns[name] = kind
    return pa.schema(list(columns.items()), metadata={_RECORD_KEY: record_type.__name__.encode()})


def to_row(record: Record) -> dict[str, Any]:
    """One row in the columns of `schema_of`."""
    typed = _columns(type(record))
    row: dict[str, Any] = {"id": record_id(record)}
    for name, value in record.model_dump(mode="json").items():
        if name in typed:
            row[name] = value
        else:
            row[f"{name}_json"] = canonical_json(value)
    return row


def from_row(row: dict[str, Any], record_type: type[R], where: str = "row") -> R:
    """The record of a row; a column that an older file lacks takes the field's default. Raises IntegrityError."""
    data: dict[str, Any] = {}
    try:
        for name in record_type.model_fields:
            if name in row:
                data[name] = row[name]
            elif row.get(f"{name}_json") is not None:
                data[name] = json.loads(row[f"{name}_json"])
        return record_type.model_validate(data)
    except (ValidationError, json.JSONDecodeError) as exc:
        raise IntegrityError(f"{where}: not a {record_type.__name__}: {exc}") from exc


def table_of(records: Sequence[Record], record_type: type[Record]) -> pa.Table:
    """An Arrow table; raises InvalidInput if a record is of another type."""
    for record in records:
        if type(record) is not record_type:
            raise InvalidInput(f"expected {record_type.__name__} records only, got {type(record).__name__}")
    return pa.Table.from_pylist([to_row(record) for record in records], schema=schema_of(record_type))


def iter_table(path: Path, record_type: type[R], *, batch: int = 1000) -> Iterator[R]:
    """Records of one Parquet file, a batch in memory at a time; raises IntegrityError for damage or another record type."""
    try:
        with pq.ParquetFile(path) as file:
            found = (file.schema_arrow.metadata or {}).get(_RECORD_KEY, b"").decode()
            if found != record_type.__name__:
                raise IntegrityError(f"{path}: holds {found or 'unknown'} records, not {record_type.__name__}")
            known = {column for name in record_type.model_fields for column in (name, f"{name}_json")}
            strange = set(file.schema_arrow.names) - {*known, "id", ITEM}
            if strange:  # an older file lacks columns; what is not known here comes from a newer version
                raise IntegrityError(
                    f"{path}: {record_type.__name__} has no {', '.join(sorted(strange))}", hint="upgrade cuamaster"
                )
            for rows in file.iter_batches(batch_size=batch):
                yield from (from_row(row, record_type, str(path)) for row in rows.to_pylist())
    except (pa.ArrowException, UnicodeDecodeError, OSError) as exc:
        if isinstance(exc, OSError) and exc.errno is not None:  # the file system's; pyarrow's own have no number
            raise
        raise IntegrityError(f"{path}: damaged Parquet file: {exc}", hint="delete it and run its stage again") from exc


def read_table(path: Path, record_type: type[R]) -> list[R]:
    """All records of one Parquet file."""
    return list(iter_table(path, record_type))


class Rows(Generic[R]):
    """Records of some files, read anew each time they are iterated, a batch in memory at a time.

    Raises IntegrityError for damage, another record type, or a file that somebody removed meanwhile.
    """

    def __init__(self, paths: Sequence[Path], record_type: type[R]) -> None:
        self._paths, self._type = paths, record_type

    def __iter__(self) -> Iterator[R]:
        for path in self._paths:
            try:
                yield from iter_table(path, self._type, batch=50)
            except FileNotFoundError as exc:
                raise IntegrityError(f"{path}: removed while it was being read", hint="run the same again") from exc
