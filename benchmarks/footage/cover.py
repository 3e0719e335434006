"""A tutorial again, with a presenter's camera filling the picture wherever its truth says that no task is shown."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from footage.cameras import talking_head
from footage.make import write

LEAST_SECONDS, AROUND = 4.0, 1.0
"""Shorter stretches stay, and around tasks the screen is seen: what is there when a task begins and ends is part of it."""


def stretches(tasks: list[dict[str, float]], duration: float) -> list[tuple[float, float]]:
    """Seconds between tasks that are covered."""
    ends = [0.0, *(task["t_end"] + AROUND for task in tasks)]
    starts = [*(task["t_start"] - AROUND for task in tasks), duration]
    return [(a, b) for a, b in zip(ends, starts, strict=True) if b - a >= LEAST_SECONDS]


def cover(folder: Path, out: Path) -> Path:
    """The folder of the covered recording, with truth, captions and the rest beside it; made once."""
    target = out / folder.name
    if (target / "tutorial.mp4").exists():
        return target
    target.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.suffix != ".mp4":
            shutil.copy(file, target / file.name)
    truth = json.loads((folder / "truth.json").read_text())
    seed = 200 + sum(folder.name.encode()) % 100  # none of the gate's own benchmark
    presenter = write(talking_head(seed), target)
    shown = "+".join(f"between(t,{a:.2f},{b:.2f})" for a, b in stretches(truth["tasks"], truth["duration"]))
    part, (width, height) = target / "part.mp4", truth["size"]
    filters = f"[1:v]scale={width}:{height}:flags=bicubic[c];[0:v][c]overlay=enable='{shown}':shortest=1[v]"
    command = [
        "ffmpeg",
        "-v",
        "error",
        "-y",
        "-i",
        str(folder / "tutorial.mp4"),
        "-stream_loop",
        "-1",
        "-i",
        str(presenter),
    ]
    command += ["-filter_complex", filters, "-map", "[v]", "-map", "0:a", "-map_chapters", "0", "-c:a", "copy"]
    subprocess.run(
        [*command, "-c:v", "libx264", "-preset", "veryfast", "-crf", "24", "-pix_fmt", "yuv420p", str(part)], check=True
    )
    presenter.unlink()
    part.rename(target / "tutorial.mp4")
    return target
