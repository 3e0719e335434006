"""The command line explains itself, separates data from talk, and ends with exit codes that scripts can use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = [
    ["doctor"], ["image", "build"], ["flywheel", "run"], ["seed"], ["propagate"], ["collect"], ["export"], ["show"],
    ["primitives", "verify"], ["taxonomy", "validate"], ["taxonomy", "show"], ["taxonomy", "coverage"],
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


def test_a_dry_run_shows_the_searches_and_writes_nothing(tmp_path: Path) -> None:
    given = {"CUAMASTER_PROVIDERS": '["local", "ytdlp"]', "CUAMASTER_SEARCH_LANGUAGES": '["en", "ja"]'}
    done = _cuamaster("seed", "--dry-run", "--json", workspace=tmp_path / "ws", **given)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["requests"], told["applications"], told["languages"], told["results at most"]) == (8, 8, "en, ja", 32)
    assert told["queries"][0]["query"] == "(everything)" and len(told["queries"]) == 9
    assert not (tmp_path / "ws").exists()
    places = json.loads(_cuamaster("seed", "--dry-run", "--json", str(tmp_path), workspace=tmp_path / "ws").stdout)
    assert (places["searches"], places["requests"]) == (1, 0)


def test_the_taxonomy_is_shown_and_its_coverage_reported(tmp_path: Path) -> None:
    fields = {row["field"]: row["value"] for row in json.loads(_cuamaster("taxonomy", "show", "gimp", "--json").stdout)}
    assert fields["vendor"] == "GIMP Team" and fields["package"] == fields["command"] == "gimp"
    lines = json.loads(_cuamaster("taxonomy", "coverage", "--by", "domain", "--json", workspace=tmp_path).stdout)
    assert len(lines) == 9 and lines[-1]["domain"] == "all" and lines[-1]["applications"] >= 650
    unknown = _cuamaster("taxonomy", "show", "gimpp")
    assert unknown.returncode == 2 and "gimp" in unknown.stderr
