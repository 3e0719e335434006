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
  - {id: alpha, name: Alpha Editor, subdomain: one, vendor: A, platforms: [linux], kind: gui, aliases: [al-pha]}
  - id: word
    name: Microsoft Word
    subdomain: one
    vendor: Microsoft
    platforms: [windows, macos, web]
    kind: gui
    ambiguous: [Word]
    context: [docx]
"""
WORDS = "languages:\n  en:\n    actions: [tutorial]\n"


def test_the_shipped_taxonomy() -> None:
    taxonomy = load()
    assert len(taxonomy.domains) == 8 and sum(len(domain.subdomains) for domain in taxonomy.domains) == 36
    assert {"mousepad", "pcmanfm", "galculator", "lxterminal"} <= {app.id for app in taxonomy.apps}
    for domain in taxonomy.domains:
        assert {app.subdomain for app in domain.applications} == set(domain.subdomains), domain.domain
    assert len(taxonomy.apps) >= 650
    assert {"en", "zh", "ja", "ko", "es", "pt", "de", "fr", "ru", "hi", "ar", "id"} <= set(taxonomy.words)
    assert all(len(words.actions) >= 6 and len(words.noise) == 5 for words in taxonomy.words.values())
    assert taxonomy.domain_of("mousepad") == "productivity"
    assert {app.kind for app in taxonomy.apps} == {"gui", "web", "cli"}


def test_every_spelling_of_every_application_is_found() -> None:
    taxonomy = load()
    for app in taxonomy.apps:
        for spelling in app.spellings:
            text = f"{spelling.name} {' '.join(app.context)}"
            assert app.id in {found.id for found in taxonomy.match(text)}, (app.id, spelling)


def test_no_search_is_for_an_ordinary_word_alone() -> None:
    taxonomy = load()
    for app in taxonomy.apps:
        for code in taxonomy.words:
            for name in app.search_names(code):
                assert app.id in {found.id for found in taxonomy.match(name)}, (app.id, code, name)
    assert taxonomy.app("blender").search_names("en")[0] == "Blender 3D"
    assert taxonomy.app("microsoft-excel").search_names("ko")[:2] == ("Microsoft Excel", "엑셀")
    assert "Fusion 360" in taxonomy.app("fusion-360").search_names("de"), "old names find old videos"


def test_loading_is_fast() -> None:
    """Not a clock: libyaml's parser is there, which is what keeps 1,400 applications under half a second."""
    import yaml

    from cuamaster.records import located_yaml

    assert located_yaml._Loader is yaml.CSafeLoader


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
    with pytest.raises(UnknownName, match="known: ar, de, en"):
        taxonomy.words_for("xx")
    assert taxonomy.words_for("en-GB") == taxonomy.words["en"]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("name: Microsoft Word", "nmae: Microsoft Word", r"bad\.yaml, line (7|8), field applications\.1\.n"),
        ("subdomain: one, vendor: A,", "subdomain: two, vendor: A,", r"line 6, field applications\.0\.subdomain: no subdomain 'two'"),
        ("id: word", "id: alpha", r"line 7, field applications\.1\.id: 'alpha' is already"),
        ("    context: [docx]\n", "", r"line 13, field applications\.1\.ambiguous: .*need context"),
        ("kind: gui, aliases", "kind: desktop, aliases", r"line 6, field applications\.0\.kind"),
        ("platforms: [linux]", "platforms: []", r"line 6, field applications\.0\.platforms"),
        ("platforms: [linux]", "platforms: [amiga]", r"line 6, field applications\.0\.platforms\.0"),
        ("vendor: A,", "", r"line 6, field applications\.0\.vendor: Field required"),
        ("vendor: A,", "vendor: A, command: alpha,", r"line 6, field applications\.0\.command: .*without a package"),
        ("vendor: A,", "vendor: A, package: Alpha Editor,", r"line 6, field applications\.0\.package"),
        ("vendor: A,", "vendor: A, also: [nowhere],", r"line 6, field applications\.0\.also: no subdomain 'nowhere'"),
        ("vendor: A,", "vendor: A, also: [one],", r"line 6, field applications\.0\.also: 'one' is its home"),
        ("[al-pha]", "[al-pha, alpha editor]", r"line 6, field applications\.0\.aliases: .*given twice"),
        ("[al-pha]", "[microsoft-word]", r"line 8, field applications\.1\.name: .*'microsoft word' is claimed by 'alpha'"),
        ("[al-pha]", "[Word]", r"line 13, field applications\.1\.ambiguous: .*'word' is claimed by 'alpha'"),
        ("[al-pha]", "[al-pha], local: {xx: [alfa]}", r"line 6, field applications\.0\.local\.xx: no search words"),
        ("  one: First\n", "  one: First\n  two: Second\n", r"line 5, field subdomains\.two: no application"),
        ("title: Tests", "title: [Tests", r"bad\.yaml, line \d+, field \(YAML\)"),
        ("title: Tests", "title: Tests\ntitle: Again", r"line 3, field title: given twice"),
        ("title: Tests", "title: 7", r"line 2, field title"),
        ("id: word", "id: Bad Id", r"line 7, field applications\.1\.id"),
        (GOOD, "- just a list\n", r"line 1, field \(top\)"),
        (GOOD, "", r"line 1, field \(top\)"),
    ],
)  # fmt: skip
def test_broken_files_are_named(old: str, new: str, where: str) -> None:
    text = GOOD.replace(old, new)
    assert text != GOOD
    with pytest.raises(InvalidInput, match=where):
        parse({"bad.yaml": text, "words.yaml": WORDS})


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


def test_two_applications_may_claim_an_ordinary_word_if_context_tells_them_apart() -> None:
    two = GOOD.replace("[al-pha]", "[al-pha], ambiguous: [Word], context: [alpha, write]")
    taxonomy = parse({"tests.yaml": two, "words.yaml": WORDS})
    assert [app.id for app in taxonomy.match("Word: open a docx")] == ["word"]
    assert [app.id for app in taxonomy.match("Word: how to write")] == ["alpha"]
    assert taxonomy.match("Word: write a docx") == [], "nobody has more context than the other"
    with pytest.raises(InvalidInput, match=r"context: the same context as 'alpha'"):
        parse({"tests.yaml": two.replace("[alpha, write]", "[docx]")})


@pytest.mark.parametrize("action", ["{app} and {app}", "{}", "{app", "{name} tutorial", ""])
def test_an_action_word_has_one_hole_at_most(action: str) -> None:
    words = WORDS.replace("tutorial", f'"{action}"')
    with pytest.raises(InvalidInput, match=r"words\.yaml, line 3, field languages\.en\.actions\.0"):
        parse({"tests.yaml": GOOD, "words.yaml": words})
