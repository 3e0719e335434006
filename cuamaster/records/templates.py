"""Fills action templates: {parameters} become arguments, quoted for the shell where they enter a command.

In `shell.exec` commands every placeholder must stand bare, never inside quotes: the argument arrives as one shell word,
quoted; a leading `~/` stays outside the quotes so that it still means the home folder (`cat {path}`, `mkdir -p ~/{dirname}`).
Everywhere else an argument is inserted as it is.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from cuamaster.errors import InvalidInput
from cuamaster.records.primitive import ActionTemplate
from cuamaster.records.trajectory import Target

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def fill_text(text: str, arguments: Mapping[str, str]) -> str:
    """`text` with every {parameter} replaced; raises InvalidInput for one without an argument."""
    return _PLACEHOLDER.sub(lambda match: _argument(match, text, arguments), text)


def fill_command(command: str, arguments: Mapping[str, str]) -> str:
    """A shell command with quoted arguments; raises InvalidInput for a placeholder inside quotes or without an argument."""
    pieces: list[str] = []
    end = 0
    for match in _PLACEHOLDER.finditer(command):
        if _inside_quotes(command[: match.start()]):
            raise InvalidInput(
                f"shell command {command!r}: {match.group()} stands inside quotes",
                hint="leave it bare, it is quoted when filled in",
            )
        pieces.append(command[end : match.start()])
        word_start = match.start() == 0 or command[match.start() - 1] in " \t\n=<>|&;("
        pieces.append(quote(_argument(match, command, arguments), home=word_start))
        end = match.end()
    return "".join([*pieces, command[end:]])


def quote(value: str, *, home: bool = True) -> str:
    """One shell word; with `home` a leading `~` or `~/` keeps its meaning."""
    if home and value == "~":
        return value
    if home and value.startswith("~/"):
        return "~/" + (shlex.quote(value[2:]) if value[2:] else "")
    return shlex.quote(value)


def fill_template(template: ActionTemplate, arguments: Mapping[str, str]) -> ActionTemplate:
    """The template without placeholders; raises InvalidInput naming a missing argument."""
    args = {
        key: fill_command(value, arguments)
        if template.type == "shell.exec" and key == "command" and isinstance(value, str)
        else _fill(value, arguments)
        for key, value in template.args.items()
    }
    return template.model_copy(
        update={
            "target": _fill_target(template.target, arguments),
            "to": _fill_target(template.to, arguments),
            "args": args,
            "say": fill_text(template.say, arguments),
        }
    )


def _argument(match: re.Match[str], text: str, arguments: Mapping[str, str]) -> str:
    if match.group(1) not in arguments:
        raise InvalidInput(
            f"{text!r}: no argument for {match.group()}", hint=f"arguments: {', '.join(sorted(arguments)) or 'none'}"
        )
    return arguments[match.group(1)]


def _fill(value: Any, arguments: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return fill_text(value, arguments)
    if isinstance(value, (list, tuple)):
        return [_fill(item, arguments) for item in value]
    if isinstance(value, Mapping):
        return {key: _fill(item, arguments) for key, item in value.items()}
    return value


def _fill_target(target: Target | None, arguments: Mapping[str, str]) -> Target | None:
    if target is None:
        return None
    filled = {name: fill_text(getattr(target, name), arguments) for name in ("text", "near", "window")}
    return target.model_copy(update=filled)


def _inside_quotes(prefix: str) -> bool:
    state = ""
    escaped = False
    for char in prefix:
        if escaped:
            escaped = False
        elif char == "\\" and state != "'":
            escaped = True
        elif state:
            state = "" if char == state else state
        elif char in "'\"":
            state = char
    return bool(state)
