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
        ("Library to access the MusicBrainz database", []),
        ("learn access database queries in one day", ["microsoft-access"]),
        ("Excel at your job with a macro", ["microsoft-excel"]),
        ("You will excel at Microsoft", []),
        ("Edit files with nano in the terminal", ["nano"]),
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


ORDINARY = """
    access alice allegro anaconda arc ark asana atom audacity bamboo base basecamp bash blackboard blender bottles box boxes
    brackets brave bubble buffer canvas catfish chrome cockpit coda copper craft cura cursor deluge diffuse dino discord discover
    dolphin domo drawing eagle eclipse edge element endeavour entry epiphany everything evolution excel fiji finale finder fish
    foot fork fossil galaxy gamma gap gaussian ghost glitch grace grasshopper hamster hangman helix helm hex horizon houdini hydrogen
    hyper icy illustrator impress insomnia inventor joe kate keynote kitty lens line linear live loom lynx make maple marble maya
    mechanic medium mega meld mercury micro minder miro monday motion nano nemo nexus notion nuke numbers observable obsidian octave
    olive opera orange origin outlook pages paint parallels peek pidgin pitch planner plausible pluto poser postman prism processing
    procreate prometheus proteus publisher puppet putty ranger reason rhino rider root rows safari salome scratch scrivener seahorse
    seesaw signal sketch slack slicer snowflake spark spectacle spline spyder step strawberry superset surf surfer swagger sway
    synaptic tableau taiga tally teams telegram terminator terminology thunderbird tilda time totem tower transmission ulysses unity
    vagrant viking virtuoso vivaldi warp wave weka wine word workday writer zed zeppelin zoom
""".split()  # noqa: SIM905  a list of them would fill a page


@pytest.mark.parametrize("word", ORDINARY)
def test_an_ordinary_word_alone_names_nothing(word: str) -> None:
    assert ids(f"he saw the {word} and left") == [] and ids(f"{word.capitalize()}, my old friend") == []


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
