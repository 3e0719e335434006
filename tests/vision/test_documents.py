"""Values out of document bytes, and a clear failure for broken or hostile ones."""

from __future__ import annotations

import io
import zipfile

import pytest

from cuamaster.errors import CheckFailed
from cuamaster.records.cells import cell_address
from cuamaster.vision.documents import image_size, sheet_cell, table_cell

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _zip(**parts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def _xlsx(cells: str, strings: str = "") -> bytes:
    return _zip(
        **{
            "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets><sheet name="One" r:id="r1"/><sheet name="Two" r:id="r2"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" Target="worksheets/a.xml"/><Relationship Id="r2" Target="/xl/worksheets/b.xml"/></Relationships>',
            "xl/worksheets/a.xml": f'<worksheet xmlns="{MAIN}"><sheetData><row r="1">{cells}</row></sheetData></worksheet>',
            "xl/worksheets/b.xml": f'<worksheet xmlns="{MAIN}"><sheetData><row r="2"><c r="B2"><v>7</v></c></row></sheetData></worksheet>',
            "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{strings}</sst>',
        }
    )


def test_addresses() -> None:
    assert cell_address("A1") == (1, 1)
    assert cell_address("aa10") == (10, 27)
    for bad in ("", "1A", "A0", "A1:B2", "ABCD1"):
        with pytest.raises(CheckFailed):
            cell_address(bad)


def test_xlsx_values_of_every_kind() -> None:
    data = _xlsx(
        '<c r="A1" t="s"><v>1</v></c><c r="B1"><v>2.5</v></c><c r="C1" t="b"><v>1</v></c><c r="D1" t="inlineStr"><is><t>in</t></is></c><c r="E1"/>',
        "<si><t>zero</t></si><si><r><t>o</t></r><r><t>ne</t></r></si>",
    )
    assert [sheet_cell(data, cell) for cell in ("A1", "B1", "C1", "D1", "E1", "F9")] == [
        "one",
        "2.5",
        "TRUE",
        "in",
        None,
        None,
    ]
    assert sheet_cell(data, "B2", "Two") == "7"
    with pytest.raises(CheckFailed, match="no sheet"):
        sheet_cell(data, "A1", "Three")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04 torn",
        _zip(other="x"),
        _zip(**{"content.xml": "<torn"}),
        _zip(**{"content.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}),
        _xlsx('<c r="A1" t="s"><v>many</v></c>'),
    ],
    ids=["empty", "torn", "no-content", "torn-content", "entity", "no-such-string"],
)
def test_broken_documents_are_errors_not_falsehoods(data: bytes) -> None:
    with pytest.raises(CheckFailed):
        sheet_cell(data, "A1")


def test_tables_by_their_separator() -> None:
    assert table_cell(b"\xef\xbb\xbfa;b,c;d\n1;2;3\n", 1, 2) == "b,c"
    assert table_cell(b'a,"b\nc"\n1,2\n', 1, 2) == "b\nc"
    assert table_cell(b"a\tb\n", 1, 2, tabs=True) == "b"
    assert table_cell(b"a,b\n", 1, 3) is None
    assert table_cell(b"", 1, 1) is None


def test_a_file_that_is_no_picture() -> None:
    with pytest.raises(CheckFailed, match="not a picture"):
        image_size(b"GIF89a")
