"""Filling templates: every hole named, arguments as single shell words, home folders kept."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.errors import InvalidInput
from cuamaster.records.primitive import ActionTemplate
from cuamaster.records.templates import fill_command, fill_template, fill_text, quote
from cuamaster.records.trajectory import Target


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",))))
def test_an_argument_is_one_word_of_the_shell_whatever_it_holds(value: str) -> None:
    command = fill_command("printf %s {text}", {"text": value})
    expected = value
    if value == "~" or value.startswith("~/"):
        expected = "/home/me" + value[1:]
    done = subprocess.run(["sh", "-c", command], capture_output=True, env={"HOME": "/home/me"}, check=True)
    assert done.stdout.decode() == expected


@pytest.mark.parametrize(
    ("command", "filled"),
    [
        ("mkdir -p ~/{name}", "mkdir -p ~/'my files'"),
        ("cat {path}", "cat ~/'a b.txt'"),
        ("cp {path} {name}/x", "cp ~/'a b.txt' 'my files'/x"),
        ("awk '{print $1}' {path}", "awk '{print $1}' ~/'a b.txt'"),
    ],
)
def test_paths_keep_their_home(command: str, filled: str) -> None:
    assert fill_command(command, {"name": "my files", "path": "~/a b.txt"}) == filled


@pytest.mark.parametrize("command", ['echo "{name}"', "echo 'it is {name}'"])
def test_a_hole_inside_quotes_is_refused(command: str) -> None:
    with pytest.raises(InvalidInput, match="inside quotes"):
        fill_command(command, {"name": "x"})


def test_a_missing_argument_is_named_and_a_filled_one_is_not_filled_again() -> None:
    with pytest.raises(InvalidInput, match=r"\{other\}"):
        fill_text("{name} {other}", {"name": "x"})
    assert fill_text("{name}", {"name": "{other}"}) == "{other}"


def test_all_parts_of_a_template_are_filled() -> None:
    template = ActionTemplate(
        type="mouse.click",
        target=Target(text="{a}", near="{b}", window="{c}"),
        to=Target(text="{c}"),
        args={"keys": ["{a}"], "deep": {"x": "{b}"}, "count": 2},
        say="Use {a}",
    )
    filled = fill_template(template, {"a": "1", "b": "2", "c": "3"})
    assert filled.target == Target(text="1", near="2", window="3")
    assert filled.to == Target(text="3")
    assert filled.args == {"keys": ["1"], "deep": {"x": "2"}, "count": 2}
    assert filled.say == "Use 1"


def test_quote_without_home() -> None:
    assert quote("~/x", home=False) == "'~/x'"
    assert quote("~/") == "~/"
