"""OSWorld evaluators (getters and metrics) as conditions of our language; what has none is named.

How they are joined: `evaluate` in desktop_env/desktop_env.py of github.com/xlang-ai/OSWorld; the getters: evaluators/getters/{misc,
general,file}.py; the metrics: evaluators/metrics/{general,vscode,basic_os,table}.py. Metrics with a score between 0 and 1 have no
condition here. A verifier's command must exit 0: one that fails proves nothing, where OSWorld looks at its output alone. A final
newline never counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cuamaster.errors import CheckFailed, Unmappable
from cuamaster.importers.osworld_config import guest_path, shell_command
from cuamaster.importers.osworld_files import TaskFiles
from cuamaster.importers.osworld_tables import known_rules, table_rules
from cuamaster.importers.osworld_texts import csv_text, file_text, output_text, same_file_text
from cuamaster.records.condition import AnyOf, Condition, EpisodeFinish, Not
from cuamaster.records.filling import placeholders
from cuamaster.records.reasoning import conjoin


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
FEASIBLE = Not(of=EpisodeFinish(status="infeasible"))
"""OSWorld gives no credit to a policy that ended with FAIL, whatever stands on the disk."""


def verifier_of(evaluator: Any, files: TaskFiles, where: str) -> tuple[Condition | None, list[Unmappable]]:
    """The verifier, or None with everything that stands in its way."""
    if not isinstance(evaluator, dict) or "func" not in evaluator:
        return None, [Unmappable(f"{where}: no evaluator with a func", reason="malformed", names=("evaluator",))]
    func = evaluator["func"]
    if func == "infeasible":
        return EpisodeFinish(status="infeasible"), []
    several = isinstance(func, list)
    names = func if several else [func]
    columns = {key: _column(evaluator.get(key), several, len(names)) for key in ("result", "expected", "options")}
    wrong = [key for key, column in columns.items() if column is None]
    conj = evaluator.get("conj", "and")
    if wrong or not names or conj not in ("and", "or"):
        what = ", ".join([*wrong, *([] if conj in ("and", "or") else ["conj"])]) or "func"
        return None, [Unmappable(f"{where}: {what} does not go with func", reason="malformed", names=("evaluator",))]
    parts: list[Condition] = []
    faults: list[Unmappable] = []
    for index, name in enumerate(names):
        given = [(columns[key] or [])[index] for key in ("result", "expected", "options")]
        try:
            parts.append(_metric(name, given[0], given[1], given[2] or {}, files, f"{where}.{name}"))
        except Unmappable as exc:
            faults.append(exc)
    if faults:
        return None, faults
    whole = conjoin([*parts, FEASIBLE]) if conj == "and" else conjoin([AnyOf(of=tuple(parts)), FEASIBLE])
    holes = sorted(placeholders(whole))
    if holes:  # would be taken for parameters of a primitive
        return None, [Unmappable(f"{where}: holds {{{holes[0]}}}", reason="unsupported-evaluator", names=("braces",))]
    return whole, []


def _column(value: Any, several: bool, count: int) -> list[Any] | None:
    """One entry for each metric; None when the number is wrong."""
    if not value:
        return [None] * count
    if not several:
        return [value]
    return value if isinstance(value, list) and len(value) == count else None


def _metric(name: Any, result: Any, expected: Any, options: Any, files: TaskFiles, where: str) -> Condition:
    metric = _METRICS.get(name) if isinstance(name, str) else None
    if metric is None:
        raise Unmappable(f"{where}: no condition does this", reason="unsupported-evaluator", names=(str(name),))
    try:
        if metric is _compare_table:
            known_rules(options.get("rules"), where)  # told even when the files to compare with are not there
        return metric(_get(result, files, where), _get(expected, files, where), options, where)
    except CheckFailed as exc:
        raise Unmappable(f"{where}: {exc}", reason="bad-file", names=(name,)) from exc
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        if isinstance(exc, Unmappable):
            raise
        raise Unmappable(f"{where}: {type(exc).__name__} {exc}", reason="malformed", names=(name,)) from exc


# --- getters


def _get(config: Any, files: TaskFiles, where: str) -> Source:
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

# --- metrics


def _output(result: Source, where: str) -> str:
    if not isinstance(result, Output):
        raise Unmappable(
            f"{where}: of something else than a command's output", reason="unsupported-evaluator", names=(_last(where),)
        )
    return result.command


def _path(result: Source, where: str) -> str:
    if not isinstance(result, GuestFiles):
        raise Unmappable(
            f"{where}: of something else than a file of the guest",
            reason="unsupported-evaluator",
            names=(_last(where),),
        )
    return result.paths[0]


def _rule(expected: Source, where: str) -> Any:
    if not isinstance(expected, Rule):
        raise Unmappable(
            f"{where}: against something else than a rule", reason="unsupported-evaluator", names=(_last(where),)
        )
    return expected.data


def _gold(expected: Source, where: str) -> bytes:
    if not isinstance(expected, GoldFiles):
        raise Unmappable(
            f"{where}: against something else than a given file", reason="unsupported-evaluator", names=(_last(where),)
        )
    return expected.files[0][1]


def _last(where: str) -> str:
    return where.rpartition(".")[2]


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise Unmappable(
            f"{where}: expects {value!r:.80}, no text", reason="unsupported-evaluator", names=(_last(where),)
        )
    return value


def _exact_match(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    return output_text(_output(result, where), _text(_rule(expected, where)["expected"], where))


def _literal_match(result: Source, expected: Source, options: Any, where: str) -> Condition:
    if options.get("type", "str") != "str":
        raise Unmappable(f"{where}: of a list", reason="unsupported-evaluator", names=("literal_match(list)",))
    wanted = _text(_rule(expected, where), where)
    return output_text(_output(result, where), wanted, ignore_case=bool(options.get("ignore_case")))


def _match_in_list(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    command, wanted = _output(result, where), _rule(expected, where)["expected"]
    return AnyOf(of=tuple(output_text(command, _text(text, where)) for text in wanted))


def _is_in_list(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    return output_text(_output(result, where), _text(_rule(expected, where)["expected"], where), "contains")


def _include_exclude(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    command, rules = _output(result, where), _rule(expected, where)
    holds = [output_text(command, _text(text, where), "contains") for text in rules.get("include", [])]
    # the command must have worked for its silence to mean anything
    holds = holds or [output_text(command, "", "contains")]
    return conjoin(
        [*holds, *(Not(of=output_text(command, _text(t, where), "contains")) for t in rules.get("exclude", []))]
    )


def _extension(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    rules = _rule(expected, where)
    key = {"contain": "include", "not_contain": "exclude"}[rules["type"]]
    return _include_exclude(result, Rule({key: [rules["expected"]]}), {}, where)


def _compare_text_file(result: Source, expected: Source, options: Any, where: str) -> Condition:
    return same_file_text(
        _path(result, where), _gold(expected, where), ignore_blanks=bool(options.get("ignore_blanks")),
        ignore_case=bool(options.get("ignore_case")),
    )  # fmt: skip


def _compare_config(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    return file_text(_path(result, where), _text(_rule(expected, where)["expected"], where))


def _file_contains(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    path, wanted = _path(result, where), _rule(expected, where)["expected"]
    return conjoin(file_text(path, _text(text, where), "contains") for text in wanted)


def _compare_csv(result: Source, expected: Source, options: Any, where: str) -> Condition:
    return csv_text(
        _path(result, where), _gold(expected, where), strict=bool(options.get("strict", True)),
        ignore_case=bool(options.get("ignore_case")),
    )  # fmt: skip


def _compare_table(result: Source, expected: Source, options: Any, where: str) -> Condition:
    _path(result, where)
    assert isinstance(result, GuestFiles)
    gold = expected.files if isinstance(expected, GoldFiles) else ()
    if expected is not None and not gold:
        raise Unmappable(
            f"{where}: against something else than a given file",
            reason="unsupported-evaluator",
            names=("compare_table",),
        )
    return table_rules(result.paths, gold, options["rules"], where)


_METRICS: Mapping[str, Callable[[Source, Source, Any, str], Condition]] = {
    "exact_match": _exact_match,
    "literal_match": _literal_match,
    "match_in_list": _match_in_list,
    "is_in_list": _is_in_list,
    "check_include_exclude": _include_exclude,
    "compare_answer": _exact_match,
    "is_extension_installed": _extension,
    "compare_text_file": _compare_text_file,
    "compare_config": _compare_config,
    "file_contains": _file_contains,
    "compare_csv": _compare_csv,
    "compare_table": _compare_table,
}
"""Name of a metric -> translation."""
SUPPORTED_METRICS = (*_METRICS, "infeasible")
SUPPORTED_GETTERS = tuple(_GETTERS)
