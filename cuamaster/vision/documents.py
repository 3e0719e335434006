"""Reads values out of document bytes: cells of CSV, .ods and .xlsx, and the pixel size of pictures; CheckFailed for a broken one."""

from __future__ import annotations

import csv
import io

from cuamaster.errors import CheckFailed
from cuamaster.records.cells import cell_address
from cuamaster.vision.sheets import open_workbook

_MAX_COLUMNS = 16_384
_MAX_ROWS = 1_048_576
_MAX_GRID = 4_000_000
Grid = list[list[str]]


def is_delimited(path: str) -> bool:
    """Whether a path names delimited text rather than a spreadsheet document."""
    return path.lower().endswith((".csv", ".tsv", ".tab", ".txt"))


def delimited_rows(data: bytes, *, tabs: bool = False) -> Grid:
    """Rows of delimited text: UTF-8, commas unless `tabs` or the first line has more semicolons."""
    text = data.decode("utf-8-sig", errors="replace")
    first = text.partition("\n")[0]
    delimiter = "\t" if tabs else ";" if first.count(";") > first.count(",") else ","
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as exc:
        raise CheckFailed(f"not a table: {exc}") from exc


def table_cell(data: bytes, row: int, column: int, *, tabs: bool = False) -> str | None:
    """A cell of delimited text; None outside the table."""
    rows = delimited_rows(data, tabs=tabs)
    if row > len(rows) or column > len(rows[row - 1]):
        return None
    return rows[row - 1][column - 1]


def sheet_cell(data: bytes, cell: str, sheet: str = "") -> str | None:
    """A cell of an .ods or .xlsx document as shown (numbers of .xlsx as stored); first sheet if none is named; None if empty."""
    wanted = cell_address(cell)
    with open_workbook(data) as book:
        if sheet and sheet not in book.names:
            raise CheckFailed(f"no sheet {sheet!r}")
        for found in book.cells(book.names.index(sheet) if sheet else 0):
            if (found.row, found.column) == wanted:
                return found.shown or None
    return None


def sheet_names(data: bytes) -> tuple[str, ...]:
    """Names of the sheets of an .ods or .xlsx document, in order."""
    with open_workbook(data) as book:
        return book.names


def table_rows(data: bytes, path: str, sheet: str = "", number: int = 1) -> Grid | None:
    """All rows of a table document as stored, '' for an empty cell: the named sheet, or the one at place `number`; None without it.

    Rows end with their last cell that holds something, the table with its last such row.
    """
    if is_delimited(path):
        return delimited_rows(data, tabs=path.lower().endswith((".tsv", ".tab"))) if number == 1 and not sheet else None
    with open_workbook(data) as book:
        if sheet and sheet not in book.names:
            return None
        place = book.names.index(sheet) if sheet else number - 1
        if place >= len(book.names):
            return None
        grid: Grid = []
        size = 0
        for cell in book.cells(place):
            if cell.row > _MAX_ROWS or cell.column > _MAX_COLUMNS:
                raise CheckFailed(f"a cell at row {cell.row}, column {cell.column} is outside any sheet")
            grid += ([] for _ in range(cell.row - len(grid)))
            row = grid[cell.row - 1]
            size += max(0, cell.column - len(row))
            if size > _MAX_GRID:
                raise CheckFailed(f"the table spans more than {_MAX_GRID} cells")
            row += [""] * (cell.column - len(row))
            row[cell.column - 1] = cell.stored
        return grid


def image_size(data: bytes) -> tuple[int, int]:
    """(width, height) in pixels; raises CheckFailed for bytes that are no picture."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as picture:
            return picture.size
    except (UnidentifiedImageError, OSError, ValueError) as exc:
        raise CheckFailed(f"not a picture: {exc}") from exc
