"""A stage's rows in slices of bounded size, as columns: what passes over millions of rows reads, cuts and writes without records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from cuamaster.errors import IntegrityError
from cuamaster.records.record import content_id
from cuamaster.tables.rows import ITEM, R
from cuamaster.tables.stage import StageFolder


@dataclass(frozen=True)
class Slice:
    """One row group of one file; `first_row` counts over all slices of the stage."""

    path: Path
    group: int
    first_row: int
    rows: int
    id: str

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows, without the column that names their part; raises IntegrityError."""
        try:
            with pq.ParquetFile(self.path) as file:
                table = file.read_row_group(self.group, columns=None if columns is None else list(columns))
        except (pa.ArrowException, UnicodeDecodeError) as exc:
            raise IntegrityError(
                f"{self.path}: damaged Parquet file: {exc}", hint="delete the stage's folder and run it again"
            ) from exc
        return table.drop_columns([ITEM]) if ITEM in table.column_names else table

    def columns(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """Columns as lists; a column that an older file lacks is all None."""
        table = self.table([name for name in names if name in self._names()])
        return {
            name: table[name].to_pylist() if name in table.column_names else [None] * table.num_rows for name in names
        }

    def _names(self) -> list[str]:
        with pq.ParquetFile(self.path) as file:
            return list(file.schema_arrow.names)


def slices(stage: StageFolder) -> list[Slice]:
    """The kept rows of a closed stage; the ids name the content, so what was made of a slice is valid as long as it is there."""
    manifest = stage.manifest()
    found: list[Slice] = []
    first = 0
    for entry in manifest.named("kept") if manifest else ():
        path = stage.folder / entry.name
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                found.append(Slice(path, group, first, rows, content_id("slice", entry.sha256, group, first)))
                first += rows
    return found


def records_of(table: pa.Table, record_type: type[R]) -> list[R]:
    """Records of rows that were checked when they were written: made without checking them again, for speed."""
    names = [name for name in record_type.model_fields if name in table.column_names]
    lists = [
        _tuples(table[name].to_pylist()) if pa.types.is_list(table[name].type) else table[name].to_pylist()
        for name in names
    ]
    made: Any = [
        record_type.model_construct(None, **dict(zip(names, row, strict=True))) for row in zip(*lists, strict=True)
    ]
    return cast("list[R]", made)


def _tuples(values: list[Any]) -> list[Any]:
    return [tuple(value) if value is not None else () for value in values]


def cut(table: pa.Table, rows: Sequence[int], changed: Mapping[str, Sequence[Any]] | None = None) -> pa.Table:
    """The rows with these numbers, some columns replaced by other values (one a row that stays)."""
    left = table.take(pa.array(rows, pa.int64()))
    for name, values in (changed or {}).items():
        index = left.schema.get_field_index(name)
        left = left.set_column(index, left.schema.field(index), pa.array(values, left.schema.field(index).type))
    return left


def table_from(columns: Mapping[str, Any]) -> pa.Table:
    """A table of columns that no record describes: keys, sketches."""
    return pa.table(dict(columns))
