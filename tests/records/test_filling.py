"""Parameters in conditions: strict filling, the right escapes, and reading arguments off facts."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.errors import InvalidInput
from cuamaster.records.condition import (
    All,
    CommandOutput,
    Condition,
    DocumentSheets,
    DocumentTable,
    FileExists,
    FileJson,
    FileText,
    Not,
    WindowTitle,
)
from cuamaster.records.filling import names_in, placeholders, substitute, unify
from cuamaster.records.reasoning import implies
from cuamaster.records.values import matches
from tests.records.conditions import conditions

NAMED = FileText(path="~/{folder}/{name}", text="{text}", match="contains")


def test_placeholders_are_found_at_any_depth() -> None:
    condition = All(of=(NAMED, Not(of=WindowTitle(title="{title} - {2} {}"))))
    assert placeholders(condition) == {"folder", "name", "text", "title"}
    assert names_in({"a": ["{x}", {"b": "{y}"}], "c": 3}) == {"x", "y"}


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(InvalidInput, match="name"):
        substitute(NAMED, {"folder": "f", "text": "t"})


def test_values_are_not_filled_in_again() -> None:
    filled = substitute(NAMED, {"folder": "{name}", "name": "n", "text": "{folder}"})
    assert filled == FileText(path="~/{name}/n", text="{folder}", match="contains")


def test_texts_in_lists_are_filled_in_as_well() -> None:
    arguments = {"name": "Stock", "file": "a.ods"}
    sheets = DocumentSheets(path="~/{file}", names=("{name}", "Sheet2"))
    assert substitute(sheets, arguments) == DocumentSheets(path="~/a.ods", names=("Stock", "Sheet2"))
    table = DocumentTable(path="~/a.ods", rows=(("{name}", "1"), ("x", "of {name}")))
    assert substitute(table, arguments) == DocumentTable(path="~/a.ods", rows=(("Stock", "1"), ("x", "of Stock")))
    keyed = FileJson(path="~/a.json", keys=("shops", "{name}"), value="1")
    assert substitute(keyed, arguments) == FileJson(path="~/a.json", keys=("shops", "Stock"), value="1")
    with pytest.raises(InvalidInput, match="name"):
        substitute(sheets, {"file": "a.ods"})


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_an_argument_of_a_command_is_one_word_and_of_a_pattern_itself(value: str) -> None:
    command = substitute(CommandOutput(command="cat {name}", text="x"), {"name": value})
    assert isinstance(command, CommandOutput)
    words = shlex.split(command.command)
    assert len(words) == 2
    assert words[1] == value
    pattern = substitute(FileText(path="p", text="{name}", match="regex"), {"name": value})
    assert isinstance(pattern, FileText)
    assert matches(value, pattern.text, "regex")


@given(conditions)
def test_a_ground_condition_stays_as_it_is(condition: Condition) -> None:
    assert substitute(condition, {}) is condition
    assert unify(condition, condition, {}) == {}


def test_unify_reads_arguments_off_a_fact() -> None:
    fact = FileText(path="~/garden/plan.txt", text="buy milk\n")
    found = unify(NAMED, fact, {})
    assert found == {"folder": "garden", "name": "plan.txt", "text": "buy milk"}
    assert implies(fact, substitute(NAMED, found))


def test_unify_respects_what_is_bound_and_the_kind() -> None:
    fact = FileExists(path="~/garden", type="dir")
    assert unify(FileExists(path="~/{name}"), fact, {"name": "garden"}) == {"name": "garden"}
    assert unify(FileExists(path="~/{name}"), fact, {"name": "home"}) is None
    assert unify(FileText(path="~/{name}", text=""), fact, {}) is None
    assert unify(FileExists(path="~/{a}/{a}"), FileExists(path="~/x/y"), {}) is None
    assert unify(FileExists(path="~/{a}"), FileExists(path="~/x/y"), {}) is None
