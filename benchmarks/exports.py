"""Datasets for trainers: MB/s against plain pyarrow writing the same bytes, peak memory against size, bytes a trajectory; JSON on stdout."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cuamaster.action_space import CUAAction
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.exports.options import Options
from cuamaster.exports.profiles import profile
from cuamaster.exports.release import write_release
from cuamaster.exports.samples import Sample, samples
from cuamaster.records.condition import FileExists
from cuamaster.records.episode import Episode, Node
from cuamaster.records.primitive import ActionTemplate, Primitive, Procedure
from cuamaster.records.record import Record
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.records.trajectory import Action, Observation
from cuamaster.records.verdict import Verdict
from cuamaster.stages import Ports, release
from cuamaster.stages.releasing import freeze, thaw
from cuamaster.tables import Workspace

STEPS = 12
TURNS = 5
PICTURE = 300_000
"""Bytes of a screenshot, as a desktop with a photograph on it gives."""


def main() -> None:
    """Each measurement in a process of its own, so that peaks of memory are its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=600, help="pictures written for speed, in MB")
    parser.add_argument(
        "--gb", type=float, nargs="*", default=[0.25, 1.0], help="pictures written for memory, in GB each"
    )
    parser.add_argument("--workspace", type=Path, help="a workspace with collected rounds: its bytes a trajectory")
    parser.add_argument("--folder", type=Path, help="where to write (default: the system's temporary folder)")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            print(json.dumps(_part(args.part, args, Path(folder))))
        return
    machine = {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
    }
    parts = ["speed", *(f"memory:{gb}" for gb in args.gb), *(["bytes"] if args.workspace else [])]
    print(json.dumps({"machine": machine, **{part: _own_process(part, sys.argv[1:]) for part in parts}}, indent=2))


def _own_process(part: str, arguments: list[str]) -> object:
    command = [sys.executable, __file__, *arguments, "--part", part]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _part(part: str, args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    if part == "speed":
        return speed(args.mb, folder)
    if part == "bytes":
        return sizes(args.workspace, folder)
    return memory(float(part.partition(":")[2]), folder)


def speed(megabytes: int, folder: Path) -> dict[str, Any]:
    """Medians of five, in turn, of the same pictures written as a dataset and by plain pyarrow from memory; once as a whole release,
    in which every picture is decoded before the dataset is put in place. Each begins with nothing left to be flushed to the disk, or
    it would wait for what the one before it wrote."""
    workspace = _workspace(folder, megabytes * 1e6)
    plain, written, stepwise, effort = [], [], [], []
    for _ in range(TURNS):
        begun = time.process_time()
        written.append(_alone(folder / "written", lambda out: _written(workspace, out, Options())))
        effort.append((time.process_time() - begun) * 1e9 / _blob_bytes(workspace))
        plain.append(_alone(folder / "plain", lambda out: _plain(workspace, out)))
        stepwise.append(_alone(folder / "steps", lambda out: _written(workspace, out, Options(history=3))))
    whole = _alone(folder / "whole", lambda out: _release(workspace, out, Options())[0])
    shown = sum(min(step + 1, 3) for step in range(STEPS)) / STEPS
    return {
        "mb": round(_blob_bytes(workspace) / 1e6, 1),
        "plain_pyarrow_mb_per_s": round(median(plain), 1),
        "written_mb_per_s": round(median(written), 1),
        "written_against_plain": round(median(a / b for a, b in zip(written, plain, strict=True)), 2),
        "written_cpu_ms_per_mb": round(min(effort), 2),
        "sha256_cpu_ms_per_mb": round(_sha256_ms_per_mb(), 2),
        "written_history_3_mb_per_s": round(median(stepwise), 1),
        "written_history_3_mb_shown_per_s": round(median(stepwise) * shown, 1),
        "checked_release_mb_per_s": round(whole, 1),
        "row_cpu_ms": _row_cpu_ms(workspace, Options()),
        "row_history_3_cpu_ms": _row_cpu_ms(workspace, Options(history=3)),
        "all_plain": [round(value) for value in plain],
        "all_written": [round(value) for value in written],
    }


def _alone(out: Path, measure: Callable[[Path], float]) -> float:
    """What is measured of writing to a place that is empty before and after, on a disk at rest."""
    os.sync()
    rate = measure(out)
    shutil.rmtree(out)
    return rate


def _sha256_ms_per_mb() -> float:
    """What one digest costs; a dataset pays it twice, once for each picture that is read and once for the file that is written."""
    data = bytes(64 << 20)
    begun = time.process_time()
    hashlib.sha256(data)
    return (time.process_time() - begun) * 1e9 / len(data)


def _row_cpu_ms(workspace: Workspace, options: Options) -> float:
    """CPU of saying one row, without its pictures: the least of five turns over a few episodes."""
    told = (item for item in samples(thaw(workspace, freeze(workspace, 1))) if isinstance(item, Sample))
    some = list(islice(told, 20))
    spent = []
    for _ in range(TURNS):
        begun = time.process_time()
        rows = sum(1 for sample in some for _ in profile("trl").rows(sample, options))
        spent.append((time.process_time() - begun) * 1000 / rows)
    return round(min(spent), 3)


def memory(gigabytes: float, folder: Path) -> dict[str, Any]:
    """Peak memory that a release adds to a process that has written a small one."""
    small = _workspace(folder / "small", 30e6)
    _release(small, folder / "warm", Options())
    workspace = _workspace(folder / "large", gigabytes * 1e9)
    before = _peak_mb()
    rate, files = _release(workspace, folder / "out", Options())
    after = _peak_mb()
    return {
        "gb": round(_blob_bytes(workspace) / 1e9, 2),
        "files": files,
        "mb_per_s": round(rate, 1),
        "peak_before_mb": round(before, 1),
        "peak_after_mb": round(after, 1),
    }


def sizes(root: Path, folder: Path) -> dict[str, Any]:
    """Bytes a trajectory of a real workspace: its screenshots as files, and datasets of it."""
    workspace = Workspace(root)
    found = [
        item
        for item in samples(thaw(workspace, freeze(workspace, max(workspace.rounds()))))
        if isinstance(item, Sample) and item.proof != "none"
    ]
    digests = [step.observation.screenshot for item in found for step in item.steps]
    store = LocalStore(workspace.blobs)
    raw = sum(store.path(digest).stat().st_size for digest in digests)
    result: dict[str, Any] = {
        "trajectories": len(found),
        "screenshots": len(digests),
        "raw_png_bytes_per_trajectory": raw // max(1, len(found)),
    }
    for name, options in (("trl", Options()), ("trl", Options(history=3)), ("ms-swift", Options(max_side=640))):
        label = f"{name}_history_{options.history}_side_{options.max_side}".replace("None", "all")
        _release(workspace, folder / label, options, name)
        written = sum(path.stat().st_size for path in (folder / label).rglob("*.parquet"))
        result[f"{label}_bytes_per_trajectory"] = written // max(1, len(found))
    return result


def _release(workspace: Workspace, out: Path, options: Options, name: str = "trl") -> tuple[float, int]:
    """(MB of blobs a second, files)."""
    begun = time.perf_counter()
    made = release(workspace, Ports(LocalStore(workspace.blobs)), name, out, options)
    seconds = time.perf_counter() - begun
    return _blob_bytes(workspace) / 1e6 / seconds, len(made.files)


def _written(workspace: Workspace, folder: Path, options: Options) -> float:
    """MB/s of a dataset's files, from the rounds' rows and blobs."""
    begun = time.perf_counter()
    write_release(
        profile("trl"), samples(thaw(workspace, freeze(workspace, 1))), options, LocalStore(workspace.blobs), folder
    )
    return _blob_bytes(workspace) / 1e6 / (time.perf_counter() - begun)


def _plain(workspace: Workspace, folder: Path) -> float:
    """MB a second of the same pictures from memory: one row group after the other, as they come, then fsync; nothing read or hashed."""
    folder.mkdir()
    store = LocalStore(workspace.blobs)
    kind = pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
    schema = pa.schema([("images", kind)])
    digests = [place.name for place in workspace.blobs.glob("*/*")]
    size, seconds = 0, 0.0
    with (folder / "plain.parquet").open("wb") as file:
        with pq.ParquetWriter(file, schema, compression="none", use_dictionary=False) as writer:
            for start in range(0, len(digests), 9 * STEPS):
                pictures = [
                    {"bytes": store.get(digest), "path": digest} for digest in digests[start : start + 9 * STEPS]
                ]
                rows = [pictures[n : n + STEPS] for n in range(0, len(pictures), STEPS)]
                table = pa.table([pa.array(rows, kind)], schema=schema)
                size += sum(len(picture["bytes"]) for picture in pictures)
                begun = time.perf_counter()
                writer.write_table(table)
                seconds += time.perf_counter() - begun
        begun = time.perf_counter()
        file.flush()
        os.fsync(file.fileno())
        seconds += time.perf_counter() - begun
    return size / 1e6 / seconds


def _blob_bytes(workspace: Workspace) -> int:
    return sum(place.stat().st_size for place in workspace.blobs.glob("*/*"))


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _workspace(folder: Path, size: float) -> Workspace:
    """One closed round of verified episodes whose screenshots have so many bytes in all."""
    workspace = Workspace(folder)
    pictures = _pictures(LocalStore(workspace.blobs))
    kept: dict[str, list[Record]] = {"compose": [], "collect": []}
    stages = {name: workspace.round(1).stage(name) for name in kept}
    count = max(1, round(size / PICTURE / STEPS))
    for number in range(count):
        task = _task(number)
        kept["compose"].append(task)
        kept["collect"].append(_episode(task, [next(pictures) for _ in range(STEPS)]))
        if number % 500 == 499 or number == count - 1:
            for name, stage in stages.items():
                stage.write(f"{name}-{number:06d}", kept[name])
                kept[name] = []
    for name, stage in stages.items():
        stage.close(name)
    return workspace


def _pictures(store: LocalStore) -> Iterator[str]:
    """Digests of different pictures: a plain desktop with a window full of noise, as a photograph is to PNG."""
    random = np.random.default_rng(0)
    side = round((PICTURE / 3) ** 0.5)
    screen = np.full((800, 1280, 3), 90, np.uint8)
    while True:
        screen[100 : 100 + side, 200 : 200 + side] = random.integers(0, 256, (side, side, 3), np.uint8)
        yield _put(store, cv2.imencode(".png", screen, [cv2.IMWRITE_PNG_COMPRESSION, 1])[1].tobytes())


def _put(store: LocalStore, data: bytes) -> str:
    """As `store.put`, but without waiting for the disk: this is not what is measured."""
    digest = hashlib.sha256(data).hexdigest()
    path = store.path(digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return digest


def _task(seed: int) -> Task:
    done = FileExists(path="~/done")
    procedure = Procedure(mode="gui", steps=(ActionTemplate(type="wait", args={"seconds": 1}),))
    primitive = Primitive(
        app="mousepad", ability="save", instruction="Save", effects=(done,), verifier=done, procedures=(procedure,)
    )
    return Task(
        instruction="Save the file", environment=Environment(image="light-desktop", image_digest="digest"), verifier=done,
        plan=(PrimitiveUse(primitive=primitive),), strategy="sequential", domain="office", seed=seed,
    )  # fmt: skip


def _episode(task: Task, digests: list[str]) -> Episode:
    nodes = []
    for index, digest in enumerate(digests):
        last = index == len(digests) - 1
        action = (
            CUAAction("finish", {"status": "success"}) if last else CUAAction("mouse.click", {"x": index, "y": 500})
        )
        seen = Observation(screenshot=digest, width=1280, height=800)
        nodes.append(
            Node(
                index=index,
                parent=index - 1,
                observation=seen,
                actions=(Action(action=action),),
                thought="Click",
                use=0,
            )
        )
    return Episode(
        id=f"episode-{task.seed}", task_id=task.id, policy="replay", mode="gui", outcome="passed",
        verdict=Verdict(status="passed"), nodes=tuple(nodes), image_digest="digest",
    )  # fmt: skip


if __name__ == "__main__":
    main()
