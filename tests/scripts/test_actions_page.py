"""docs/actions.md says what the code says."""

from __future__ import annotations

from cuamaster.dialects import table
from cuamaster.dialects.registry import DIALECTS, dialect
from scripts import actions_page


def test_the_page_is_current() -> None:
    assert actions_page.PAGE.read_text(encoding="utf-8") == actions_page.page(), "run python -m scripts.actions_page"


def test_the_tables_name_every_dialect_and_tell_the_ways_apart() -> None:
    rows = table.spaces_table().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(DIALECTS)
    click = table.FEATURES["click with a modifier"]
    wait = table.FEATURES["wait a given time"]
    assert table.way(dialect("openai-computer"), click) == ("exact", "")
    assert table.way(dialect("qwen3-vl"), click) == ("spelled out", "")
    assert table.way(dialect("openai-computer"), wait) == ("with a loss", "a wait of 7.5 s becomes one of 8 s")
    how, lack = table.way(dialect("cua-bench"), table.FEATURES["shell command"])
    assert (how, lack) == ("not at all", "has no words for a command for the shell")
