"""When two tables hold the same: cells in one canonical form, so that numbers are compared as numbers and sizes do not lie."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cuamaster.errors import CheckFailed
from cuamaster.records.condition import DocumentTable

_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")  # 007 is a text
_ADDRESS = re.compile(r"([A-Za-z]{1,3})([1-9]\d{0,6})")

Cell = str | float
Rows = tuple[tuple[Cell, ...], ...]


def cell_address(cell: str) -> tuple[int, int]:
    """`B3` -> (row 3, column 2), from 1; raises CheckFailed."""
    match = _ADDRESS.fullmatch(cell)
    if match is None:
        raise CheckFailed(f"{cell!r} is no cell address such as B3")
    column = 0
    for letter in match.group(1).upper():
        column = column * 26 + ord(letter) - 64
    return int(match.group(2)), column


def canonical_cell(text: str, like: DocumentTable) -> Cell:
    """A cell as it is compared under the options of `like`: a rounded number, or a text."""
    if _NUMBER.fullmatch(text.strip()):
        return round(float(text), like.precision)
    if like.ignore_blanks:
        text = " ".join(text.split())
    return text.lower() if like.ignore_case else text


def canonical_rows(rows: Iterable[Sequence[str]], like: DocumentTable) -> Rows:
    """Rows in canonical cells, without empty cells at the ends of rows and empty rows at the end of the table."""
    found: list[tuple[Cell, ...]] = []
    for row in rows:
        cells = [canonical_cell(cell, like) for cell in row]
        while cells and cells[-1] == "":
            cells.pop()
        found.append(tuple(cells))
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def tables_clash(a: DocumentTable, b: DocumentTable) -> bool:
    """Whether two conditions on the same block of the same sheet, with the same options, cannot both hold."""
    one, two = canonical_rows(a.rows, a), canonical_rows(b.rows, b)
    if a.whole and b.whole:
        return one != two
    for part, other, whole in ((a, two, b.whole), (b, one, a.whole)):
        for r, row in enumerate(part.rows):
            for c, text in enumerate(row):
                given = r < len(other) and c < len(other[r])
                if (given or whole) and canonical_cell(text, part) != (other[r][c] if given else ""):
                    return True
    return False
