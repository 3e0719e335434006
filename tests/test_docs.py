"""What README and docs name is there: settings, commands with their options, files of the package; and no setting is without a word."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from cuamaster.cli import app
from cuamaster.settings import Settings
from scripts import settings_page

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS: Any = get_command(app)
VARIABLES = {f"{settings_page.PREFIX}{name.upper()}" for name in Settings.model_fields}


def test_every_setting_says_what_it_is() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_the_page_of_settings_is_current() -> None:
    assert settings_page.PAGE.read_text(encoding="utf-8") == settings_page.page(), "run python -m scripts.settings_page"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_a_page_names_is_there(page: Path) -> None:
    named = set(re.findall(rf"{settings_page.PREFIX}[A-Z0-9_]+", page.read_text(encoding="utf-8")))
    assert named - VARIABLES == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_a_page_names_is_there_with_its_options(page: Path) -> None:
    wrong = [f"{line}: {fault}" for line in _commands(page) if (fault := _fault(line)) is not None]
    assert wrong == []


def test_a_command_that_is_not_there_is_noticed() -> None:
    assert _fault("cuamaster export --profile trl --out x") is None
    assert _fault("cuamaster show [ID]") is None
    assert _fault("cuamaster flywheel run --nxt") == "no option --nxt"
    assert _fault("cuamaster flywheel stop") == "no command stop"
    assert sum(len(list(_commands(page))) for page in PAGES) > 40


def _commands(page: Path) -> Iterator[str]:
    """Calls of the command line in indented lines and between backticks."""
    text = page.read_text(encoding="utf-8")
    yield from (line.strip() for line in re.findall(r"^ {4,}(cuamaster .+)$", text, re.MULTILINE))
    yield from (" ".join(found.split()) for found in re.findall(r"`(cuamaster [a-z][^`]*)`", text))


def _fault(line: str) -> str | None:
    """What is wrong with one call, in words."""
    words = shlex.split(line, comments=True)[1:]
    words = words[: next((place for place, word in enumerate(words) if word in ("|", ">", "&&")), len(words))]
    command = COMMANDS
    for word in words:
        if not isinstance(command, TyperGroup) or word.startswith("-"):
            break
        if word not in command.commands:
            return f"no command {word}"
        command = command.commands[word]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    given = [word.strip("[],").partition("=")[0] for word in words if re.match(r"\[?--[a-z]", word)]
    return next((f"no option {option}" for option in given if option not in known), None)
