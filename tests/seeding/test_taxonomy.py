"""The shipped taxonomy is whole; broken files are named with line and field; names are found in text."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuamaster.errors import InvalidInput, UnknownName
from cuamaster.seeding.taxonomy import load, parse

GOOD = """domain: tests
title: Tests
subdomains:
  one: First
applications:
  - {id: alpha, name: Alpha Editor, subdomain: one, aliases: [al-pha]}
  - id: word
    name: Microsoft Word
    subdomain: one
    ambiguous: [Word]
    context: [docx]
"""


def test_the_shipped_taxonomy() -> None:
    taxonomy = load()
    assert len(taxonomy.domains) == 8 and sum(len(domain.subdomains) for domain in taxonomy.domains) == 36
    assert {"mousepad", "pcmanfm", "galculator", "lxterminal"} <= {app.id for app in taxonomy.apps}
    for domain in taxonomy.domains:
        assert {app.subdomain for app in domain.applications} == set(domain.subdomains), domain.domain
    assert {"en", "de", "es", "zh", "ja"} <= set(taxonomy.words)
    assert taxonomy.domain_of("mousepad") == "productivity"
    for app in taxonomy.apps:
        context = " ".join(app.context)
        assert app.id in {found.id for found in taxonomy.match(f"{app.name} {context}")}, app.name


def test_names_are_found_as_words_longest_first() -> None:
    taxonomy = load()

    def ids(text: str) -> list[str]:
        return [app.id for app in taxonomy.match(text)]

    assert ids("Mouse-Pad and MOUSEPAD, then gedit") == ["mousepad", "gedit"]
    assert ids("excel at your job") == []
    assert ids("Excel: how to sort a worksheet") == ["microsoft-excel"]
    assert ids("Power BI is not PowerPoint") == ["power-bi", "microsoft-powerpoint"]
    assert ids("gimpy kritarian") == []
    assert ids("LibreOffice Calc tutorial") == ["libreoffice-calc"]
    mention = taxonomy.mentions("Use GIMP here")[0]
    assert (mention.name, mention.start, mention.end) == ("GIMP", 4, 8)


def test_unknown_names_say_what_is_near() -> None:
    taxonomy = load()
    with pytest.raises(UnknownName, match="mousepad"):
        taxonomy.app("mousepda")
    with pytest.raises(UnknownName, match="known: de, en"):
        taxonomy.words_for("xx")
    assert taxonomy.words_for("en-GB") == taxonomy.words["en"]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("name: Microsoft Word", "nmae: Microsoft Word", r"bad\.yaml, line (7|8), field applications\.1\.n"),
        (
            "subdomain: one, aliases",
            "subdomain: two, aliases",
            r"line 6, field applications\.0\.subdomain: no subdomain 'two'",
        ),
        ("id: word", "id: alpha", r"line 7, field applications\.1\.id: 'alpha' is already"),
        ("    context: [docx]\n", "", r"line 10, field applications\.1\.context"),
        ("title: Tests", "title: [Tests", r"bad\.yaml, line \d+, field \(YAML\)"),
        ("title: Tests", "title: Tests\ntitle: Again", r"line 3, field title: given twice"),
        ("title: Tests", "title: 7", r"line 2, field title"),
        ("id: word", "id: Bad Id", r"line 7, field applications\.1\.id"),
        (GOOD, "- just a list\n", r"line 1, field \(top\)"),
        (GOOD, "", r"line 1, field \(top\)"),
    ],
)
def test_broken_files_are_named(old: str, new: str, where: str) -> None:
    text = GOOD.replace(old, new)
    assert text != GOOD
    with pytest.raises(InvalidInput, match=where):
        parse({"bad.yaml": text})


def test_one_domain_one_file_and_an_empty_folder(tmp_path: Path) -> None:
    other = GOOD.replace("alpha", "beta").replace("id: word", "id: word2")
    with pytest.raises(InvalidInput, match=r"two\.yaml, line 1, field domain"):
        parse({"one.yaml": GOOD, "two.yaml": other})
    with pytest.raises(InvalidInput, match="no taxonomy files"):
        load(tmp_path)
    (tmp_path / "one.yaml").write_text(GOOD)
    assert [app.id for app in load(tmp_path).apps] == ["alpha", "word"]


def test_a_file_that_is_not_utf_8_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "tests.yaml").write_bytes(GOOD.replace("Alpha Editor", "Álpha Editor").encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"tests\.yaml, line 6: not UTF-8"):
        load(tmp_path)
