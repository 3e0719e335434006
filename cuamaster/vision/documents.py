"""Reads values out of document bytes: cells of CSV, .ods and .xlsx, and the pixel size of pictures; CheckFailed for a broken one."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from cuamaster.errors import CheckFailed

_MAX_PART = 64 << 20
_CELL = re.compile(r"^([A-Za-z]{1,3})([1-9]\d*)$")
_ODS_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_ODS_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_XLSX = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def cell_address(cell: str) -> tuple[int, int]:
    """`B3` -> (row 3, column 2), from 1; raises CheckFailed."""
    match = _CELL.match(cell)
    if match is None:
        raise CheckFailed(f"{cell!r} is no cell address such as B3")
    column = 0
    for letter in match.group(1).upper():
        column = column * 26 + ord(letter) - 64
    return int(match.group(2)), column


def table_cell(data: bytes, row: int, column: int, *, tabs: bool = False) -> str | None:
    """A cell of delimited text (UTF-8, commas unless `tabs` or the first line has more semicolons); None outside the table."""
    text = data.decode("utf-8-sig", errors="replace")
    first = text.partition("\n")[0]
    delimiter = "\t" if tabs else ";" if first.count(";") > first.count(",") else ","
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as exc:
        raise CheckFailed(f"not a table: {exc}") from exc
    if row > len(rows) or column > len(rows[row - 1]):
        return None
    return rows[row - 1][column - 1]


def sheet_cell(data: bytes, cell: str, sheet: str = "") -> str | None:
    """A cell of an .ods or .xlsx document as shown (numbers of .xlsx as stored); first sheet if none is named; None if empty."""
    row, column = cell_address(cell)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if "xl/workbook.xml" in archive.namelist():
                return _xlsx_cell(archive, row, column, sheet)
            if "content.xml" in archive.namelist():
                return _ods_cell(archive, row, column, sheet)
    except (zipfile.BadZipFile, ParseError, DefusedXmlException, KeyError, ValueError) as exc:
        raise CheckFailed(f"the spreadsheet cannot be read: {exc}") from exc
    raise CheckFailed("the file is neither .ods nor .xlsx")


def _part(archive: zipfile.ZipFile, name: str) -> Any:
    if archive.getinfo(name).file_size > _MAX_PART:
        raise CheckFailed(f"{name} is larger than {_MAX_PART >> 20} MiB")
    return fromstring(archive.read(name))


def _repeated(element: Any, attribute: str) -> int:
    return int(element.get(_ODS_TABLE + attribute, "1"))


def _rows(element: Any) -> Iterator[Any]:
    for child in element:
        if child.tag == _ODS_TABLE + "table-row":
            yield child
        elif child.tag in {_ODS_TABLE + name for name in ("table-header-rows", "table-rows", "table-row-group")}:
            yield from _rows(child)


def _ods_cell(archive: zipfile.ZipFile, row: int, column: int, sheet: str) -> str | None:
    for table in _part(archive, "content.xml").iter(_ODS_TABLE + "table"):
        if sheet and table.get(_ODS_TABLE + "name") != sheet:
            continue
        for line in _rows(table):
            row -= _repeated(line, "number-rows-repeated")
            if row > 0:
                continue
            for item in line:
                column -= _repeated(item, "number-columns-repeated")
                if column <= 0:
                    paragraphs = ["".join(p.itertext()) for p in item.iter(_ODS_TEXT + "p")]
                    return "\n".join(paragraphs) or None
            return None
        return None
    raise CheckFailed(f"no sheet {sheet!r}")


def _xlsx_cell(archive: zipfile.ZipFile, row: int, column: int, sheet: str) -> str | None:
    targets = {item.get("Id"): item.get("Target", "") for item in _part(archive, "xl/_rels/workbook.xml.rels")}
    for item in _part(archive, "xl/workbook.xml").iter(_XLSX + "sheet"):
        if sheet and item.get("name") != sheet:
            continue
        target = targets[item.get(_RELATION)]
        name = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        for found in _part(archive, name).iter(_XLSX + "c"):
            if cell_address(found.get("r", "")) == (row, column):
                return _xlsx_value(archive, found)
        return None
    raise CheckFailed(f"no sheet {sheet!r}")


def _xlsx_value(archive: zipfile.ZipFile, cell: Any) -> str | None:
    if cell.get("t") == "inlineStr":
        return "".join(text.text or "" for text in cell.iter(_XLSX + "t")) or None
    value = cell.find(_XLSX + "v")
    if value is None or value.text is None:
        return None
    if cell.get("t") == "s":
        strings = list(_part(archive, "xl/sharedStrings.xml"))
        return "".join(text.text or "" for text in strings[int(value.text)].iter(_XLSX + "t"))
    if cell.get("t") == "b":
        return "TRUE" if value.text == "1" else "FALSE"
    return str(value.text)


def image_size(data: bytes) -> tuple[int, int]:
    """(width, height) in pixels; raises CheckFailed for bytes that are no picture."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as picture:
            return picture.size
    except (UnidentifiedImageError, OSError, ValueError) as exc:
        raise CheckFailed(f"not a picture: {exc}") from exc
