"""OSWorld's metrics as conditions; one whose score lies between 0 and 1 has none.

Source: desktop_env/evaluators/metrics/{general,vscode,table}.py of github.com/xlang-ai/OSWorld. A verifier's command must exit 0:
one that fails proves nothing, where OSWorld looks at its output alone. A final newline never counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from cuamaster.errors import Unmappable
from cuamaster.importers.osworld_getters import (
    GoldFiles,
    GuestFiles,
    Rule,
    Source,
    the_gold,
    the_output,
    the_path,
    the_rule,
    the_text,
)
from cuamaster.importers.osworld_tables import table_rules
from cuamaster.importers.osworld_texts import csv_text, file_text, output_text, same_file_text
from cuamaster.records.condition import AnyOf, Condition, FileJson, Not
from cuamaster.records.parts import conjoin


def _exact_match(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    return output_text(the_output(result, where), the_text(the_rule(expected, where)["expected"], where))


def _literal_match(result: Source, expected: Source, options: Any, where: str) -> Condition:
    if options.get("type", "str") != "str":
        raise Unmappable(f"{where}: of a list", reason="unsupported-evaluator", names=("literal_match(list)",))
    wanted = the_text(the_rule(expected, where), where)
    return output_text(the_output(result, where), wanted, ignore_case=bool(options.get("ignore_case")))


def _match_in_list(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    command, wanted = the_output(result, where), the_rule(expected, where)["expected"]
    return AnyOf(of=tuple(output_text(command, the_text(text, where)) for text in wanted))


def _is_in_list(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    return output_text(the_output(result, where), the_text(the_rule(expected, where)["expected"], where), "contains")


def _include_exclude(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    command, rules = the_output(result, where), the_rule(expected, where)
    holds = [output_text(command, the_text(text, where), "contains") for text in rules.get("include", [])]
    # the command must have worked for its silence to mean anything
    holds = holds or [output_text(command, "", "contains")]
    return conjoin(
        [*holds, *(Not(of=output_text(command, the_text(t, where), "contains")) for t in rules.get("exclude", []))]
    )


def _extension(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    rules = the_rule(expected, where)
    key = {"contain": "include", "not_contain": "exclude"}[rules["type"]]
    return _include_exclude(result, Rule({key: [rules["expected"]]}), {}, where)


def _compare_text_file(result: Source, expected: Source, options: Any, where: str) -> Condition:
    return same_file_text(
        the_path(result, where), the_gold(expected, where), ignore_blanks=bool(options.get("ignore_blanks")),
        ignore_case=bool(options.get("ignore_case")),
    )  # fmt: skip


def _compare_config(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    return file_text(the_path(result, where), the_text(the_rule(expected, where)["expected"], where))


def _file_contains(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    path, wanted = the_path(result, where), the_rule(expected, where)["expected"]
    return conjoin(file_text(path, the_text(text, where), "contains") for text in wanted)


def _json_settings(result: Source, expected: Source, _options: Any, where: str) -> Condition:
    path, wanted = the_path(result, where), the_rule(expected, where)["expected"]
    return conjoin(FileJson(path=path, keys=(key,), value=json.dumps(value)) for key, value in wanted.items())


def _check_json(result: Source, expected: Source, options: Any, where: str) -> Condition:
    path, rules = the_path(result, where), the_rule(expected, where)
    wanted, unwanted = rules.get("expect", []), rules.get("unexpect", [])
    # `ne` of a key that is not there fails the original: that is no plain negation
    unknown = [f"expect {rule['method']}" for rule in wanted if rule["method"] != "eq"]
    unknown += [f"unexpect {rule['method']}" for rule in unwanted if rule["method"] != "eq"]
    unknown += ["is_yaml"] if options.get("is_yaml") else []
    if unknown:
        names = tuple(f"check_json({name})" for name in unknown)
        raise Unmappable(f"{where}: {', '.join(names)}", reason="unsupported-evaluator", names=names)
    return conjoin([*(_json_is(path, rule) for rule in wanted), *(Not(of=_json_is(path, rule)) for rule in unwanted)])


def _json_is(path: str, rule: Mapping[str, Any]) -> Condition:
    return FileJson(path=path, keys=tuple(map(str, rule["key"])), value=json.dumps(rule["ref"]))


def _compare_csv(result: Source, expected: Source, options: Any, where: str) -> Condition:
    return csv_text(
        the_path(result, where), the_gold(expected, where), strict=bool(options.get("strict", True)),
        ignore_case=bool(options.get("ignore_case")),
    )  # fmt: skip


def _compare_table(result: Source, expected: Source, options: Any, where: str) -> Condition:
    the_path(result, where)
    assert isinstance(result, GuestFiles)
    gold = expected.files if isinstance(expected, GoldFiles) else ()
    if expected is not None and not gold:
        raise Unmappable(
            f"{where}: against something else than a given file",
            reason="unsupported-evaluator",
            names=("compare_table",),
        )
    return table_rules(result.paths, gold, options["rules"], where)


METRICS: Mapping[str, Callable[[Source, Source, Any, str], Condition]] = {
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
    "check_json_settings": _json_settings,
    "check_json": _check_json,
    "compare_csv": _compare_csv,
    "compare_table": _compare_table,
}
"""Name of a metric -> translation."""
