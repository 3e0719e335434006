"""The command line explains itself, separates data from talk, and ends with exit codes that scripts can use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cuamaster.adapters.videos.sites import SiteTable
from cuamaster.tables import Workspace

COMMANDS = [
    ["doctor"], ["image", "build"], ["image", "list"], ["flywheel", "run"], ["seed"], ["propagate"], ["collect"], ["export"], ["show"],
    ["primitives", "verify"], ["taxonomy", "validate"], ["taxonomy", "show"], ["taxonomy", "coverage"], ["sites", "show"],
    ["import", "agentnet"], ["import", "osworld"], ["import", "cua-lite"], ["train-config"], ["preflight"], ["clean"], ["card"], ["report"],
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


def test_an_import_says_what_it_kept_and_what_it_could_not_map(tmp_path: Path) -> None:
    osworld = Path(__file__).parent / "importers" / "data" / "osworld"
    command = ["import", "osworld", str(osworld / "examples"), "--files", str(osworld / "files"), "--json"]
    done = json.loads(_cuamaster(*command, workspace=tmp_path).stdout)
    assert (done["records"], done["tasks"], done["dropped"]) == (10, 7, 3)
    assert ["unsupported-evaluator", "compare_docx_files", 1] in done["reasons"]
    again = _cuamaster(*command[:-1], workspace=tmp_path)
    assert again.returncode == 0 and "already" in again.stdout
    absent = _cuamaster("import", "agentnet", str(tmp_path / "absent.jsonl"), workspace=tmp_path)
    assert absent.returncode == 2 and "No such file" in absent.stderr
    (tmp_path / "torn.jsonl").write_text("{")
    assert _cuamaster("import", "agentnet", str(tmp_path / "torn.jsonl"), workspace=tmp_path).returncode == 1


@pytest.mark.slow
def test_a_dataset_from_preflight_to_report(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    rows = [
        {"id": "a", "instruction": "Mail bob@gmail.com", "license": "MIT"},
        {"id": "b", "instruction": "Open it", "license": "MIT"},
    ]
    (data / "all.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    every = tmp_path / "every.jsonl"
    done = _cuamaster("preflight", str(data), "--json", "--all", str(every), workspace=tmp_path / "ws")
    assert done.returncode == 1, done.stderr
    assert [(row["check"], row["rows"]) for row in json.loads(done.stdout)] == [("personal", 1)]
    assert json.loads(every.read_text())["row"] == "a"
    allowed = _cuamaster("preflight", str(data), "--json", "--level", "personal=warning", workspace=tmp_path / "ws")
    assert allowed.returncode == 0
    wrong = _cuamaster("preflight", str(data), "--level", "nonsense=off", workspace=tmp_path / "ws")
    assert wrong.returncode == 2 and "nonsense" in wrong.stderr
    assert "0 blocking, 1 warnings" in Path(_cuamaster("card", str(data)).stdout.strip()).read_text()
    assert _cuamaster("report", str(data)).stdout.strip() == str(data / "report.html")
    cleaned = _cuamaster("clean", str(tmp_path / "out"), "--from", str(data), workspace=tmp_path / "ws")
    assert cleaned.returncode == 0, cleaned.stderr
    assert [json.loads(line)["instruction"] for line in (tmp_path / "out/all.jsonl").read_text().splitlines()] == [
        "Mail [email 1]",
        "Open it",
    ]
    empty = tmp_path / "empty"
    empty.mkdir()
    refused = _cuamaster("clean", str(tmp_path / "out-2"), "--from", str(empty), workspace=tmp_path / "ws")
    assert refused.returncode == 2 and "no Parquet files and no JSON lines" in " ".join(refused.stderr.split())


def test_a_dry_run_shows_the_searches_and_writes_nothing(tmp_path: Path) -> None:
    given = {"CUAMASTER_PROVIDERS": '["local", "ytdlp"]', "CUAMASTER_SEARCH_LANGUAGES": '["en", "ja"]'}
    done = _cuamaster("seed", "--dry-run", "--json", workspace=tmp_path / "ws", **given)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["requests"], told["applications"], told["languages"], told["results at most"]) == (8, 8, "en, ja", 32)
    assert told["queries"][0]["query"] == "(everything)" and len(told["queries"]) == 9
    assert not (tmp_path / "ws").exists()
    places = json.loads(_cuamaster("seed", "--dry-run", "--json", str(tmp_path), workspace=tmp_path / "ws").stdout)
    assert (places["searches"], places["requests"], places["queries"][0]["results"]) == (1, 0, None)
    lost = _cuamaster("seed", "--dry-run", "--json", str(tmp_path / "nowhere"), workspace=tmp_path / "ws")
    assert lost.returncode == 0 and "no such folder" in lost.stderr and "nowhere" in lost.stderr


def test_the_taxonomy_is_shown_and_its_coverage_reported(tmp_path: Path) -> None:
    fields = {row["field"]: row["value"] for row in json.loads(_cuamaster("taxonomy", "show", "gimp", "--json").stdout)}
    assert fields["vendor"] == "GIMP Team" and fields["package"] == fields["command"] == "gimp"
    lines = json.loads(_cuamaster("taxonomy", "coverage", "--by", "domain", "--json", workspace=tmp_path).stdout)
    assert len(lines) == 9 and lines[-1]["domain"] == "all" and lines[-1]["applications"] >= 650
    unknown = _cuamaster("taxonomy", "show", "gimpp")
    assert unknown.returncode == 2 and "gimp" in unknown.stderr


def test_a_terminated_command_tidies_up_on_its_way_out(tmp_path: Path) -> None:
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom cuamaster import cli\nfolder = Path(sys.argv[1])\n"
        "def command():\n    try:\n        print('begun', flush=True)\n        time.sleep(60)\n"
        "    finally:\n        (folder / 'tidy').touch()\n"
        "cli.app = command\ncli.main()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.terminate()
    assert process.wait(30) == 143
    process.stdout.close()
    assert (tmp_path / "tidy").exists()


def test_a_site_that_is_left_alone_is_shown_and_forgotten(tmp_path: Path) -> None:
    SiteTable(tmp_path / "sites.sqlite").rest("youtube.com", time.time() + 4000, "rate-limited")
    env = {"CUAMASTER_CACHE": str(tmp_path)}
    (row,) = json.loads(_cuamaster("sites", "show", "--json", **env).stdout)
    assert (row["site"], row["reason"], row["refusals in a row"]) == ("youtube.com", "rate-limited", 1)
    assert row["left alone for"].startswith("1:06:")
    assert _cuamaster("sites", "forget", "youtube.com", **env).returncode == 0
    none = _cuamaster("sites", "show", **env)
    assert (none.returncode, none.stdout) == (0, "") and "no site was asked" in none.stderr
    unknown = _cuamaster("sites", "forget", "youtube.com", **env)
    assert unknown.returncode == 2 and "youtube.com" in unknown.stderr
