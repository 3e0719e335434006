"""Verdicts of translated evaluators beside the scores that OSWorld's own functions gave for the same files (desktop-env 1.0.2).

`data/osworld/metrics/` holds the cases with those scores. Where we differ on purpose stands in `_differs`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cuamaster.adapters.desktops.simulated import SimulatedDesktop
from cuamaster.checks import verify
from cuamaster.importers.osworld_evaluator import verifier_of
from cuamaster.importers.osworld_files import TaskFiles
from tests.importers.conftest import DATA, NoText

METRICS = DATA / "osworld" / "metrics"
TEXTS: list[dict[str, Any]] = json.loads((METRICS / "texts.json").read_text())
TABLES: dict[str, Any] = json.loads((METRICS / "tables.json").read_text())
OF_FILES = {"compare_text_file", "compare_csv", "file_contains", "compare_config", "check_json_settings", "check_json"}


def judge(evaluator: dict[str, Any], found: bytes, files: Path, name: str) -> str:
    """The verdict when the guest's file (and what a command prints) is `found`."""
    verifier, faults = verifier_of(evaluator, TaskFiles(files, "t"), "evaluator")
    assert verifier is not None, faults
    desktop = SimulatedDesktop("simulated")
    desktop.write_file(f"~/{name}", found)
    return verify(verifier, desktop, NoText()).status


def _of_text(case: dict[str, Any], tmp_path: Path) -> str:
    found = case["found"].encode()
    evaluator = {"func": case["func"], "options": case["options"]}
    evaluator["result"] = (
        {"type": "vm_file", "path": "/home/user/out.txt", "dest": "out.txt"}
        if case["func"] in OF_FILES
        else {"type": "vm_command_line", "command": ["cat", "out.txt"]}
    )
    if "gold" in case:
        (tmp_path / "t").mkdir(exist_ok=True)
        (tmp_path / "t" / "gold.txt").write_bytes(case["gold"].encode())
        evaluator["expected"] = {"type": "cloud_file", "path": "https://x/gold.txt", "dest": "gold.txt"}
    else:
        evaluator["expected"] = {"type": "rule", "rules": case["rules"]}
    return judge(evaluator, found, tmp_path, "out.txt")


def _plain(text: str) -> str:
    """A text without what never counts here: its final newline and the kind of line ends."""
    return text.replace("\r\n", "\n").removesuffix("\n")


def _differs(case: dict[str, Any]) -> bool:
    """Only a final newline or the kind of line ends decides the original's score."""
    rules = case.get("rules")
    wanted = case["gold"] if "gold" in case else rules.get("expected", []) if isinstance(rules, dict) else rules
    exact = case["func"] in (
        "exact_match",
        "match_in_list",
        "compare_config",
        "compare_text_file",
        "literal_match",
        "compare_csv",
    )
    texts = [wanted] if isinstance(wanted, str) else wanted
    fold = str.lower if case["options"].get("ignore_case") else str
    return exact and any(fold(_plain(text)) == fold(_plain(case["found"])) and text != case["found"] for text in texts)


def test_texts_are_judged_as_by_the_original(tmp_path: Path) -> None:
    different = []
    for case in TEXTS:
        passed = _of_text(case, tmp_path) == "passed"
        true_as_1 = (
            case["func"] == "check_json" and '"on": 1' in case["found"]
        )  # equal in Python, and so to the original
        if passed != (case["score"] == 1.0) and not true_as_1:
            assert passed, case  # never stricter than the original
            different.append(case)
    assert all(_differs(case) for case in different), [case for case in different if not _differs(case)]
    assert {case["score"] for case in TEXTS} == {0.0, 1.0}


@pytest.mark.parametrize("case", TABLES["cases"], ids=lambda case: f"{case['rules']}-{case['gold']}-{case['found']}")
def test_tables_are_judged_as_by_the_original(case: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "gold.xlsx").write_bytes((METRICS / f"{case['gold']}.xlsx").read_bytes())
    evaluator = {
        "func": "compare_table",
        "result": {"type": "vm_file", "path": "/home/user/found.xlsx", "dest": "found.xlsx"},
        "expected": {"type": "cloud_file", "path": "https://x/gold.xlsx", "dest": "gold.xlsx"},
        "options": {"rules": TABLES["rules"][case["rules"]]},
    }
    verdict = judge(evaluator, (METRICS / f"{case['found']}.xlsx").read_bytes(), tmp_path, "found.xlsx")
    typed_as_text = case["found"] == "text_number" and case["rules"] in ("cells", "cell")  # 3 and '3 are one to us
    assert (verdict == "passed") == (case["score"] == 1.0 or typed_as_text)
