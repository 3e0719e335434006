"""Walks the sheets of .ods and .xlsx documents: their names, and their cells as stored and as shown; CheckFailed for a broken one."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from cuamaster.errors import CheckFailed
from cuamaster.records.cells import cell_address

_MAX_PART = 64 << 20
_MAX_CELLS = 1_000_000
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_XLSX = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BROKEN = (
    zipfile.BadZipFile, zlib.error, ParseError, DefusedXmlException, LookupError, ValueError, NotImplementedError,
    RuntimeError, EOFError,
)  # fmt: skip


@dataclass(frozen=True)
class SheetCell:
    """A cell that holds something: place from 1, its value as stored (a number in full) and as shown (.ods only)."""

    row: int
    column: int
    stored: str
    shown: str


@dataclass(frozen=True)
class Workbook:
    """The sheets of one document in order."""

    names: tuple[str, ...]
    _walk: Callable[[int], Iterator[SheetCell]]

    def cells(self, place: int) -> Iterator[SheetCell]:
        """Cells of the sheet at `place` (from 0), row by row; raises CheckFailed when there are absurdly many."""
        for number, cell in enumerate(self._walk(place)):
            if number >= _MAX_CELLS:
                raise CheckFailed(f"the sheet has more than {_MAX_CELLS} cells")
            yield cell


@contextmanager
def open_workbook(data: bytes) -> Iterator[Workbook]:
    """The document, while the block lasts; raises CheckFailed, also for what is found broken inside the block."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if "xl/workbook.xml" in names:
                yield _xlsx(archive)
            elif "content.xml" in names:
                yield _ods(archive)
            else:
                raise CheckFailed("the file is neither .ods nor .xlsx")
    except _BROKEN as exc:
        raise CheckFailed(f"the spreadsheet cannot be read: {exc}") from exc


def _part(archive: zipfile.ZipFile, name: str) -> Any:
    if archive.getinfo(name).file_size > _MAX_PART:
        raise CheckFailed(f"{name} is larger than {_MAX_PART >> 20} MiB")
    return fromstring(archive.read(name))


# --- .ods


def _ods(archive: zipfile.ZipFile) -> Workbook:
    tables = list(_part(archive, "content.xml").iter(_TABLE + "table"))
    return Workbook(tuple(table.get(_TABLE + "name", "") for table in tables), lambda place: _ods_cells(tables[place]))


def _ods_cells(table: Any) -> Iterator[SheetCell]:
    row = 1
    for line in _rows(table):
        lines = _repeated(line, "number-rows-repeated")
        column = 1
        found: list[tuple[int, str, str]] = []
        for item in line:
            columns = _repeated(item, "number-columns-repeated")
            shown = "\n".join("".join(p.itertext()) for p in item.iter(_TEXT + "p"))
            stored = item.get(_OFFICE + "value", shown)
            if stored or shown:
                if columns * lines > _MAX_CELLS:
                    raise CheckFailed(f"the sheet has more than {_MAX_CELLS} cells")
                found += [(column + offset, stored, shown) for offset in range(columns)]
            column += columns
        for offset in range(lines if found else 0):
            yield from (SheetCell(row + offset, place, stored, shown) for place, stored, shown in found)
        row += lines


def _repeated(element: Any, attribute: str) -> int:
    return int(element.get(_TABLE + attribute, "1"))


def _rows(element: Any) -> Iterator[Any]:
    for child in element:
        if child.tag == _TABLE + "table-row":
            yield child
        elif child.tag in {_TABLE + name for name in ("table-header-rows", "table-rows", "table-row-group")}:
            yield from _rows(child)


# --- .xlsx


def _xlsx(archive: zipfile.ZipFile) -> Workbook:
    targets = {item.get("Id"): item.get("Target", "") for item in _part(archive, "xl/_rels/workbook.xml.rels")}
    sheets = list(_part(archive, "xl/workbook.xml").iter(_XLSX + "sheet"))

    def walk(place: int) -> Iterator[SheetCell]:
        target = targets[sheets[place].get(_RELATION)]
        name = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        strings: list[Any] = []
        row = column = 0
        for line in _part(archive, name).iter(_XLSX + "row"):
            row = int(line.get("r", row + 1))
            column = 0
            for item in line.iter(_XLSX + "c"):
                row, column = cell_address(item.get("r")) if item.get("r") else (row, column + 1)
                if item.get("t") == "s" and not strings:
                    strings = list(_part(archive, "xl/sharedStrings.xml"))
                value = _xlsx_value(item, strings)
                if value:
                    yield SheetCell(row, column, value, value)

    return Workbook(tuple(item.get("name", "") for item in sheets), walk)


def _xlsx_value(cell: Any, strings: list[Any]) -> str:
    if cell.get("t") == "inlineStr":
        return "".join(text.text or "" for text in cell.iter(_XLSX + "t"))
    value = cell.find(_XLSX + "v")
    if value is None or value.text is None:
        return ""
    if cell.get("t") == "s":
        return "".join(text.text or "" for text in strings[int(value.text)].iter(_XLSX + "t"))
    if cell.get("t") == "b":
        return "TRUE" if value.text == "1" else "FALSE"
    return str(value.text)
