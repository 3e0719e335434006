"""Rounds add up, a dataset can be made again from its manifest, and a folder holds a whole dataset or none."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from cuamaster.errors import IntegrityError, InvalidInput, StoreFull, UnknownName
from cuamaster.exports import writer
from cuamaster.exports.manifest import Release
from cuamaster.exports.options import Options
from cuamaster.exports.samples import RoundData
from cuamaster.records.trajectory import Observation
from cuamaster.stages import Ports, release, release_again
from cuamaster.tables import Workspace

from .conftest import World, act, certificate, make_task
from .datasets import keep


def hashes(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def collected(world: World, number: int, count: int) -> RoundData:
    tasks = tuple(make_task("mousepad", seed=100 * number + n) for n in range(count))
    return RoundData(
        round=number,
        tasks=tasks,
        certificates=tuple(map(certificate, tasks)),
        episodes=tuple(map(world.rolled_back, tasks)),
    )


# -- rounds ---------------------------------------------------------------------------------------------------------------


def test_a_round_that_is_only_planned_names_no_version(world: World, workspace: Workspace, tmp_path: Path) -> None:
    keep(workspace, collected(world, 1, 2))
    (workspace.root / "round=002").mkdir()
    (workspace.root / "round=002" / "plan.json").write_text("{}")
    assert max(workspace.rounds()) == 2
    assert release(workspace, Ports(world.store), "trl", tmp_path / "out", Options()).version == "dataset@round-1"


def test_a_later_round_adds_files_and_changes_none(world: World, workspace: Workspace, tmp_path: Path) -> None:
    keep(workspace, collected(world, 1, 3))
    first = release(workspace, Ports(world.store), "trl", tmp_path / "one", Options())
    keep(workspace, collected(world, 2, 2))
    both = release(workspace, Ports(world.store), "trl", tmp_path / "two", Options())
    assert (first.version, both.version) == ("dataset@round-1", "dataset@round-2")
    assert [(item.round, item.samples) for item in both.rounds] == [(1, 3), (2, 2)] and both.splits == {"train": 5}
    old, new = hashes(tmp_path / "one"), hashes(tmp_path / "two")
    assert new["train/r001-00000.parquet"] == old["train/r001-00000.parquet"] and "train/r002-00000.parquet" in new
    assert sum(cell.samples for cell in both.weights) == 5
    upto = release(workspace, Ports(world.store), "trl", tmp_path / "three", Options(), upto=1)
    assert upto == first and hashes(tmp_path / "three") == old


def test_a_dataset_is_made_again_from_its_manifest_whatever_came_later(
    world: World, workspace: Workspace, tmp_path: Path
) -> None:
    keep(workspace, collected(world, 1, 2))
    made = release(workspace, Ports(world.store), "ms-swift", tmp_path / "one", Options(history=2, test_percent=10))
    stage = workspace.round(1).stage("collect")  # the round goes on, and so does the wheel
    stage.reopen()
    more = collected(world, 7, 1)
    stage.write("more", [*more.episodes])
    stage.close("more")
    keep(workspace, collected(world, 2, 1))
    again = release_again(workspace, Ports(world.store), tmp_path / "one" / "manifest.json", tmp_path / "two")
    assert again == made and hashes(tmp_path / "two") == hashes(tmp_path / "one")
    shard = next(workspace.round(1).stage("collect").folder.glob("kept-00000.parquet"))
    shard.write_bytes(shard.read_bytes() + b"x")
    with pytest.raises(IntegrityError, match=r"round=001/collect/kept-00000.parquet"):
        release_again(workspace, Ports(world.store), tmp_path / "one" / "manifest.json", tmp_path / "three")
    assert not (tmp_path / "three").exists()


def test_no_split_shares_a_template_with_the_other(world: World, workspace: Workspace, tmp_path: Path) -> None:
    apps = [f"app{n}" for n in range(40)]
    tasks = tuple(make_task(app, seed=n) for n, app in enumerate(apps) for _ in range(1)) + tuple(
        make_task(app, seed=100 + n) for n, app in enumerate(apps)
    )
    keep(workspace, RoundData(round=1, tasks=tasks, episodes=tuple(map(world.replay, tasks))))
    made = release(workspace, Ports(world.store), "trl", tmp_path / "out", Options(test_percent=25))
    assert set(made.splits) == {"train", "test"} and made.dropped == {}
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "hf"))
    sides = [{app for apps in loaded[split]["apps"] for app in apps} for split in ("train", "test")]
    assert not sides[0] & sides[1] and len(sides[0] | sides[1]) == 40


def test_what_is_closed_counts_and_what_is_not_is_told(
    world: World, workspace: Workspace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keep(workspace, collected(world, 1, 1))
    later = collected(world, 3, 1)
    workspace.round(1).stage("collect").write("open", list(later.episodes))
    assert release(workspace, Ports(world.store), "trl", tmp_path / "out", Options()).splits == {"train": 1}
    assert "collect is not closed yet" in caplog.text


# -- folders --------------------------------------------------------------------------------------------------------------


def test_nothing_is_written_again_while_nothing_changed(world: World, workspace: Workspace, tmp_path: Path) -> None:
    keep(workspace, collected(world, 1, 1))
    made = release(workspace, Ports(world.store), "trl", tmp_path / "out", Options())
    inode = (tmp_path / "out").stat().st_ino
    assert release(workspace, Ports(world.store), "trl", tmp_path / "out", Options()) == made
    assert (tmp_path / "out").stat().st_ino == inode
    (tmp_path / "out" / made.files[0].name).write_bytes(b"PAR1")
    assert release(workspace, Ports(world.store), "trl", tmp_path / "out", Options()) == made
    assert pq.read_metadata(tmp_path / "out" / made.files[0].name).num_rows == 1


def test_a_link_to_a_folder_stays_a_link(world: World, workspace: Workspace, tmp_path: Path) -> None:
    keep(workspace, collected(world, 1, 1))
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    for history in (1, 2):
        made = release(workspace, Ports(world.store), "trl", tmp_path / "out", Options(history=history))
        assert (tmp_path / "out").is_symlink()
        assert Release.model_validate_json((tmp_path / "disk" / "manifest.json").read_bytes()) == made


def test_a_folder_with_something_else_is_left_alone(world: World, workspace: Workspace, tmp_path: Path) -> None:
    keep(workspace, collected(world, 1, 1))
    thesis = tmp_path / "out" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("three years of work")
    with pytest.raises(InvalidInput, match="no dataset"):
        release(workspace, Ports(world.store), "trl", thesis.parent, Options())
    assert thesis.read_text() == "three years of work"
    release(workspace, Ports(world.store), "trl", tmp_path / "trl", Options())
    with pytest.raises(InvalidInput, match="of profile trl"):
        release(workspace, Ports(world.store), "verl", tmp_path / "trl", Options())
    with pytest.raises(UnknownName):
        release(workspace, Ports(world.store), "word", tmp_path / "new", Options())
    with pytest.raises(InvalidInput, match="no round 9"):
        release(workspace, Ports(world.store), "trl", tmp_path / "new", Options(), upto=9)
    assert not (tmp_path / "new").exists()


def test_a_manifest_that_is_none_or_newer_is_named(world: World, workspace: Workspace, tmp_path: Path) -> None:
    keep(workspace, collected(world, 1, 1))
    release(workspace, Ports(world.store), "trl", tmp_path / "out", Options())
    path = tmp_path / "out" / "manifest.json"
    data = json.loads(path.read_text())
    for text, words in (
        ("{", "no manifest"), ("[]", "no manifest"), ('{"format": 1}', "no manifest"), (json.dumps({**data, "format": 2}), "knows 1"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(InvalidInput, match=words):
            release_again(workspace, Ports(world.store), path, tmp_path / "again")
        with pytest.raises(InvalidInput, match=words):
            release(workspace, Ports(world.store), "trl", tmp_path / "out", Options())


# -- bad input ------------------------------------------------------------------------------------------------------------


def test_lost_and_broken_pictures_drop_their_trajectory_alone(
    world: World, workspace: Workspace, tmp_path: Path
) -> None:
    tasks = [make_task("mousepad", seed=n) for n in range(4)]
    episodes = [world.replay(task) for task in tasks]

    def with_first(number: int, seen: Observation) -> None:
        nodes = episodes[number].nodes
        first = nodes[0].model_copy(update={"observation": seen})
        episodes[number] = episodes[number].model_copy(update={"nodes": (first, *nodes[1:])})

    whole = world.store.get(episodes[0].nodes[0].observation.screenshot)
    with_first(0, world.see().model_copy(update={"screenshot": "e" * 64}))
    with_first(1, world.see().model_copy(update={"screenshot": world.store.put(whole[:-20])}))
    with_first(2, world.see().model_copy(update={"width": 128, "height": 80}))
    keep(workspace, RoundData(round=1, tasks=tasks, episodes=episodes))
    made = release(workspace, Ports(world.store), "trl", tmp_path / "out", Options())
    assert made.splits == {"train": 1}
    assert made.dropped == {"missing-picture": 1, "undecodable-picture": 1, "picture-size": 1}
    drops = [json.loads(line) for line in (tmp_path / "out" / "dropped.jsonl").read_text().splitlines()]
    assert {drop["item_id"] for drop in drops} == {episode.id for episode in episodes[:3]}


def test_two_resolutions_in_one_episode_are_both_kept(world: World, workspace: Workspace, tmp_path: Path) -> None:
    task = make_task("mousepad")
    episode = world.replay(task)
    path = tmp_path / "wide.png"
    Image.new("RGB", (128, 40), "green").save(path)
    wide = Observation(screenshot=world.store.put(path.read_bytes()), width=128, height=40)
    nodes = (episode.nodes[0], episode.nodes[1].model_copy(update={"observation": wide}))
    keep(workspace, RoundData(round=1, tasks=(task,), episodes=(episode.model_copy(update={"nodes": nodes}),)))
    for side, sizes in ((None, [(64, 40), (128, 40)]), (64, [(64, 40), (64, 20)])):
        release(workspace, Ports(world.store), "trl", tmp_path / "out", Options(max_side=side))
        (row,) = datasets.load_dataset(str(tmp_path / "out"), split="train", cache_dir=str(tmp_path / f"hf{side}"))
        assert [image.size for image in row["images"]] == sizes


@pytest.mark.slow
def test_an_endless_episode_and_an_endless_instruction_are_left_out(
    world: World, workspace: Workspace, tmp_path: Path
) -> None:
    good, long, wordy = (make_task("mousepad", seed=n) for n in range(3))
    wordy = wordy.model_copy(update={"instruction": "x" * 100_000_000})
    last = world.node(40_000, 39_999, act("finish", status="success"))
    click = world.node(0, -1, act("wait", seconds=1))
    nodes = (*(click.model_copy(update={"index": n, "parent": n - 1}) for n in range(40_000)), last)
    episodes = (world.replay(good), world.replay(long).model_copy(update={"nodes": nodes}), world.replay(wordy))
    keep(workspace, RoundData(round=1, tasks=(good, long, wordy), episodes=episodes))
    for history, rows in ((None, 1), (3, 2)):
        made = release(workspace, Ports(world.store), "trl", tmp_path / "out", Options(history=history))
        assert made.dropped == {"too-long": 1, "instruction-too-long": 1} and made.splits == {"train": rows}


def test_pictures_that_do_not_fit_into_one_row_are_left_out(
    world: World, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuamaster.exports.pictures.MAX_ROW_BYTES", 500)
    keep(workspace, collected(world, 1, 1))
    whole = release(workspace, Ports(world.store), "trl", tmp_path / "out", Options())
    assert (whole.splits, whole.dropped) == ({}, {"too-large": 1})
    assert release(workspace, Ports(world.store), "trl", tmp_path / "out", Options(history=1)).splits == {"train": 4}


# -- other processes ------------------------------------------------------------------------------------------------------

_SLOWLY = """
import sys, time
from pathlib import Path
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.exports.options import Options
from cuamaster.exports.pictures import Album
from cuamaster.stages import Ports, release
from cuamaster.tables import Workspace

root, out, history, pause = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
show = Album.show

def slow(self, pictures):
    print("row", flush=True)
    time.sleep(pause)
    return show(self, pictures)

Album.show = slow
workspace = Workspace(root)
print(release(workspace, Ports(LocalStore(workspace.blobs)), "trl", out, Options(history=history)).splits, flush=True)
"""


def begin(workspace: Workspace, out: Path, history: int, pause: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _SLOWLY, str(workspace.root), str(out), str(history), str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_kill_9_leaves_the_old_dataset_whole(world: World, workspace: Workspace, tmp_path: Path) -> None:
    keep(workspace, collected(world, 1, 4))
    out = tmp_path / "out" / "trl"
    made = release(workspace, Ports(world.store), "trl", out, Options(history=2))
    before = hashes(out)
    process = begin(workspace, out, 3, 0.3)
    assert process.stdout is not None
    for _ in range(3):
        assert process.stdout.readline() == "row\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert [path.name for path in out.parent.glob(".tmp-*")], "it was killed before it had begun to write"
    assert hashes(out) == before and Release.model_validate_json((out / "manifest.json").read_bytes()) == made
    again = release(workspace, Ports(world.store), "trl", out, Options(history=3))
    assert again.splits == {"train": 16} and not list(out.parent.glob(".tmp-*"))


def test_what_the_disk_refuses_while_more_is_written_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel tells only once that written data could not be stored, and here the first to ask is not the last."""
    monkeypatch.setattr(writer, "GROUP_BYTES", 1)
    asked: list[threading.Thread] = []
    real = os.fsync

    def fsync(file: int) -> None:
        asked.append(threading.current_thread())
        if len(asked) == 1:
            raise OSError(errno.ENOSPC, "no space left")
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    rows = [{"text": "word " * 1000}] * 3
    with pytest.raises(StoreFull):
        writer.write_rows(tmp_path / "a.parquet", pa.schema([("text", pa.string())]), rows)
    assert asked[0] is not threading.main_thread() and list(tmp_path.iterdir()) == []


def test_two_exports_at_once_to_one_folder_come_one_after_the_other(
    world: World, workspace: Workspace, tmp_path: Path
) -> None:
    keep(workspace, collected(world, 1, 3))
    out = tmp_path / "out"
    processes = [begin(workspace, out, history, 0.05) for history in (2, 3)]
    seen: list[set[str]] = []
    while any(process.poll() is None for process in processes):
        if out.exists():
            seen.append({path.name for path in out.iterdir()})
        time.sleep(0.02)
    assert [process.returncode for process in processes] == [0, 0], [p.stderr.read() for p in processes if p.stderr]
    assert all(names == {"manifest.json", "dropped.jsonl", "README.md", "train"} for names in seen)
    made = Release.model_validate_json((out / "manifest.json").read_bytes())
    assert made.options.history in (2, 3) and {file.name for file in made.files} == {"train/r001-00000.parquet"}
    assert hashes(out)["train/r001-00000.parquet"] == made.files[0].sha256
