"""OSWorld tasks as T = (I, E, V): set up, solved and judged on the simulated desktop; what has no counterpart is named."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.simulated import CAPABILITIES, SimulatedDesktop
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.checks import verify
from cuamaster.errors import InvalidInput
from cuamaster.importers.found import Found, named
from cuamaster.importers.osworld import read_osworld, task_of
from cuamaster.importers.osworld_config import SUPPORTED_CONFIG
from cuamaster.importers.osworld_evaluator import SUPPORTED
from cuamaster.propagation.collection.setup import establish
from cuamaster.records.condition import AppRunning, EpisodeFinish
from cuamaster.records.episode import Episode
from cuamaster.records.task import Task
from tests.importers.conftest import DATA, NoText

OSWORLD = DATA / "osworld"
Run = Callable[..., Episode]
NOTES, SETTING, FILES, EITHER = "695b7f37", "884de5b0", "9b48b446", "49682dea"
INFEASIBLE, SCRIPT, TABLE, DOCX, TREE, PASSWORD = "e876377c", "1c202449", "9139faf1", "bb3c63a0", "45743973", "c080baf8"


def shell(command: str) -> CUAAction:
    return CUAAction("shell.exec", {"command": command})


@pytest.fixture
def found(store: LocalStore) -> dict[str, Found]:
    """Every fixture task by the begin of its id."""
    read = read_osworld([OSWORLD / "examples"], store, image="simulated", files=OSWORLD / "files")
    return {item.id.removeprefix("osworld:")[:8]: item for item in read}


def task_in(found: dict[str, Found], name: str) -> Task:
    (task,) = found[name].kept
    assert isinstance(task, Task)
    return task


def test_every_file_is_accounted_for(found: dict[str, Found]) -> None:
    files = [path for path in (OSWORLD / "examples").rglob("*.json") if path.name != "test_all.json"]
    assert len(found) == len(files)
    assert all(item.kept or item.dropped for item in found.values())
    assert {name for name, item in found.items() if not item.kept} == {DOCX, TREE, PASSWORD}


def test_what_cannot_be_mapped_is_named_all_of_it(found: dict[str, Found]) -> None:
    counts = named(row for item in found.values() for row in item.dropped)
    assert counts == Counter(
        {
            ("unsupported-config", "chrome_open_tabs"): 1,
            ("unsupported-config", "CLIENT_PASSWORD"): 1,
            ("unsupported-evaluator", "compare_docx_files"): 1,
            ("unsupported-evaluator", "compare_table:chart"): 1,
            ("unsupported-evaluator", "check_accessibility_tree"): 1,
            ("missing-file", "https://files.example.org/osworld/x/missing.docx"): 1,
        }
    )


def test_a_task_says_where_it_comes_from(found: dict[str, Found]) -> None:
    task = task_in(found, NOTES)
    assert task.strategy == "imported" and task.plan == () and task.domain == "os"
    assert task.lineage[0].source == "osworld:695b7f37-5154-5ac1-86c4-7b75863f0285"
    assert task.lineage[0].license == "Apache-2.0"
    assert task.lineage[1].source.startswith("https://help.example.org/")
    assert Task.model_validate_json(task.to_json()).id == task.id


def test_unsaved_text_is_saved_by_the_closing_steps(found: dict[str, Found], run: Run) -> None:
    task = task_in(found, NOTES)
    write = [
        CUAAction("keyboard.press", {"keys": ["ctrl", "end"]}),
        CUAAction("keyboard.type", {"text": "water the plants"}),
    ]
    desktop = SimulatedDesktop("simulated")
    assert run(task, write, desktop=desktop).outcome == "passed"
    assert desktop.read_file("~/Documents/notes.txt") == b"buy milk\ncall Ann\nwater the plants\n"
    assert run(task).outcome == "failed"
    assert run(task, [CUAAction("keyboard.type", {"text": "water the pants"})]).outcome == "failed"
    assert run(task, write, status="infeasible").outcome == "failed"  # FAIL gets no credit


def test_a_window_that_is_gone_does_not_keep_the_verifier_from_looking(found: dict[str, Found], run: Run) -> None:
    done = [shell("echo 'water the plants' >> Documents/notes.txt"), shell("wmctrl -c notes.txt")]
    assert run(task_in(found, NOTES), done).outcome == "passed"


def test_an_application_is_launched_and_a_setting_checked(found: dict[str, Found], run: Run) -> None:
    task = task_in(found, SETTING)
    assert task.environment.capabilities == ("app:mousepad",) and "app:mousepad" in CAPABILITIES
    desktop = SimulatedDesktop("simulated")
    establish(task.environment, desktop, NoText())
    assert verify(AppRunning(app="mousepad"), desktop, NoText()).status == "passed"
    turn_on = shell("gsettings set org.xfce.mousepad.preferences.view show-line-numbers true")
    assert run(task, [turn_on]).outcome == "passed"
    assert run(task).outcome == "failed"


def test_what_must_not_be_printed_counts_only_when_the_command_worked(found: dict[str, Found], run: Run) -> None:
    task = task_in(found, FILES)
    assert run(task, [shell("rm work/draft-1.txt work/draft-2.txt")]).outcome == "passed"
    assert run(task, [shell("rm work/draft-1.txt")]).outcome == "failed"
    assert run(task, [shell("rm -r work")]).outcome == "failed"


def test_one_of_two_is_enough_for_or(found: dict[str, Found], run: Run) -> None:
    task = task_in(found, EITHER)
    for name in ("report.txt", "summary.txt"):
        assert run(task, [shell(f"echo done > {name}")]).outcome == "passed"
    assert run(task, [shell("echo undone > report.txt")]).outcome == "failed"


def test_an_infeasible_task_is_solved_by_saying_so(found: dict[str, Found], run: Run) -> None:
    task = task_in(found, INFEASIBLE)
    assert task.verifier == EpisodeFinish(status="infeasible")
    assert run(task, status="infeasible").outcome == "passed"
    assert run(task, status="success").outcome == "failed"
    assert run(task, status="failure").outcome == "failed"


def test_scripts_of_the_task_set_up_and_judge(found: dict[str, Found], run: Run) -> None:
    task = task_in(found, SCRIPT)
    copy = "mkdir -p fails && cp books/one_failed.ipynb books/three_failed.ipynb fails"
    assert run(task, [shell(copy)]).outcome == "passed"
    assert run(task, [shell(f"{copy} && cp books/two.ipynb fails")]).outcome == "failed"
    assert run(task).outcome == "failed"


def test_tables_are_compared_with_the_expected_document(found: dict[str, Found]) -> None:
    task = task_in(found, TABLE)
    desktop = SimulatedDesktop("simulated")
    desktop.write_file("~/levels.xlsx", (OSWORLD / "solved.xlsx").read_bytes())
    assert verify(task.verifier, desktop, NoText()).status == "passed"
    (start,) = (OSWORLD / "files").rglob("*_levels.xlsx")
    desktop.write_file("~/levels.xlsx", start.read_bytes())
    assert verify(task.verifier, desktop, NoText()).status == "failed"
    desktop.write_file("~/levels.xlsx", b"PK torn")
    assert verify(task.verifier, desktop, NoText()).status == "errored"


def test_an_image_without_the_application_is_a_setup_fault_not_a_failure(found: dict[str, Found], run: Run) -> None:
    assert run(task_in(found, TABLE)).outcome == "setup"


def test_without_its_files_a_task_names_their_addresses(store: LocalStore) -> None:
    rows = [row for item in read_osworld([OSWORLD / "examples"], store, image="i") for row in item.dropped]
    missing = {name for reason, name in named(rows) if reason == "missing-file"}
    assert len(missing) == 7 and all(name.startswith("https://files.example.org/osworld/") for name in missing)


def _given(**changes: Any) -> dict[str, Any]:
    task = {
        "id": "x", "instruction": "Do it.", "config": [],
        "evaluator": {
            "func": "exact_match", "result": {"type": "vm_command_line", "command": "cat a"},
            "expected": {"type": "rule", "rules": {"expected": "b"}},
        },
    }  # fmt: skip
    return {**task, **changes}


def _evaluator(**changes: Any) -> dict[str, Any]:
    return _given(evaluator={**_given()["evaluator"], **changes})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "malformed"),
        ([], "malformed"),
        (_given(id=3), "malformed"),
        (_given(instruction=" "), "malformed"),
        (_given(config="none"), "malformed"),
        (_given(config=[7]), "malformed"),
        (_given(config=[{"type": "execute", "parameters": {}}]), "malformed"),
        (_given(config=[{"type": "execute", "parameters": {"command": ["a", 1]}}]), "malformed"),
        (_given(config=[{"type": "execute", "parameters": {"command": "echo 'open"}}]), "malformed"),
        (_given(config=[{"type": "sleep", "parameters": {"seconds": "long"}}]), "malformed"),
        (_given(config=[{"type": "__class__", "parameters": {}}]), "unsupported-config"),
        (_given(config=[{"type": "execute", "parameters": {"command": "x", "until": {"returncode": 0}}}]), "unsupported-config"),
        (_given(config=[{"type": "execute", "parameters": {"command": ["python", "-c", "import os, pyautogui; os.remove('a')"]}}]), "unsupported-config"),
        (_given(evaluator=None), "malformed"),
        (_evaluator(func=[]), "malformed"),
        (_evaluator(func=["exact_match", "exact_match"]), "malformed"),
        (_evaluator(conj="xor"), "malformed"),
        (_evaluator(func="eval"), "unsupported-evaluator"),
        (_evaluator(expected={"type": "rule", "rules": {}}), "malformed"),
        (_evaluator(expected={"type": "rule", "rules": {"expected": 3}}), "unsupported-evaluator"),
        (_evaluator(expected={"type": "rule_relativeTime", "rules": {}}), "unsupported-evaluator"),
        (_evaluator(result={"type": "vm_file", "path": "/a", "dest": "a"}), "unsupported-evaluator"),
        (_evaluator(result={"type": "vm_command_line", "command": "awk '{print}' a", "shell": True}), "unsupported-evaluator"),
        (_evaluator(func="match_in_list", expected={"type": "rule", "rules": {"expected": []}}), "malformed"),
        (_evaluator(func="compare_table", options={"rules": [{"sheet_idx": 0}]}), "malformed"),
    ],
)  # fmt: skip
def test_bad_tasks_are_refused_with_a_reason(data: Any, reason: str) -> None:
    item = task_of(data, image="i")
    assert item.kept == ()
    assert [row.reason for row in item.dropped] == [reason]
    assert all(row.detail for row in item.dropped)


def test_braces_in_expected_text_are_text() -> None:
    (task,) = task_of(_evaluator(expected={"type": "rule", "rules": {"expected": "{name}"}}), image="i").kept
    assert isinstance(task, Task)
    desktop = SimulatedDesktop("simulated")
    desktop.write_file("~/a", b"{name}\n")
    assert verify(task.verifier, desktop, NoText()).status == "passed"
    desktop.write_file("~/a", b"{names}\n")
    assert verify(task.verifier, desktop, NoText()).status == "failed"


def test_a_folder_of_odd_files_loses_nothing(tmp_path: Path, store: LocalStore) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.json").write_text(json.dumps(_given()))
    (tmp_path / "torn.json").write_text('{"id": "y", "evaluator"')
    (tmp_path / "index.json").write_text('{"os": ["x"]}')
    (tmp_path / "deep.json").write_text("[" * 100_000)
    found = list(read_osworld([tmp_path], store, image="i"))
    assert Counter(row.reason for item in found for row in item.dropped) == {"not-json": 2, "repeated": 1}
    assert len([item for item in found if item.kept]) == 1
    assert len({item.id for item in found}) == len(found)
    with pytest.raises(InvalidInput, match="no such file"):
        list(read_osworld([tmp_path / "absent"], store, image="i"))


def test_files_are_never_read_outside_the_given_folder(tmp_path: Path) -> None:
    shutil.copytree(OSWORLD / "files", tmp_path / "files")
    (tmp_path / "secret").write_text("password")
    evaluator = {
        "func": "compare_text_file", "result": {"type": "vm_file", "path": "/a", "dest": "a"},
        "expected": {"type": "cloud_file", "path": "https://x/../secret", "dest": "../../secret"},
    }  # fmt: skip
    item = task_of(_given(evaluator=evaluator), image="i", files=tmp_path / "files")
    assert [row.reason for row in item.dropped] == ["missing-file"]


def test_the_documentation_names_everything_that_is_supported() -> None:
    told = (Path(__file__).parents[2] / "docs" / "importers.md").read_text()
    names = [*SUPPORTED_CONFIG, *(name for some in SUPPORTED.values() for name in some)]
    assert [name for name in names if f"`{name}`" not in told] == []
