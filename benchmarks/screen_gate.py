"""How well and how fast the screen gate tells screens from everything else: `python benchmarks/screen_gate.py [RECORDING...]` prints JSON.

The clips are drawn and encoded when it runs (benchmarks/footage), the bundled tutorials are judged beside them. `tuned`: families and seeds on
which limits were chosen; `held`: other seeds, and families that nothing was chosen on. A RECORDING given is judged as a screen, or, as
`kind:path` with a kind of the gate (camera:film.mp4), as what is said; what passes of recordings is read as well: words, confidence,
height, language.

`--only quality` judges and times nothing; `--only speed` times on the bundled tutorials, the recordings given and one of `--minutes`: the look at
moments, and the whole gate, beside ffmpeg's plain decode of the same file, one after the other, the best of `--repeat`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from footage.drawing import Clip
from footage.make import held, tuned, write

from cuamaster.adapters.frames.ffmpeg import FfmpegFrames
from cuamaster.adapters.screens.rapidocr import RapidOcrReader
from cuamaster.assets import samples_folder
from cuamaster.records.video import Media, PixelBox
from cuamaster.seeding.screen_gate import APART, PICTURES, gate, moments, placed
from cuamaster.seeding.screen_kind import look
from cuamaster.vision.screen_traits import LONGEST

FRAMES = FfmpegFrames()
KINDS = ("screen", "camera", "game", "slides", "animation", "still", "blank")


def overlap(one: PixelBox | None, two: PixelBox | None) -> float:
    """Intersection over union of two rectangles; two that are not there are the same."""
    if one is None or two is None:
        return float(one is two)
    wide, tall = min(one[2], two[2]) - max(one[0], two[0]), min(one[3], two[3]) - max(one[1], two[1])
    shared = max(0, wide) * max(0, tall)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, two))
    return shared / (areas - shared)


def judged(path: Path) -> dict[str, Any]:
    """The gate's look at one file."""
    info = FRAMES.probe(path)
    seen = look(FRAMES.glimpses(path, moments(info.duration), count=PICTURES, apart=APART, longest=LONGEST))
    region, camera = placed(seen, path, FRAMES) if seen.kind == "screen" else (None, None)
    return {
        "kind": seen.kind.removesuffix("-picture"), "share": round(seen.share, 2), "region": region, "camera": camera,
        "moments": len(seen.moments), "seconds": round(info.duration, 1),
    }  # fmt: skip


def scored(clip: Clip, path: Path) -> dict[str, Any]:
    """A clip's row beside its truth."""
    row = judged(path)
    row = {"clip": clip.name, "family": clip.family, "true_kind": clip.kind, "true_share": round(clip.share, 2), **row}
    if clip.kind == "screen" and row["kind"] == "screen":
        row["region_iou"] = round(overlap(clip.region, row["region"]), 3)
        row["camera_iou"] = round(overlap(clip.camera, row["camera"]), 3)
    return row


def figures(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Precision and recall of each kind, places and shares over the rows of one set."""
    kinds = {}
    for kind in KINDS:
        true = [row for row in rows if row["true_kind"] == kind]
        found = [row for row in rows if row["kind"] == kind]
        right = sum(row["kind"] == kind for row in true)
        if true or found:
            kinds[kind] = {
                "clips": len(true), "precision": round(right / len(found), 3) if found else None, "recall": round(right / len(true), 3) if true else None,
            }  # fmt: skip
    places = [row for row in rows if "region_iou" in row]
    covered = [row["camera_iou"] for row in places if _has_camera(row)]
    return {
        "clips": len(rows), "kinds": kinds,
        "mistakes": dict(Counter(f"{row['true_kind']} taken for {row['kind']}" for row in rows if row["true_kind"] != row["kind"])),
        "region_iou": spread(row["region_iou"] for row in places), "camera_iou": spread(covered),
        "cameras_invented": sum(row["camera"] is not None and not _has_camera(row) for row in places),
        "share_error": spread(abs(row["share"] - row["true_share"]) for row in places if "true_share" in row),
    }  # fmt: skip


def _has_camera(row: dict[str, Any]) -> bool:
    return "corner-camera" in row["family"] or "round-camera" in row["family"]


def spread(values: Iterable[float]) -> dict[str, float]:
    """Count, mean, smallest and largest."""
    found = list(values)
    if not found:
        return {"count": 0}
    return {
        "count": len(found),
        "mean": round(sum(found) / len(found), 3),
        "least": min(found),
        "most": round(max(found), 3),
    }


def timed(path: Path, repeat: int) -> dict[str, Any]:
    """Seconds of the look, of the whole gate (it reads as well), and of a plain decode; and how many times as fast as that they are."""
    info = FRAMES.probe(path)
    media = Media(video_id=path.stem, path=str(path), sha256="", info=info)
    decode = ["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-an", "-f", "null", "-"]
    works: dict[str, Callable[[], object]] = {
        "look": lambda: look(FRAMES.glimpses(path, moments(info.duration), count=PICTURES, apart=APART, longest=LONGEST)),
        "gate": lambda: gate(media, frames=FRAMES, reader=readers.pop()), "decode": lambda: subprocess.run(decode, check=True),
    }  # fmt: skip
    readers = [_started() for _ in range(repeat)]  # one a time, for a reader remembers what it has read
    best = dict.fromkeys(works, math.inf)
    for _ in range(repeat):
        for name, work in works.items():
            began = time.perf_counter()
            work()
            best[name] = min(best[name], time.perf_counter() - began)
    frames = info.duration * info.fps
    return {
        "recording": f"{path.parent.name}/{path.name}", "seconds": round(info.duration, 1), "size": (info.width, info.height),
        **{f"{name}_s": round(value, 3) for name, value in best.items()},
        **{f"{name}_frames_per_s": round(frames / value) for name, value in best.items()},
        "look_times_decode": round(best["decode"] / best["look"], 2), "gate_times_decode": round(best["decode"] / best["gate"], 2),
    }  # fmt: skip


def _started() -> RapidOcrReader:
    """A reader whose models are loaded."""
    reader = RapidOcrReader()
    reader.read(np.zeros((64, 64, 3), np.uint8))
    return reader


def long_recording(folder: Path, minutes: int) -> Path:
    """A bundled tutorial over and over until it is so long: the gate's cost does not grow with the length."""
    source, path = samples_folder() / "mousepad-notes" / "tutorial.mp4", folder / f"{minutes}-minutes.mp4"
    times = int(minutes * 60 / FRAMES.probe(source).duration)
    command = ["ffmpeg", "-v", "error", "-y", "-stream_loop", str(times), "-i", str(source), "-c", "copy", str(path)]
    subprocess.run(command, check=True)
    return path


def legible(path: Path, reader: RapidOcrReader) -> dict[str, Any]:
    """What the whole gate says of a recording."""
    media = Media(video_id=path.stem, path=str(path), sha256="", info=FRAMES.probe(path))
    kept, dropped = gate(media, frames=FRAMES, reader=reader)
    if kept:
        return kept[0].model_dump(include={"text_height", "confidence", "language"})
    return {"dropped": dropped[0].reason, "detail": dropped[0].detail}


def quality(sets: Sequence[str], recordings: Sequence[tuple[str, Path]], folder: Path, *, keep: bool) -> dict[str, Any]:
    """Figures of the drawn sets and of (kind, file) recordings; `keep` leaves the clips in the folder."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in sets:
        found[name] = []
        for clip in {"tuned": tuned, "held": held}[name]():
            path = folder / f"{clip.name}.mp4"
            path = path if path.exists() else write(clip, folder)
            found[name].append(scored(clip, path))
            print(f"{name}: {clip.name}: {found[name][-1]['kind']}", file=sys.stderr)
            if not keep:
                path.unlink()
    reader = RapidOcrReader()
    rows = []
    for kind, path in recordings:
        row = {"recording": f"{path.parent.name}/{path.name}", "family": "recording", "true_kind": kind, **judged(path)}
        rows.append({**row, **(legible(path, reader) if row["kind"] == "screen" else {})})
    everything = {**found, "recordings": rows}
    wrong = [row for part in everything.values() for row in part if _wrong(row)]
    return {
        "sets": {name: figures(part) for name, part in everything.items()},
        "recordings": rows,
        "wrong_or_displaced": wrong,
    }


def _wrong(row: dict[str, Any]) -> bool:
    return row["kind"] != row["true_kind"] or min(row.get("region_iou", 1), row.get("camera_iou", 1)) < 0.9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="*", help="further recordings, PATH or KIND:PATH")
    parser.add_argument("--sets", nargs="*", default=["tuned", "held"], choices=("tuned", "held"))
    parser.add_argument(
        "--only", choices=("quality", "speed"), help="one of the two parts; speed wants a quiet machine"
    )
    parser.add_argument(
        "--minutes", type=int, default=10, help="length of the recording that speed is measured on; 0: none"
    )
    parser.add_argument("--repeat", type=int, default=3, help="times each file is timed; the best counts")
    parser.add_argument("--work", type=Path, help="keep the clips here, and take those that are there")
    arguments = parser.parse_args()
    named = [
        (kind or "screen", Path(path)) for kind, _, path in (name.rpartition(":") for name in arguments.recordings)
    ]
    recordings = [*(("screen", path) for path in sorted(samples_folder().glob("*/tutorial.mp4"))), *named]
    found: dict[str, Any] = {
        "machine": {"cpus": os.cpu_count(), "platform": platform.platform(), "python": platform.python_version(), "load": os.getloadavg()[0]}
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.work or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if arguments.only != "speed":
            found |= quality(arguments.sets, recordings, folder, keep=arguments.work is not None)
        if arguments.only != "quality":
            paths = [path for _, path in recordings]
            paths += [long_recording(Path(scratch), arguments.minutes)] if arguments.minutes else []
            found["speed"] = [timed(path, arguments.repeat) for path in paths]
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
