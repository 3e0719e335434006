"""A stage's folder: resumable, closed once, safe against kill -9, racing writers and a full disk."""

import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cuamaster.errors import IntegrityError, InvalidInput
from cuamaster.records.episode import Dropped
from cuamaster.records.video import Video
from cuamaster.tables import StageFolder, Workspace
from cuamaster.tables.files import temporary_name


def _video(name: str) -> Video:
    return Video(source="local", source_id=name, url=f"file:///{name}", title=name)


def _drop(name: str) -> Dropped:
    return Dropped(item_id=name, stage="discover", reason="too-short", detail="3 s")


@pytest.fixture
def stage(tmp_path: Path) -> StageFolder:
    return Workspace(tmp_path).round(1).stage("discover")


def test_layout_and_resume(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    assert workspace.rounds() == [] and workspace.round(3).stages() == []
    stage = workspace.round(3).stage("discover")
    stage.write("b", [_video("b")], [_drop("x")])
    stage.write("nothing", [])
    assert stage.folder == tmp_path / "round=003" / "discover"
    assert workspace.rounds() == [3] and workspace.round(3).stages() == ["discover"]
    again = Workspace(tmp_path).round(3).stage("discover")
    assert again.has("b") and again.has("nothing") and not again.has("x")
    assert again.kept(Video) == [_video("b")] and again.dropped() == [_drop("x")]
    with pytest.raises(InvalidInput):
        workspace.round(0)


def test_close_compacts_and_is_idempotent(stage: StageFolder) -> None:
    for name in "cab":
        stage.write(name, [_video(name)], [_drop(name)] if name == "a" else [])
    stage.write("d", [])
    rows = stage.kept(Video)
    manifest = stage.close("h1")
    assert (manifest.rows("kept"), manifest.rows("dropped"), len(manifest.items)) == (3, 1, 4)
    assert [entry.name for entry in manifest.files] == ["kept-00000.parquet", "dropped-00000.parquet"]
    assert not list((stage.folder / "parts").iterdir())
    assert stage.kept(Video) == rows and stage.items() == 4
    assert stage.is_closed("h1") and not stage.is_closed("h2") and stage.has("d")
    assert stage.close("h1") == manifest
    stage.verify()


def test_what_is_done_stays_and_later_items_are_added(stage: StageFolder) -> None:
    stage.write("a", [_video("a")])
    first = stage.close("h1")
    stage.write("a", [_video("other")])
    assert stage.kept(Video) == [_video("a")]
    stage.reopen()
    assert not stage.is_closed("h1") and stage.has("a") and stage.kept(Video) == [_video("a")]
    stage.write("b", [_video("b")])
    assert stage.kept(Video) == [_video("a"), _video("b")]
    second = stage.close("h2")
    assert second.files[0] == first.files[0] and second.files[1].name == "kept-00001.parquet"
    assert second.digest() != first.digest()
    stage.clear()
    assert not stage.has("a") and stage.kept(Video) == [] and stage.manifest() is None


def test_retain_forgets_items_that_are_no_longer_wanted(stage: StageFolder) -> None:
    for name in "abc":
        stage.write(name, [_video(name)], [_drop(name)])
    stage.close("h1")
    for name in "de":
        stage.write(name, [_video(name)], [_drop(name)])
    assert stage.retain("abcde") == 0
    assert stage.retain("bd") == 3
    assert [row.source_id for row in stage.kept(Video)] == ["b", "d"] and [row.item_id for row in stage.dropped()] == [
        "b",
        "d",
    ]
    assert not stage.has("a") and not stage.has("e") and not stage.is_closed("h1")
    stage.write("a", [_video("new")])
    manifest = stage.close("h2")
    assert [row.source_id for row in stage.kept(Video)] == ["b", "new", "d"] and manifest.rows("kept") == 3
    assert {path.name for path in stage.folder.glob("*.parquet")} == {entry.name for entry in manifest.files}
    stage.verify()
    assert stage.retain([]) == 3 and stage.kept(Video) == [] and stage.dropped() == []


def test_odd_item_ids(stage: StageFolder) -> None:
    names = ["../../etc/passwd", "a/b", ".hidden", "ü", "x" * 300, "https://example.org/?v=1", "app.ability-1f"]
    for name in names:
        stage.write(name, [_video(name)])
    assert all(stage.has(name) for name in names)
    stage.close("h")
    assert all(stage.has(name) for name in names) and stage.items() == len(names)
    assert {path.name for path in stage.folder.parent.iterdir()} == {"discover"}


def test_damage_is_found(stage: StageFolder) -> None:
    stage.write("a", [_video("a")])
    stage.close("h")
    shard = stage.folder / "kept-00000.parquet"
    data = shard.read_bytes()
    shard.write_bytes(data[:-9] + b"x" + data[-8:])
    with pytest.raises(IntegrityError, match="kept-00000"):
        stage.verify()
    shard.unlink()
    with pytest.raises(IntegrityError, match="missing"):
        stage.kept(Video)


def test_leftovers_are_ignored_then_swept(stage: StageFolder) -> None:
    stage.write("a", [_video("a")])
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    ).stdout.strip()
    dead = stage.folder / "parts" / temporary_name().replace(f"-{os.getpid()}-", f"-{gone}-")
    living = stage.folder / "parts" / temporary_name()
    dead.mkdir()
    living.mkdir()
    (stage.folder / "kept-00007.parquet").write_bytes(b"a close that was killed")
    assert stage.kept(Video) == [_video("a")] and stage.items() == 1
    stage.close("h")
    assert not dead.exists() and living.exists()
    assert [path.name for path in stage.folder.glob("kept-*")] == ["kept-00000.parquet"]


def test_racing_writers_and_closers(stage: StageFolder) -> None:
    names = [f"item-{n}" for n in range(24)]

    def work(worker: int) -> None:
        mine = StageFolder(stage.folder)
        for name in random.Random(worker).sample(names, len(names)):
            mine.write(name, [_video(name)], [_drop(name)])
            if worker == 0 and name.endswith("7"):
                mine.close("h")
            rows = [row.source_id for row in mine.kept(Video)]
            assert name in rows and len(rows) == len(set(rows))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    stage.close("h")
    assert sorted(row.source_id for row in stage.kept(Video)) == sorted(names)
    assert sorted(row.item_id for row in stage.dropped()) == sorted(names)
    stage.verify()


_CHILD = """
import sys
from cuamaster.records.episode import Dropped
from cuamaster.records.video import Video
from cuamaster.tables import Workspace
stage = Workspace(sys.argv[1]).round(1).stage("s")
wanted = [f"i{n}" for n in range(40)]
stage.retain(wanted)
print("ready", flush=True)
for n in range(40):
    if not stage.has(f"i{n}"):
        stage.write(f"i{n}", [Video(source="l", source_id=f"{n}", url="u", title="t")], [Dropped(item_id=f"{n}", stage="s", reason="r")])
    if n % 7 == 0:
        stage.close(f"h{n}")
        stage.reopen()
        stage.write(f"stale{n}", [Video(source="l", source_id=f"stale{n}", url="u", title="t")])
        stage.close(f"g{n}")
        stage.retain(wanted)
stage.close("end")
print("done", flush=True)
"""


def test_kill_at_any_moment_loses_and_doubles_nothing(tmp_path: Path) -> None:
    stage, chance = Workspace(tmp_path).round(1).stage("s"), random.Random(5)
    deadline = time.monotonic() + 120
    seen: set[str] = set()
    kills = 0
    while not stage.is_closed("end"):
        assert time.monotonic() < deadline
        with subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
            try:
                child.wait(chance.uniform(0.005, 0.25) if kills < 6 else None)
            except subprocess.TimeoutExpired:
                child.kill()
                kills += 1
        rows = [row.source_id for row in stage.kept(Video)]
        assert len(rows) == len(set(rows)) and set(rows) >= seen
        seen = {row for row in rows if not row.startswith("stale")}
    assert kills >= 3
    assert seen == {str(n) for n in range(40)}
    assert sorted(row.item_id for row in stage.dropped()) == sorted(seen)
    stage.verify()


_FULL = """
import os, sys
from cuamaster.errors import StoreFull
from cuamaster.records.video import Video
from cuamaster.tables import Workspace
stage = Workspace(sys.argv[1]).round(1).stage("s")
try:
    for n in range(100):
        stage.write(f"i{n}", [Video(source="l", source_id=f"{n}-{i}", url=os.urandom(200).hex(), title="t") for i in range(50)])
except StoreFull as exc:
    kept = stage.kept(Video)
    assert 0 < len(kept) == stage.items() * 50, len(kept)
    assert not list((stage.folder / "parts").glob(".tmp*"))
    print("full:", exc)
"""


def test_full_disk_is_a_typed_error_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    script = 'mount -t tmpfs -o size=192k none "$1" && exec "$2" -c "$3" "$1"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", script, "sh", str(tmp_path), sys.executable, _FULL],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "no space left under" in done.stdout, done.stdout + done.stderr
