"""Bad input through the command line: a clear message, a kept reason, the documented exit code, and nothing lost."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cuamaster.catalog import Catalog
from cuamaster.records.episode import Dropped, Episode
from cuamaster.records.task import Certificate, Task
from cuamaster.records.trajectory import Trajectory
from cuamaster.records.transcript import Transcript
from cuamaster.records.video import Video
from cuamaster.tables import RoundFolder, Workspace
from tests.e2e.bad_media import bad_recordings, cuamaster, good_recording

ROOT = Path(__file__).parents[2]
Done = subprocess.CompletedProcess[str]


def refused(done: Done, code: int, kind: str, *words: str) -> str:
    """Assert one typed line on stderr that says all the words, no traceback, and the exit code; returns stderr in one line."""
    assert done.returncode == code, done.stderr[-3000:]
    assert "Traceback" not in done.stderr
    told = " ".join(done.stderr.split())
    assert f"cuamaster: {kind}: " in told
    for word in words:
        assert word in told, (word, told)
    return told


# -- recordings ---------------------------------------------------------------------------------------------------------


def recordings(test: Callable[..., None]) -> Callable[..., None]:
    """They share what was seeded, so they run in one process."""
    return pytest.mark.slow(pytest.mark.xdist_group("recordings")(test))


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Done]:
    """Folder of one good and many bad recordings, the workspace it was seeded into, and what the command said."""
    base = tmp_path_factory.mktemp("bad-input")
    good_recording(base / "videos")
    bad_recordings(base / "videos")
    cache = str(base / "cache")
    done = cuamaster("seed", str(base / "videos"), "--json", "-w", str(base / "w"), cwd=base, CUAMASTER_CACHE=cache)
    return base, base / "w", done


def drops(workspace: Path) -> dict[str, Dropped]:
    """What was dropped, by the name of the file that the reason or the video's address tells."""
    folder = Workspace(workspace).round(1)
    stems = {video.id: Path(video.url).stem for video in folder.stage("search").kept(Video)}
    found = [item for name in folder.stages() for item in folder.stage(name).dropped()]
    return {stems.get(item.item_id, item.item_id): item for item in found}


def trajectories(workspace: Path) -> dict[str, Trajectory]:
    """Trajectories by the names of their files; recordings whose captions were put in order may have some as well."""
    folder = Workspace(workspace).round(1)
    stems = {video.id: Path(video.url).stem for video in folder.stage("search").kept(Video)}
    return {stems[item.lineage.video_id or ""]: item for item in folder.stage("reconstruct").kept(Trajectory)}


@recordings
def test_the_good_recording_beside_the_bad_ones_becomes_a_trajectory(seeded: tuple[Path, Path, Done]) -> None:
    _, workspace, done = seeded
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr
    found = trajectories(workspace)
    assert {row["trajectory"] for row in json.loads(done.stdout)} == {item.id for item in found.values()}
    assert (found["good"].app, len(found["good"].steps) > 0) == ("mousepad", True)
    assert not {"zero", "text", "corrupt", "novideo", "silent", "portrait", "described", "noise"} & set(found)


@pytest.mark.parametrize(
    ("name", "stage", "reason"),
    [
        ("zero", "fetch", "empty-file"),
        ("text", "fetch", "unreadable"),
        ("corrupt", "fetch", "unreadable"),
        ("novideo", "fetch", "no-video-stream"),
        ("silent", "fetch", "no-narration"),
        ("portrait", "gate", "portrait"),
        ("described", "fetch", "invalid-input"),
        ("noise", "transcribe", "no-audio"),
    ],
)
@recordings
def test_every_bad_recording_is_dropped_with_its_reason(
    seeded: tuple[Path, Path, Done], name: str, stage: str, reason: str
) -> None:
    item = drops(seeded[1])[name]
    assert (item.stage, item.reason) == (stage, reason)
    assert len(item.detail) > 20


@recordings
def test_broken_metadata_and_a_broken_feed_are_told_with_file_line_and_field(seeded: tuple[Path, Path, Done]) -> None:
    found = drops(seeded[1])
    assert re.search(r"described\.info\.json, line 2, field ", found["described"].detail)
    (feed,) = (item for item in found.values() if item.stage == "search")
    assert re.search(r"feed\.xml, line \d+, field ", feed.detail)


@recordings
def test_captions_that_overlap_or_run_backwards_are_put_in_order_and_marked(seeded: tuple[Path, Path, Done]) -> None:
    folder = Workspace(seeded[1]).round(1)
    stems = {video.id: Path(video.url).stem for video in folder.stage("search").kept(Video)}
    found = {stems[item.video_id]: item for item in folder.stage("transcribe").kept(Transcript)}
    for name in ("backwards", "overlap"):
        transcript = found[name]
        assert transcript.trust < found["good"].trust
        assert transcript.problems
        starts = [sentence.start for sentence in transcript.sentences]
        assert starts == sorted(starts)
        assert all(sentence.start <= sentence.end for sentence in transcript.sentences)


@recordings
def test_captions_in_other_encodings_are_read(seeded: tuple[Path, Path, Done]) -> None:
    folder = Workspace(seeded[1]).round(1)
    said = {sentence.text for item in folder.stage("transcribe").kept(Transcript) for sentence in item.sentences}
    assert "Abra el menú Archivo." in said
    assert "Open the File menu." in said
    assert not any("�" in text or "\0" in text for text in said)


@recordings
def test_the_same_command_again_does_nothing_twice(seeded: tuple[Path, Path, Done]) -> None:
    base, workspace, first = seeded
    before = {path: path.stat().st_mtime_ns for path in workspace.rglob("*") if path.is_file()}
    done = cuamaster("seed", str(base / "videos"), "--json", "-w", str(workspace), cwd=base)
    assert (done.returncode, done.stdout) == (0, first.stdout)
    assert {path: path.stat().st_mtime_ns for path in workspace.rglob("*") if path.is_file()} == before


@recordings
def test_a_reason_can_be_looked_up_by_the_id_of_the_recording(seeded: tuple[Path, Path, Done]) -> None:
    base, workspace, _ = seeded
    item = drops(workspace)["zero"]
    done = cuamaster("show", item.item_id, "-w", str(workspace), cwd=base)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["id"]
    with Catalog(Workspace(workspace)) as catalog:
        assert {"empty-file", "no-video-stream"} <= {row["reason"] for row in catalog.reasons(1)}


@pytest.mark.slow
def test_a_repaired_recording_and_another_folder_are_looked_at(tmp_path: Path) -> None:
    """What is asked for decides, not that the stage was closed once."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.mp4").touch()
    run = ("seed", "--json", "-w", str(tmp_path / "w"))
    stems = []
    for places in ([tmp_path / "a"], [tmp_path / "missing", tmp_path / "b"]):
        done = cuamaster(*run, *map(str, places), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        stems.append({name for name, item in drops(tmp_path / "w").items() if item.stage == "fetch"})
    assert stems == [{"a"}, {"b"}]
    assert "missing" in done.stderr
    (tmp_path / "b" / "b.mp4").write_text("longer now, and no recording either")
    cuamaster(*run, str(tmp_path / "b"), cwd=tmp_path)
    assert drops(tmp_path / "w")["b"].reason == "unreadable"


def test_nothing_to_seed_is_exit_code_1(tmp_path: Path) -> None:
    done = cuamaster("seed", "nowhere", "-w", str(tmp_path / "w"), cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "no such folder, recording or feed: nowhere" in " ".join(done.stderr.split())


# -- what people write by hand ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("round_number", "text", "words"),
    [
        (1, "not json\n", ("plan.json", "line 1", "JSON")),
        (1, '{"round": 1, "cells": [{"app": "mousepad"}]}', ("plan.json", "cells.0.")),
        (1, '{"round": 7, "cells": []}', ("plan.json", "field round")),
        (
            1,
            '{"round": 1, "cells": [{"app": "nosuch", "domain": "d", "videos": 1, "tasks": 1, "k": 2, "n": 1, "reason": "r"}]}',
            ("plan.json", "cells.0.app", "nosuch"),
        ),
        (2, '{"round": 2, "cel', ("plan.json", "line 1", "JSON")),
    ],
    ids=["no-json", "missing-field", "other-round", "unknown-application", "torn-next-plan"],
)
def test_a_bad_plan_is_told_with_file_and_field(
    tmp_path: Path, round_number: int, text: str, words: tuple[str, ...]
) -> None:
    plan = tmp_path / "w" / f"round={round_number:03d}" / "plan.json"
    plan.parent.mkdir(parents=True)
    plan.write_text(text)
    command = ["propagate"] if round_number == 1 else ["show"]
    done = cuamaster(*command, "-w", str(tmp_path / "w"), cwd=tmp_path, CUAMASTER_DESKTOP="simulated")
    refused(done, 2, "UnknownName" if "nosuch" in text else "InvalidInput", *words)
    assert plan.read_text() == text


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with its data, to be broken: primitives/ and taxonomy/ are found beside the package."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "cuamaster", folder / "cuamaster", ignore=shutil.ignore_patterns("*.mp4", "__pycache__"))
    for name in ("taxonomy", "primitives"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("evidence"))
    shutil.copytree(ROOT / "vm_snapshots", folder / "vm_snapshots", ignore=shutil.ignore_patterns("*.qcow2"))
    return folder


PRIMITIVE = """app: mousepad
primitives:
  - ability: press-enter
    instruction: Press Enter
    preconditions: []
    effects: [{kind: window.title, app: mousepad, active: true}]
    verifier: {kind: window.title, app: mousepad, active: true}
    procedures:
      - mode: gui
        steps: [{type: keyboard.press, args: {keys: [Return]}}]
    evidence: [{kind: video, source: video-1, t_start: 1.0, t_end: 2.0}]
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("  - ability: press-enter", "  - ability: [press-enter", ("line 4",)),
        ("instruction: Press Enter", "instruktion: Press Enter", (":4:", "instruktion")),
        ("type: keyboard.press", "type: keyboard.smash", ("keyboard.smash", "procedures")),
        (
            "    evidence: [{kind: video, source: video-1, t_start: 1.0, t_end: 2.0}]\n",
            "",
            (":3:", "evidence", "press-enter"),
        ),
    ],
    ids=["yaml", "field", "action", "no-evidence"],
)
def test_a_broken_primitive_is_told_with_file_line_and_field(
    checkout: Path, tmp_path: Path, old: str, new: str, words: tuple[str, ...]
) -> None:
    """Before anything is searched, so that hours of seeding are not followed by a typing mistake."""
    assert old in PRIMITIVE
    for path in (checkout / "primitives").glob("*.yaml"):
        path.unlink()
    (checkout / "primitives" / "mousepad.yaml").write_text(PRIMITIVE.replace(old, new))
    done = cuamaster(
        "flywheel", "run", "-w", str(tmp_path / "w"), cwd=tmp_path, CUAMASTER_DESKTOP="simulated", PYTHONPATH=str(checkout)
    )  # fmt: skip
    refused(done, 2, "InvalidInput", "mousepad.yaml", *words)
    assert Workspace(tmp_path / "w").rounds() == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("title: ", "title: [", ("productivity.yaml", "line ", "field (YAML)")),
        ("domain: productivity", "domian: productivity", ("productivity.yaml", "line 2", "field domian")),
        (
            "subdomain: text-editing",
            "subdomain: painting",
            ("productivity.yaml", "line 13", "applications.0.subdomain"),
        ),
    ],
    ids=["yaml", "field", "subdomain"],
)
def test_a_broken_taxonomy_is_told_with_file_line_and_field(
    tmp_path: Path, old: str, new: str, words: tuple[str, ...]
) -> None:
    shutil.copytree(ROOT / "taxonomy", tmp_path / "t")
    path = tmp_path / "t" / "productivity.yaml"
    path.write_text(path.read_text().replace(old, new, 1))
    refused(cuamaster("taxonomy", "validate", "t", cwd=tmp_path), 2, "InvalidInput", *words)


@pytest.mark.parametrize(
    ("env", "toml", "words"),
    [
        ({"CUAMASTER_VIDEOS": "folder"}, "", ("videos", "JSON")),
        ({}, "seed = [\n", ("cuamaster.toml",)),
        ({}, "vm_capacity = 0\n", ("vm_capacity", "greater than or equal to 1")),
        ({}, "no_such_setting = 1\n", ("no_such_setting",)),
    ],
)
def test_a_bad_setting_is_named(tmp_path: Path, env: dict[str, str], toml: str, words: tuple[str, ...]) -> None:
    (tmp_path / "cuamaster.toml").write_text(toml)
    refused(cuamaster("show", cwd=tmp_path, **env), 2, "InvalidInput", *words)


# -- files that were damaged --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["noise", "missing", "text", "truncated"])
def test_a_damaged_rl_parquet_is_refused_before_a_guest_image_is_built(tmp_path: Path, damage: str) -> None:
    path, env = tmp_path / "rl.parquet", {"CUAMASTER_CACHE": str(tmp_path / "cache")}
    if damage == "noise":
        path.write_bytes(os.urandom(5000))
    elif damage == "text":
        path.write_text("PAR1 and so on PAR1")
    elif damage == "truncated":
        assert cuamaster("export", "-w", str(tmp_path / "x"), cwd=tmp_path).returncode == 0
        path.write_bytes((tmp_path / "x" / "exports" / "rl.parquet").read_bytes()[:-200])
    done = cuamaster("collect", "--tasks", str(path), "-w", str(tmp_path / "w"), cwd=tmp_path, **env)
    refused(done, 2, "InvalidInput", "rl.parquet")
    assert not (tmp_path / "cache").exists()


@recordings
def test_a_damaged_stage_is_named_and_the_rest_stays(seeded: tuple[Path, Path, Done], tmp_path: Path) -> None:
    base, workspace, _ = seeded
    copy = tmp_path / "w"
    shutil.copytree(workspace, copy)
    (shard,) = (copy / "round=001" / "reconstruct").glob("kept-*.parquet")
    shard.write_bytes(shard.read_bytes()[:-100])
    for command in (["show"], ["export"]):
        done = cuamaster(*command, "-w", str(copy), cwd=tmp_path)
        refused(done, 1, "IntegrityError", shard.name, "reconstruct")
    shutil.rmtree(shard.parent)  # as the message says
    done = cuamaster(
        "seed", str(base / "videos"), "--json", "-w", str(copy), cwd=base, CUAMASTER_CACHE=str(base / "cache")
    )
    assert done.returncode == 0, done.stderr
    assert Workspace(copy).round(1).stage("reconstruct").kept(Trajectory)


def test_a_damaged_manifest_of_the_exports_is_made_again(tmp_path: Path) -> None:
    run = ("export", "--json", "-w", str(tmp_path / "w"))
    first = cuamaster(*run, cwd=tmp_path)
    manifest = tmp_path / "w" / "exports" / "manifest.json"
    manifest.write_text('{"inputs": ')
    done = cuamaster(*run, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, first.stdout), done.stderr
    assert json.loads(manifest.read_text())["files"]
    (tmp_path / "w" / "exports" / "rl.parquet").write_bytes(b"PAR1")
    assert cuamaster(*run, cwd=tmp_path).stdout == first.stdout
    assert (tmp_path / "w" / "exports" / "rl.parquet").stat().st_size > 4


# -- the machine --------------------------------------------------------------------------------------------------------


def test_without_qemu_doctor_and_collect_say_what_is_missing(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("ffmpeg", "ffprobe", "mmdebstrap", "mke2fs"):
        (tools / name).symlink_to(shutil.which(name) or pytest.fail(f"{name} is not installed"))
    env = {"PATH": str(tools), "CUAMASTER_CACHE": str(tmp_path / "cache"), "CUAMASTER_WORKSPACE": str(tmp_path / "w")}
    done = cuamaster("doctor", "--json", cwd=tmp_path, **env)
    assert done.returncode == 1, done.stderr
    found = {item["name"]: item for item in json.loads(done.stdout)}
    lack = found["qemu-system-x86_64"]
    assert (lack["status"], lack["needed"]) == ("missing", True)
    assert "apt-get install qemu-system-x86" in lack["found"]
    assert "collect" in lack["disables"]
    for command in (["collect"], ["flywheel", "run"]):
        refused(
            cuamaster(*command, cwd=tmp_path, **env), 1, "MissingDependency", "qemu-system-x86_64", "apt-get install"
        )
    assert not (tmp_path / "cache").exists()


def test_a_workspace_that_is_a_file_is_told_at_the_door(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for command, path in ((["seed", "."], "file"), (["show"], "file"), (["flywheel", "run"], "file/below")):
        done = cuamaster(*command, cwd=tmp_path, CUAMASTER_WORKSPACE=str(tmp_path / path))
        refused(done, 2, "InvalidInput", "workspace", f"{tmp_path / 'file'} is a file")
    assert (tmp_path / "file").read_text() == "mine"


def _mounted(tmp_path: Path, options: str, script: str, **env: str) -> Done:
    """Run a script in a mount namespace where `$1` is a tmpfs with these options; `$2` is python."""
    mount = f'mount -t tmpfs -o {options} none "$1" && {script}'
    (tmp_path / "m").mkdir(exist_ok=True)
    command = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-ec",
        mount,
        "sh",
        str(tmp_path / "m"),
        sys.executable,
    ]
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(ROOT)]))
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=900, env={**os.environ, "PYTHONPATH": path, **env}
    )  # fmt: skip


@pytest.mark.parametrize("command", ["export", "seed .", "flywheel run"])
def test_a_read_only_workspace_is_told_before_the_work(tmp_path: Path, command: str) -> None:
    script = f'exec "$2" -m cuamaster.cli {command} -w "$1"/w'
    done = _mounted(tmp_path, "ro", script, CUAMASTER_DESKTOP="simulated")
    refused(done, 1, "StoreUnwritable", "Read-only file system", str(tmp_path / "m"))


@recordings
def test_a_read_only_workspace_can_be_looked_at(seeded: tuple[Path, Path, Done], tmp_path: Path) -> None:
    script = (
        f'cp -r "{seeded[1]}" "$1"/w && mount -o remount,ro "$1" && exec "$2" -m cuamaster.cli show --json -w "$1"/w'
    )
    done = _mounted(tmp_path, "size=32m", script)
    assert done.returncode == 0, done.stderr
    count = len(trajectories(seeded[1]))
    assert {"stage": "reconstruct", "what": "trajectories", "count": count} in [
        {name: row[name] for name in ("stage", "what", "count")} for row in json.loads(done.stdout)
    ]


GROWING = """
import os, runpy, subprocess, sys
from pathlib import Path
mount, step, *command = sys.argv[1:]
size, said = int(step), []
while True:
    done = subprocess.run([sys.executable, "-m", "cuamaster.cli", *command], capture_output=True, text=True)
    if done.returncode == 0:
        break
    said.append((done.returncode, [line for line in done.stderr.splitlines() if line.startswith("cuamaster: ")][-1:]))
    if done.returncode != 1 or "Traceback" in done.stderr or "StoreFull" not in done.stderr:
        sys.exit(f"{size} KiB: exit code {done.returncode}: {done.stderr[-3000:]}")
    left = [str(path) for path in Path(mount).rglob(".tmp-*")]
    if left:
        sys.exit(f"{size} KiB: half-written {left}")
    size += int(step)
    subprocess.run(["mount", "-o", f"remount,size={size}k", mount], check=True)
subprocess.run(["cp", "-r", f"{mount}/w", "w"], check=True)
print(len(said))
"""


def _grow(tmp_path: Path, step: int, command: str, **env: str) -> int:
    """Run a command on a disk that is too small, giving it `step` KiB more after each StoreFull; returns how often it was full.

    What was made is copied to `tmp_path / "w"`.
    """
    (tmp_path / "grow.py").write_text(GROWING)
    script = f'"$2" grow.py "$1" {step} {command} -w "$1"/w'
    done = _mounted(tmp_path, f"size={step}k", script, **env)
    assert done.returncode == 0, done.stderr[-3000:]
    return int(done.stdout)


@recordings
def test_a_full_disk_stops_seeding_and_the_next_run_goes_on(seeded: tuple[Path, Path, Done], tmp_path: Path) -> None:
    base, workspace, _ = seeded
    good_recording(tmp_path / "videos")
    full = _grow(tmp_path, 448, f"seed {tmp_path / 'videos'}", CUAMASTER_CACHE=str(base / "cache"))
    assert full >= 1
    made, wanted = trajectories(tmp_path / "w"), trajectories(workspace)
    assert {name: len(item.steps) for name, item in made.items()} == {"good": len(wanted["good"].steps)}
    _sound(Workspace(tmp_path / "w").round(1))


@recordings
def test_a_full_disk_stops_any_stage_of_the_wheel_and_nothing_is_lost(
    seeded: tuple[Path, Path, Done], tmp_path: Path
) -> None:
    """Every stage of a round on simulated desktops: seed, prove, compose, certify, collect, export, profile."""
    base, _, _ = seeded
    good_recording(tmp_path / "videos")
    env = {
        "CUAMASTER_CACHE": str(base / "cache"), "CUAMASTER_DESKTOP": "simulated", "CUAMASTER_ROUND_TASKS": "1",
        "CUAMASTER_VIDEOS": json.dumps([str(tmp_path / "videos")]), "CUAMASTER_FAULT_SHARE": "0",
    }  # fmt: skip
    full = _grow(tmp_path, 256, "flywheel run", **env)
    assert full >= 6
    folder = Workspace(tmp_path / "w").round(1)
    _sound(folder)
    passed = {episode.task_id for episode in folder.stage("collect").kept(Episode) if episode.outcome == "passed"}
    released = {item.task_id for item in folder.stage("certify").kept(Certificate) if item.released}
    assert passed
    assert passed <= released
    assert folder.stage("compose").kept(Task)
    assert (tmp_path / "w" / "round=002" / "plan.json").is_file()


def _sound(folder: RoundFolder) -> None:
    """Every stage is closed, its files are what the manifest says, no row is there twice."""
    with Catalog(Workspace(folder.folder.parent)) as catalog:
        for name in folder.stages():
            stage = folder.stage(name)
            stage.verify()
            assert stage.manifest() is not None
            view = name.replace("-", "_")
            if view in catalog.views and name != "profile":
                (row,) = catalog.query(f'SELECT count(*) AS n, count(DISTINCT id) AS d FROM "{view}"')
                assert row["n"] == row["d"], name
