"""The rules of OSWorld's `compare_table` as conditions: evaluators/metrics/table.py, cell by cell or sheet by sheet.

`sheet_data`, `sheet_print`, `sheet_name`, `sheet_fuzzy` (exact matches) and `check_cell` (equal values) are there; charts, styles,
filters, pivot tables and the rest are named as what they are. Numbers are compared as numbers, wherever they came from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cuamaster.checks import sheets_like, table_like
from cuamaster.errors import Unmappable
from cuamaster.importers.osworld_texts import gold_text, lines_pattern
from cuamaster.records.cells import cell_address
from cuamaster.records.condition import Condition, DocumentTable, FileText
from cuamaster.records.parts import conjoin

Gold = Sequence[tuple[str, bytes]]
_MAX_CELLS = 100_000


def known_rules(rules: Any, where: str) -> None:
    """Raises Unmappable naming every rule that has no condition."""
    if not isinstance(rules, list) or not rules:
        raise Unmappable(f"{where}: no rules", reason="malformed", names=("compare_table",))
    kinds = [rule["type"] for rule in rules if rule["type"] not in _RULES]
    if kinds:
        names = tuple(f"compare_table:{kind}" for kind in kinds)
        raise Unmappable(f"{where}: no condition for {', '.join(kinds)}", reason="unsupported-evaluator", names=names)


def table_rules(paths: Sequence[str], gold: Gold, rules: Sequence[Any], where: str) -> Condition:
    """All rules, which are known ones, together; raises Unmappable, and CheckFailed for a broken gold file."""
    return conjoin([_RULES[rule["type"]](rule, paths, gold, where) for rule in rules])


def _book(index: Any, where: str) -> tuple[bool, dict[str, Any]]:
    """(whether it is the expected document, which sheet): 0, RI0, RNname are of the result, EI0, ENname of the expected one."""
    text = f"RI{index}" if isinstance(index, int) else str(index)
    kind, rest = text[:2], text[2:]
    if kind in ("RI", "EI") and rest.isdecimal():
        return kind == "EI", {"number": int(rest) + 1}
    if kind in ("RN", "EN") and rest:
        return kind == "EN", {"sheet": rest}
    raise Unmappable(f"{where}: sheet index {index!r}", reason="malformed", names=("compare_table",))


def _pair(rule: Mapping[str, Any], gold: Gold, where: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """(sheet of the guest's document, sheet of the expected one), whichever way round they were given."""
    one, two = (_book(rule[key], where) for key in ("sheet_idx0", "sheet_idx1"))
    if one[0] == two[0] or not gold:
        raise Unmappable(
            f"{where}: two sheets of one document", reason="unsupported-evaluator", names=(f"compare_table:{rule['type']}(same document)",)
        )  # fmt: skip
    return (two[1], one[1]) if one[0] else (one[1], two[1])


def _expected(
    path: str, example: tuple[str, bytes], found: dict[str, Any], wanted: dict[str, Any], **options: Any
) -> DocumentTable:
    condition = table_like(example[1], path, **wanted, **options)
    if condition is None:
        raise Unmappable(f"{example[0]} has no sheet {wanted}", reason="bad-file", names=("compare_table",))
    if sum(map(len, condition.rows)) > _MAX_CELLS:
        raise Unmappable(f"{example[0]} has more than {_MAX_CELLS} cells", reason="too-big", names=("compare_table",))
    return condition.model_copy(update=found)


def _sheet_data(rule: Mapping[str, Any], paths: Sequence[str], gold: Gold, where: str) -> Condition:
    found, wanted = _pair(rule, gold, where)
    return _expected(
        paths[0], gold[0], found, wanted, precision=int(rule.get("precision", 4)),
        ignore_blanks=bool(rule.get("ignore_blanks", False)),
    )  # fmt: skip


def _sheet_print(rule: Mapping[str, Any], paths: Sequence[str], gold: Gold, where: str) -> Condition:
    """What is printed is the CSV export of a sheet, `<document>-<sheet>.csv`, made on the guest and given with the task."""
    found, wanted = _pair(rule, gold, where)
    names = sheets_like(gold[0][1], paths[0]).names
    sheet = wanted.get("sheet") or names[wanted["number"] - 1]
    ours = found.get("sheet") or names[found["number"] - 1]
    example = next((data for name, data in gold[1:] if name.endswith(f"-{sheet}.csv")), None)
    path = next((path for path in paths[1:] if path.endswith(f"-{ours}.csv")), None)
    if example is None or path is None:
        raise Unmappable(f"{where}: no CSV of sheet {sheet} was given", reason="missing-file", names=(f"{sheet}.csv",))
    lines = gold_text(example).splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    pattern = lines_pattern(lines, strip=True, ignore_case=bool(rule.get("ignore_case", False)), open_end=True)
    return FileText(path=path, text=pattern, match="regex")


def _sheet_name(_rule: Mapping[str, Any], paths: Sequence[str], gold: Gold, where: str) -> Condition:
    if not gold:
        raise Unmappable(f"{where}: no expected document", reason="malformed", names=("compare_table",))
    return sheets_like(gold[0][1], paths[0])


def _sheet_fuzzy(rule: Mapping[str, Any], paths: Sequence[str], gold: Gold, where: str) -> Condition:
    found, wanted = _pair(rule, gold, where)
    everything = _expected(paths[0], gold[0], found, wanted)
    parts: list[Condition] = []
    for one in rule["rules"]:
        loose = {"normalization", "trim_leadings", "trim_trailings", "ignore_chars"} & {
            key for key, value in one.items() if value
        }
        if one["type"] != "exact_match" or loose:
            name = f"compare_table:sheet_fuzzy({', '.join([one['type'], *sorted(loose)])})"
            raise Unmappable(f"{where}: {name}", reason="unsupported-evaluator", names=(name,))
        for block in one["range"]:
            top, left, bottom, right = _corners(block, where)
            rows = tuple(
                tuple(_cell(everything.rows, row, column) for column in range(left, right + 1))
                for row in range(top, bottom + 1)
            )
            parts.append(everything.model_copy(update={
                "rows": rows, "start": block.partition(":")[0], "whole": False, "ignore_case": bool(one.get("ignore_case", False)),
            }))  # fmt: skip
    return conjoin(parts)


def _check_cell(rule: Mapping[str, Any], paths: Sequence[str], _gold: Gold, where: str) -> Condition:
    expected, sheet = _book(rule["sheet_idx"], where)
    other = [key for key in rule["props"] if key != "value"]
    method = rule["props"].get("value", {}).get("method")
    if expected or other or method != "eq":
        what = ", ".join(other) or f"value {method}"
        raise Unmappable(
            f"{where}: check_cell of {what}",
            reason="unsupported-evaluator",
            names=(f"compare_table:check_cell({what})",),
        )
    value = rule["props"]["value"]["ref"]
    text = "" if value is None else str(value).upper() if isinstance(value, bool) else str(value)
    _corners(rule["coordinate"], where)
    return DocumentTable(path=paths[0], rows=((text,),), start=rule["coordinate"], whole=False, **sheet)


def _cell(rows: tuple[tuple[str, ...], ...], row: int, column: int) -> str:
    return rows[row - 1][column - 1] if row <= len(rows) and column <= len(rows[row - 1]) else ""


def _corners(block: str, where: str) -> tuple[int, int, int, int]:
    first, _, last = block.partition(":")
    (top, left), (bottom, right) = cell_address(first), cell_address(last or first)
    if bottom < top or right < left or (bottom - top + 1) * (right - left + 1) > _MAX_CELLS:
        raise Unmappable(f"{where}: {block!r} is no sensible range", reason="malformed", names=("compare_table",))
    return top, left, bottom, right


_RULES: Mapping[str, Callable[[Mapping[str, Any], Sequence[str], Gold, str], Condition]] = {
    "sheet_data": _sheet_data,
    "sheet_print": _sheet_print,
    "sheet_name": _sheet_name,
    "sheet_fuzzy": _sheet_fuzzy,
    "check_cell": _check_cell,
}
SUPPORTED_RULES = tuple(_RULES)
