"""OSWorld's getters: what a metric is handed, as far as our language can speak of it.

Source: desktop_env/evaluators/getters/{misc,general,file}.py of github.com/xlang-ai/OSWorld.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cuamaster.errors import Unmappable
from cuamaster.importers.osworld_config import guest_path, shell_command
from cuamaster.importers.osworld_files import TaskFiles


@dataclass(frozen=True)
class Output:
    """What a command of the guest prints."""

    command: str


@dataclass(frozen=True)
class GuestFiles:
    """Files of the guest; the metric gets the first of them, the others lie beside it."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class GoldFiles:
    """Files to compare with, as (name, bytes); the first one is handed to the metric."""

    files: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class Rule:
    """Values written in the task itself."""

    data: Any


Source = Output | GuestFiles | GoldFiles | Rule | None


def resolve(config: Any, files: TaskFiles, where: str) -> Source:
    """What a getter would hand to the metric; raises Unmappable."""
    if config is None:
        return None
    kind = config.get("type")
    getter = _GETTERS.get(kind)
    if getter is None:
        raise Unmappable(f"{where}: no getter {kind}", reason="unsupported-evaluator", names=(f"getter:{kind}",))
    return getter(config, files, where)


def _vm_file(config: Mapping[str, Any], _files: TaskFiles, where: str) -> Source:
    if config.get("time_suffix"):
        raise Unmappable(
            f"{where}: time_suffix", reason="unsupported-evaluator", names=("getter:vm_file(time_suffix)",)
        )
    paths = config["path"] if config.get("multi") else [config["path"]]
    return GuestFiles(tuple(guest_path(paths[index]) for index in _given(config, len(paths))))


def _cloud_file(config: Mapping[str, Any], files: TaskFiles, _where: str) -> Source:
    multi = config.get("multi")
    urls, names = (config["path"], config["dest"]) if multi else ([config["path"]], [config["dest"]])
    order = _given(config, len(urls))
    return GoldFiles(tuple((names[index], files.gold(urls[index], names[index])) for index in order))


def _given(config: Mapping[str, Any], count: int) -> list[int]:
    """All places, those that the metric is handed first."""
    first = sorted(set(config.get("gives", [0])))
    return [*first, *(index for index in range(count) if index not in first)]


def _command_line(config: Mapping[str, Any], _files: TaskFiles, where: str) -> Source:
    return Output(shell_command(config["command"], shell=bool(config.get("shell", False)), where=where))


_GETTERS: Mapping[str, Callable[[Mapping[str, Any], TaskFiles, str], Source]] = {
    "rule": lambda config, _files, _where: Rule(config["rules"]),
    "vm_file": _vm_file,
    "cloud_file": _cloud_file,
    "vm_command_line": _command_line,
}
SUPPORTED_GETTERS = tuple(_GETTERS)


def _other(where: str, what: str) -> Unmappable:
    return Unmappable(f"{where}: {what}", reason="unsupported-evaluator", names=(_last(where),))


def the_output(result: Source, where: str) -> str:
    """The command whose output is judged; raises Unmappable when something else is."""
    if not isinstance(result, Output):
        raise _other(where, "of something else than a command's output")
    return result.command


def the_path(result: Source, where: str) -> str:
    """The guest's file that is judged; raises Unmappable when something else is."""
    if not isinstance(result, GuestFiles):
        raise _other(where, "of something else than a file of the guest")
    return result.paths[0]


def the_rule(expected: Source, where: str) -> Any:
    """The values that are expected; raises Unmappable when they are not written in the task."""
    if not isinstance(expected, Rule):
        raise _other(where, "against something else than a rule")
    return expected.data


def the_gold(expected: Source, where: str) -> bytes:
    """The file to compare with; raises Unmappable when it is none that the task downloads."""
    if not isinstance(expected, GoldFiles):
        raise _other(where, "against something else than a given file")
    return expected.files[0][1]


def _last(where: str) -> str:
    return where.rpartition(".")[2]


def the_text(value: Any, where: str) -> str:
    """An expected value that is a text; raises Unmappable for another."""
    if not isinstance(value, str):
        raise Unmappable(
            f"{where}: expects {value!r:.80}, no text", reason="unsupported-evaluator", names=(_last(where),)
        )
    return value
