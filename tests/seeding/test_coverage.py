"""The coverage report adds up, and the one in docs/open-world.md is that of the taxonomy that ships."""

from __future__ import annotations

import re
from pathlib import Path

from cuamaster.records.search import Searched
from cuamaster.seeding.coverage import coverage, total
from cuamaster.seeding.taxonomy import load

TAXONOMY = load()
DOC = Path(__file__).resolve().parents[2] / "docs" / "open-world.md"


def test_every_application_is_counted_once_at_each_level() -> None:
    for by in ("domain", "subdomain", "app"):
        lines = coverage(TAXONOMY, by)
        every = total(lines)
        assert every.applications == len(TAXONOMY.apps) == every.gui + every.web + every.cli
        assert every.names == sum(len(app.spellings) for app in TAXONOMY.apps)
        assert every.packages == sum(app.package is not None for app in TAXONOMY.apps)
    assert [len(coverage(TAXONOMY, by)) for by in ("domain", "subdomain", "app")] == [8, 36, len(TAXONOMY.apps)]


def test_what_was_searched_and_kept_is_counted_where_the_application_lives() -> None:
    row = Searched(
        text="GIMP tips",
        app="gimp",
        provider="p",
        language="en",
        offset=0,
        limit=9,
        candidates=7,
        new=5,
        kept=2,
        tasks=3,
    )
    lines = coverage(TAXONOMY, "subdomain", [row, row], {"gimp": 3, "gone": 9})
    found = {
        line.subdomain: (line.searches, line.candidates, line.reached, line.tasks) for line in lines if line.searches
    }
    assert found == {"raster-graphics": (2, 14, 1, 3)}


def test_the_document_tells_the_numbers_of_the_taxonomy() -> None:
    text = DOC.read_text(encoding="utf-8")
    told = re.findall(
        r"^\| ([a-z-]+) \| ([a-z0-9-]*) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE
    )
    lines = coverage(TAXONOMY, "subdomain")
    expected = [
        (
            line.domain,
            line.subdomain,
            *map(str, (line.applications, line.gui, line.web, line.cli, line.packages, line.names)),
        )
        for line in (*lines, total(lines))
    ]
    assert told == expected, "`cuamaster taxonomy coverage --json` has the numbers for docs/open-world.md"
    words = dict(re.findall(r"^\| ([a-z]{2}) \| (\d+) \| \d+ \|$", text, re.MULTILINE))
    assert words == {code: str(len(item.actions)) for code, item in TAXONOMY.words.items()}
