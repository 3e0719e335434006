"""Names are found as whole words in any script, and ordinary words only where context makes names of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.records.mentions import NameFinder, Spelling, lowered
from cuamaster.seeding.taxonomy import load

TAXONOMY = load()


def ids(text: str) -> list[str]:
    return [mention.app for mention in TAXONOMY.mentions(text)]


@pytest.mark.parametrize(
    ("text", "apps"),
    [
        ("How to use VLOOKUP in Excel", ["microsoft-excel"]),
        ("excel at your job", []),
        ("The best kitchen blender 2024", []),
        ("Blender: sculpting a head", ["blender"]),
        ("word of the day", []),
        ("Word: how to add page numbers", ["microsoft-word"]),
        ("the team meets at the edge of the canvas", []),
        ("my mouse pad review", []),
        ("free CAD software", []),
        ("Acoustic version, one note guitar", []),
        ("VSCode and vs-code and VS Code", ["vscode"] * 3),
        ("draw.io vs Notepad++ vs Paint.NET", ["drawio", "notepadpp", "paint-net"]),
        ("Dev-C++ or Code::Blocks", ["dev-cpp", "codeblocks"]),
        ("PCManFM-Qt is not PCManFM", ["pcmanfm-qt", "pcmanfm"]),
        ("LibreOffice Calc tutorial", ["libreoffice-calc"]),
        ("Sony Vegas Pro 13", ["vegas-pro"]),
    ],
)
def test_latin_names(text: str, apps: list[str]) -> None:
    assert ids(text) == apps


@pytest.mark.parametrize(
    ("text", "apps"),
    [
        ("엑셀에서 함수 쓰기", ["microsoft-excel"]),
        ("포토샵으로 배경 지우기", ["photoshop"]),
        ("Wordの使い方", ["microsoft-word"]),
        ("【Ｅｘｃｅｌ】初心者のための基本操作", ["microsoft-excel"]),
        ("キーワードの選び方", []),
        ("word数のかぞえ方", []),
        ("剪映教程：如何添加字幕", ["jianying"]),
        ("Уроки Фотошопа", []),
        ("Фотошоп с нуля", ["photoshop"]),
        ("शुरुआत से फोटोशॉप", ["photoshop"]),
        ("شرح فوتوشوب للمبتدئين", ["photoshop"]),
        ("DaVinci Resolve教程", ["davinci-resolve"]),
    ],
)
def test_names_in_other_scripts(text: str, apps: list[str]) -> None:
    assert ids(text) == apps


def test_offsets_are_those_of_the_text() -> None:
    text = "İ ＧＩＭＰ und GIMP"
    assert len(lowered(text)) == len(text)
    assert [text[mention.start : mention.end] for mention in TAXONOMY.mentions(text)] == ["ＧＩＭＰ", "GIMP"]


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    for mention in TAXONOMY.mentions(text):
        assert text[mention.start : mention.end] == mention.name


def test_a_finder_of_nothing() -> None:
    assert NameFinder([], {}).find("Excel, 엑셀") == []
    assert [m.app for m in NameFinder([Spelling("a", "엑셀", False)], {}).find("엑셀은")] == ["a"]


@pytest.mark.timeout(20)  # quadratic would be minutes
def test_a_title_of_ten_thousand_characters_is_read_in_one_go() -> None:
    text = "word excel " * 1000
    assert len(TAXONOMY.mentions(text)) == 0
    assert len(TAXONOMY.mentions(text + "docx worksheet")) == 2000
