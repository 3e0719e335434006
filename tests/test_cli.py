"""The command line explains itself, separates data from talk, and ends with exit codes that scripts can use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cuamaster.tables import Workspace

COMMANDS = [
    ["doctor"], ["image", "build"], ["flywheel", "run"], ["seed"], ["propagate"], ["collect"], ["export"], ["show"],
    ["primitives", "verify"], ["taxonomy", "validate"],
]  # fmt: skip


def _cuamaster(*args: str, workspace: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, **env}
    if workspace is not None:
        given["CUAMASTER_WORKSPACE"] = str(workspace)
    command = [sys.executable, "-m", "cuamaster.cli", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=given, timeout=120)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help(command: list[str]) -> None:
    done = _cuamaster(*command, "--help")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 8


def test_wrong_usage_is_exit_code_2() -> None:
    assert _cuamaster("no-such-command").returncode == 2


def test_a_bad_setting_is_named_with_its_variable() -> None:
    done = _cuamaster("export", CUAMASTER_VM_CAPACITY="many")
    assert done.returncode == 2
    assert "CUAMASTER_VM_CAPACITY" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_place_that_is_not_there_is_dropped_with_a_reason(tmp_path: Path) -> None:
    done = _cuamaster("seed", str(tmp_path / "nowhere"), "--json", workspace=tmp_path / "ws")
    assert json.loads(done.stdout) == []
    assert "nowhere" in done.stderr


def test_export_of_an_empty_workspace_writes_empty_readable_files(tmp_path: Path) -> None:
    done = _cuamaster("export", "--json", workspace=tmp_path / "ws")
    assert done.returncode == 0, done.stderr
    files = {file["name"]: file["rows"] for file in json.loads(done.stdout)}
    assert files == {"sft.parquet": 0, "unproven.parquet": 0, "rl.parquet": 0}


def test_a_dataset_for_a_trainer_and_again(tmp_path: Path) -> None:
    out, again = tmp_path / "out", tmp_path / "again"
    Workspace(tmp_path / "ws").round(1).stage("collect").close("nothing")
    done = _cuamaster(
        "export", "--profile", "trl", "--out", str(out), "--history", "3", "--json", workspace=tmp_path / "ws"
    )
    assert (done.returncode, json.loads(done.stdout)) == (0, []), done.stderr  # nothing is collected yet
    assert json.loads((out / "manifest.json").read_text())["options"]["history"] == 3
    done = _cuamaster("export", "--again", str(out / "manifest.json"), "--out", str(again), workspace=tmp_path / "ws")
    assert done.returncode == 0, done.stderr
    assert (again / "manifest.json").read_bytes() == (out / "manifest.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--profile", "trl"], "needs --out"),
        (["--out", "somewhere"], "needs --out and one of"),
        (["--profile", "trl", "--again", "m.json", "--out", "somewhere"], "one of"),
        (["--profile", "word", "--out", "somewhere"], "no profile 'word'"),
        (["--again", "nowhere.json", "--out", "somewhere"], "no manifest"),
        (["--profile", "trl", "--out", "somewhere", "--round", "4"], "no round 4"),
        (["--profile", "trl", "--out", "somewhere"], "no rounds"),
    ],
)
def test_a_dataset_that_cannot_be_made_is_exit_code_2(tmp_path: Path, arguments: list[str], words: str) -> None:
    arguments = [str(tmp_path / "somewhere") if item == "somewhere" else item for item in arguments]
    done = _cuamaster("export", *arguments, workspace=tmp_path / "ws")
    assert done.returncode == 2 and words in done.stderr and not (tmp_path / "somewhere").exists()


def test_show_of_an_unknown_id_is_exit_code_2(tmp_path: Path) -> None:
    done = _cuamaster("show", "task-0000", workspace=tmp_path / "ws")
    assert done.returncode == 2
    assert "task-0000" in done.stderr


def test_a_broken_taxonomy_file_is_told_with_file_line_and_field(tmp_path: Path) -> None:
    (tmp_path / "office.yaml").write_text(
        "domain: office\ntitle: Office\nsubdomains: {a: A}\napplications:\n  - {id: x, name: X}\n"
    )
    done = _cuamaster("taxonomy", "validate", str(tmp_path))
    assert done.returncode == 2
    assert all(word in done.stderr for word in ("office.yaml", "line 5", "subdomain"))
