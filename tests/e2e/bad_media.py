"""Makes recordings that cannot be used, and one short good one, with ffmpeg; and runs the command line on them."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from cuamaster.assets import samples_folder

GOOD_CUES = (
    (1.474, 5.533, "Click in the empty page and type milk, eggs and bread."),
    (7.259, 10.309, "Now open the File menu and choose Save As."),
    (13.533, 18.095, "Type the name groceries.txt and then click the Save button."),
)
"""What is said from second 12 to 32 of the bundled Mousepad tutorial."""
SPOKEN = ("Open the File menu.", "Then click Save As.", "Type hello and press Enter.")


def cuamaster(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """The command line in a folder of its own, so that no cuamaster.toml of the checkout is read."""
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(Path(__file__).parents[2])]))
    return subprocess.run(
        [sys.executable, "-m", "cuamaster.cli", *args],
        capture_output=True, text=True, check=False, cwd=cwd, timeout=240, env={**os.environ, "PYTHONPATH": path, **env},
    )  # fmt: skip


def good_recording(folder: Path) -> None:
    """Twenty seconds of the bundled Mousepad tutorial with their captions: type a list and save it."""
    folder.mkdir(parents=True, exist_ok=True)
    _ffmpeg(
        "-ss", "12", "-t", "20", "-i", samples_folder() / "mousepad-notes" / "tutorial.mp4", "-an", folder / "good.mp4"
    )
    cues = (f"{_stamp(start)} --> {_stamp(end)}\n{text}\n" for start, end, text in GOOD_CUES)
    (folder / "good.vtt").write_text("WEBVTT\n\n" + "\n".join(cues))
    (folder / "good.info.json").write_text(json.dumps({"title": "Mousepad tutorial: write and save a note"}))


def bad_recordings(folder: Path) -> None:
    """One of every kind; each has another length, so that no two are the same file."""
    folder.mkdir(parents=True, exist_ok=True)
    _picture(folder / "whole.mp4", 16)
    data = (folder / "whole.mp4").read_bytes()
    (folder / "corrupt.mp4").write_bytes(data[len(data) // 4 : len(data) // 2])
    (folder / "whole.mp4").unlink()
    (folder / "zero.mp4").touch()
    (folder / "text.mp4").write_text("this is not a recording\n")
    _ffmpeg("-f", "lavfi", "-i", "sine=d=16", folder / "novideo.mp4")
    _picture(folder / "portrait.mp4", 17, filters="crop=450:800:100:0")
    _picture(folder / "silent.mp4", 18)
    for number, name in enumerate(("backwards", "overlap", "latin", "utf16", "noise", "described")):
        _picture(folder / f"{name}.mp4", 19 + number)
    first, second, third = SPOKEN
    (folder / "backwards.srt").write_text(_srt((12, 10, third), (8, 6, second), (5, 2, first)))
    (folder / "overlap.srt").write_text(_srt((1, 9, first), (2, 12, second), (3, 15, third)))
    (folder / "latin.srt").write_bytes(_srt((1, 5, "Abra el menú Archivo."), (6, 9, second)).encode("latin-1"))
    (folder / "utf16.vtt").write_bytes(("WEBVTT\n\n" + _srt((1, 5, first))).encode("utf-16"))
    (folder / "noise.vtt").write_bytes(random.Random(7).randbytes(3000))
    (folder / "portrait.srt").write_text(_srt((1, 5, first)))
    (folder / "described.srt").write_text(_srt((1, 5, first)))
    (folder / "described.info.json").write_text('{"title": "A tutorial",\n')
    (folder / "feed.xml").write_text('<rss version="2.0"><channel>\n')


def _picture(path: Path, seconds: int, filters: str = "null") -> None:
    """So many seconds of the bundled Mousepad tutorial, without sound."""
    source = samples_folder() / "mousepad-notes" / "tutorial.mp4"
    _ffmpeg(
        "-ss", "10", "-t", str(seconds), "-i", source, "-an", "-r", "4", "-vf", filters, "-preset", "ultrafast", "-pix_fmt", "yuv420p", path
    )  # fmt: skip


def _ffmpeg(*args: str | Path) -> None:
    subprocess.run(["ffmpeg", "-y", "-v", "error", "-nostdin", *map(str, args)], check=True, timeout=60)


def _srt(*cues: tuple[float, float, str]) -> str:
    blocks = (
        f"{number}\n{_stamp(start)} --> {_stamp(end)}\n{text}\n" for number, (start, end, text) in enumerate(cues, 1)
    )
    return "\n".join(blocks)


def _stamp(seconds: float) -> str:
    return f"00:00:{seconds:06.3f}"
