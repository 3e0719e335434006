"""How well and how fast the screen gate tells screens from everything else: `python benchmarks/screen_gate.py [RECORDING...]` prints JSON.

The clips are drawn and encoded when it runs (benchmarks/footage), the bundled tutorials are judged beside them. `tuned`: families and seeds on
which limits were chosen; `held`: other seeds, and families that nothing was chosen on. A RECORDING given is judged as a screen, or, as
`kind:path` with a kind of the gate (camera:film.mp4), as what is said. With --read what passes is read as well: words, confidence,
height, language. Times compare the look at frames with ffmpeg's plain decode of the same file, one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

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

KINDS = ("screen", "camera", "game", "slides", "animation", "still", "blank")


def overlap(one: PixelBox | None, two: PixelBox | None) -> float:
    """Intersection over union of two rectangles; two that are not there are the same."""
    if one is None or two is None:
        return float(one is two)
    wide, tall = min(one[2], two[2]) - max(one[0], two[0]), min(one[3], two[3]) - max(one[1], two[1])
    shared = max(0, wide) * max(0, tall)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, two))
    return shared / (areas - shared)


def judged(path: Path, *, decode: bool = True) -> dict[str, Any]:
    """The gate's look at one file, and how long it and a plain decode took."""
    frames = FfmpegFrames()
    info = frames.probe(path)
    began = time.perf_counter()
    seen = look(frames.glimpses(path, moments(info.duration), count=PICTURES, apart=APART, longest=LONGEST))
    looked = time.perf_counter() - began
    region, camera = placed(seen, path, frames) if seen.kind == "screen" else (None, None)
    row: dict[str, Any] = {
        "kind": seen.kind.removesuffix("-picture"), "share": round(seen.share, 2), "region": region, "camera": camera,
        "moments": len(seen.moments), "seconds": round(info.duration, 1), "frames": round(info.duration * info.fps), "look_s": round(looked, 3),
    }  # fmt: skip
    if decode:
        began = time.perf_counter()
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-an", "-f", "null", "-"], check=True)
        row["decode_s"] = round(time.perf_counter() - began, 3)
    return row


def scored(clip: Clip, path: Path, *, decode: bool = True) -> dict[str, Any]:
    """A clip's row beside its truth."""
    row = judged(path, decode=decode)
    row = {"clip": clip.name, "family": clip.family, "true_kind": clip.kind, "true_share": round(clip.share, 2), **row}
    if clip.kind == "screen" and row["kind"] == "screen":
        row["region_iou"] = round(overlap(clip.region, row["region"]), 3)
        row["camera_iou"] = round(overlap(clip.camera, row["camera"]), 3)
    return row


def figures(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Precision and recall of each kind, places, shares and speed over the rows of one set."""
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
        "share_error": spread(abs(row["share"] - row["true_share"]) for row in places if "true_share" in row), **speed(rows),
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


def speed(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Frames of the recordings a second: by the look, by decoding them all, and the ratio."""
    timed = [row for row in rows if "decode_s" in row]
    if not timed:
        return {}
    frames, look_s, decode_s = (sum(row[name] for row in timed) for name in ("frames", "look_s", "decode_s"))
    return {
        "gate_frames_per_s": round(frames / look_s, 1), "decode_frames_per_s": round(frames / decode_s, 1), "times_decode": round(decode_s / look_s, 2),
    }  # fmt: skip


def long_recording(folder: Path, minutes: int) -> dict[str, Any]:
    """A bundled tutorial over and over until it is so long: the gate's cost does not grow with the length."""
    source, path = samples_folder() / "mousepad-notes" / "tutorial.mp4", folder / "long.mp4"
    times = int(minutes * 60 / FfmpegFrames().probe(source).duration)
    command = ["ffmpeg", "-v", "error", "-y", "-stream_loop", str(times), "-i", str(source), "-c", "copy", str(path)]
    subprocess.run(command, check=True)
    row = judged(path)
    path.unlink()
    return {**row, **speed([row])}


def legible(path: Path, reader: RapidOcrReader) -> dict[str, Any]:
    """What the whole gate says of a recording."""
    frames = FfmpegFrames()
    media = Media(video_id=path.stem, path=str(path), sha256="", info=frames.probe(path))
    began = time.perf_counter()
    kept, dropped = gate(media, frames=frames, reader=reader)
    told = (
        kept[0].model_dump(include={"text_height", "confidence", "language"})
        if kept
        else {"dropped": dropped[0].reason}
    )
    return {**told, "gate_s": round(time.perf_counter() - began, 2)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="*", help="further recordings, PATH or KIND:PATH")
    parser.add_argument("--sets", nargs="*", default=["tuned", "held"], choices=("tuned", "held"))
    parser.add_argument(
        "--minutes", type=int, default=10, help="length of the recording that speed is measured on; 0: none"
    )
    parser.add_argument("--read", action="store_true", help="read what passes of the recordings, too")
    parser.add_argument("--work", type=Path, help="keep the clips here, and take those that are there")
    parser.add_argument("--no-decode", action="store_true", help="leave out the plain decode of the clips")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.work or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found: dict[str, list[dict[str, Any]]] = {}
        for name in arguments.sets:
            found[name] = []
            for clip in {"tuned": tuned, "held": held}[name]():
                path = folder / f"{clip.name}.mp4"
                path = path if path.exists() else write(clip, folder)
                found[name].append(scored(clip, path, decode=not arguments.no_decode))
                if arguments.work is None:
                    path.unlink()
        reader = RapidOcrReader()
        recordings = []
        for name in [*map(str, sorted(samples_folder().glob("*/tutorial.mp4"))), *arguments.recordings]:
            kind, _, place = name.rpartition(":")
            path = Path(place)
            row = {
                "recording": f"{path.parent.name}/{path.name}",
                "family": "recording",
                "true_kind": kind or "screen",
                **judged(path, decode=not arguments.no_decode),
            }
            recordings.append({**row, **(legible(path, reader) if arguments.read and row["kind"] == "screen" else {})})
        long = long_recording(folder, arguments.minutes) if arguments.minutes else {}
    machine = {
        "cpus": os.cpu_count(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
    }
    sets = {name: figures(rows) for name, rows in {**found, "recordings": recordings}.items()}
    wrong = [
        row
        for rows in found.values()
        for row in rows
        if row["kind"] != row["true_kind"] or min(row.get("region_iou", 1), row.get("camera_iou", 1)) < 0.9
    ]
    print(
        json.dumps(
            {"machine": machine, "sets": sets, "recordings": recordings, "long": long, "wrong_or_displaced": wrong},
            indent=1,
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
