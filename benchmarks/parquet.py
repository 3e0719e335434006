"""Tables and exports: parts a second, rows a second, and peak memory against the size of sft.parquet; JSON on stdout."""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from cuamaster.action_space import CUAAction
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.catalog import Catalog
from cuamaster.exports.preflight import preflight
from cuamaster.exports.samples import RoundData
from cuamaster.exports.sft import write_sft
from cuamaster.records.condition import FileExists
from cuamaster.records.episode import Dropped, Episode, Node
from cuamaster.records.primitive import ActionTemplate, Primitive, Procedure
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.records.trajectory import Action, Observation
from cuamaster.records.verdict import Verdict
from cuamaster.records.video import Video
from cuamaster.tables import Workspace


def main() -> None:
    """Run both measurements, each in a process of its own so that peaks of memory are its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=2000, help="parts written to one stage")
    parser.add_argument("--rows", type=int, default=60, help="trajectories exported")
    parser.add_argument("--steps", type=int, default=12, help="screenshots a trajectory")
    parser.add_argument("--part", choices=("tables", "export"))
    args = parser.parse_args()
    if args.part:
        result = tables(args.items) if args.part == "tables" else export(args.rows, args.steps)
        print(json.dumps(result))
        return
    machine = {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    found = {part: _own_process(part, sys.argv[1:]) for part in ("tables", "export")}
    print(json.dumps({"machine": machine, **found}, indent=2))


def _own_process(part: str, arguments: list[str]) -> object:
    done = subprocess.run(
        [sys.executable, __file__, *arguments, "--part", part], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def tables(items: int) -> dict[str, float]:
    """Write `items` parts, close, read back, look one up."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        stage = workspace.round(1).stage("discover")
        begun = time.perf_counter()
        for n in range(items):
            video = Video(
                source="local", source_id=str(n), url=f"file:///{n}", title=f"Tutorial {n}", categories=("a", "b")
            )
            stage.write(
                video.id,
                [video],
                [Dropped(item_id=f"d{n}", stage="discover", reason="too-short")] if n % 3 == 0 else [],
            )
        written = time.perf_counter()
        manifest = stage.close("inputs")
        closed = time.perf_counter()
        rows = len(stage.kept(Video))
        read = time.perf_counter()
        with Catalog(workspace) as catalog:
            catalog.find(Video(source="local", source_id=str(items // 2), url="u", title="t").id)
        looked = time.perf_counter()
        return {
            "parts_written_per_s": round(items / (written - begun), 1),
            "close_s": round(closed - written, 3),
            "rows_read_per_s": round(rows / (read - closed), 1),
            "catalog_open_and_find_s": round(looked - read, 3),
            "files_before": items + len(range(0, items, 3)),
            "files_after": len(manifest.files),
        }


def export(rows: int, steps: int) -> dict[str, float]:
    """Write and check `rows` trajectories of `steps` screenshots of 1280x800."""
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder) / "blobs")
        pictures = _pictures(store)
        tasks, episodes = [], []
        for n in range(rows):
            task = _task(n)
            tasks.append(task)
            episodes.append(_episode(task, [next(pictures) for _ in range(steps)]))
        base = _peak_mb()
        begun = time.perf_counter()
        report = write_sft([RoundData(round=1, tasks=tasks, episodes=episodes)], store, Path(folder) / "exports")
        written = time.perf_counter()
        peak = _peak_mb()
        problems = preflight(Path(folder) / "exports")
        checked = time.perf_counter()
        assert report.sft.rows == rows and not problems
        return {
            "rows": rows,
            "pictures": rows * steps,
            "file_mb": round(report.sft.bytes / 1e6, 1),
            "write_mb_per_s": round(report.sft.bytes / 1e6 / (written - begun), 1),
            "preflight_mb_per_s": round(report.sft.bytes / 1e6 / (checked - written), 1),
            "memory_added_by_write_mb": round(peak - base, 1),
            "memory_added_by_preflight_mb": round(_peak_mb() - peak, 1),
        }


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _pictures(store: LocalStore) -> Iterator[str]:
    """Different pictures of about 300 kB, as a desktop with a photograph on it gives."""
    random = np.random.default_rng(0)
    while True:
        picture = np.full((800, 1280, 3), 230, np.uint8)
        picture[200:520, 300:620] = random.integers(0, 256, (320, 320, 3))
        data = io.BytesIO()
        Image.fromarray(picture).save(data, "PNG", compress_level=1)
        yield store.put(data.getvalue())


def _task(seed: int) -> Task:
    done = FileExists(path="~/done")
    procedure = Procedure(mode="gui", steps=(ActionTemplate(type="wait", args={"seconds": 1}),))
    primitive = Primitive(
        app="mousepad", ability="save", instruction="Save", effects=(done,), verifier=done, procedures=(procedure,)
    )
    return Task(
        instruction="Save the file",
        environment=Environment(image="light-desktop", image_digest="digest"),
        verifier=done,
        plan=(PrimitiveUse(primitive=primitive),),
        strategy="sequential",
        seed=seed,
    )


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
        id=f"episode-{task.seed}",
        task_id=task.id,
        policy="replay",
        mode="gui",
        outcome="passed",
        verdict=Verdict(status="passed"),
        nodes=tuple(nodes),
        image_digest="digest",
    )


if __name__ == "__main__":
    main()
