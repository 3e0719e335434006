"""Some moments of a recording of any length, as quickly as ffmpeg gives them: small grey pictures from the key frames on.

One short ffmpeg run a moment, unless the recording is short or has hardly a key frame: it seeks to the key frame before (nothing is decoded on the way), gives a few pictures and ends. `showinfo`
tells their true times.
"""

from __future__ import annotations

import logging
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cuamaster.errors import DecoderStarved
from cuamaster.ports import Glimpse, Gray

log = logging.getLogger(__name__)
SHORT_SECONDS = 60.0
"""Up to this length one pass costs no more than the runs (65 s of 1280x800: 3.1 CPU seconds in nine runs, 2.6 to decode it all)."""
FEW = 4
"""So many different moments must be reached through key frames, or a short recording is read as a whole."""
SCANNED_SECONDS = 300.0
"""Longer recordings are never read as a whole."""
_MOMENT_SECONDS, _SCAN_SECONDS = 60, 180
"""Processor time that one moment, and a pass over a whole recording, may take before they are given up."""
_WAIT = 10
"""So many times as long may pass by the clock; then it is the machine that has no time for it, or its disk."""
_ALL_SECONDS = 600.0
"""After so long, by the clock, the moments there are must do."""
_TIME = re.compile(rb"\bpts_time:\s*(-?[\d.]+)")


@dataclass(frozen=True)
class Take:
    """What is wanted of a moment: so many pictures, so many seconds apart, of this width and height."""

    count: int
    apart: float
    size: tuple[int, int]

    def pictures(self, data: bytes) -> list[Gray]:
        """The pictures of raw grey bytes; an incomplete last one is left out."""
        width, height = self.size
        whole = len(data) // (width * height)
        return list(np.frombuffer(data, np.uint8, whole * width * height).reshape(whole, height, width))


def moments(program: str, path: Path, times: Sequence[float], take: Take) -> list[Glimpse]:
    """A glimpse from the key frame before each of `times` (seconds, in order); the same key frame counts once."""
    found: list[Glimpse] = []
    deadline = time.monotonic() + _ALL_SECONDS
    # A little less than `apart`: the next frame of an uneven frame rate may come early.
    spaced = f"select=isnan(prev_selected_t)+gte(t-prev_selected_t\\,{0.95 * take.apart:.3f})"
    for t in times:
        if time.monotonic() > deadline:
            log.warning("%s: looked at %d of %d moments in %.0f s", path, len(found), len(times), _ALL_SECONDS)
            break
        before = ["-noaccurate_seek", "-ss", f"{max(0.0, t):.3f}", "-copyts"]
        after = ["-frames:v", str(take.count)]
        data, shown = _run(program, path, before, f"{spaced},{_scale(take)}", after, _MOMENT_SECONDS)
        pictures = take.pictures(data)
        if pictures and shown and not (found and shown[0] <= found[-1].t):
            found.append(Glimpse(shown[0], tuple(pictures)))
    return found


def scanned(program: str, path: Path, times: Sequence[float], take: Take) -> list[Glimpse]:
    """A glimpse at each of `times`, out of one pass over the recording."""
    starts = sorted({int(max(0.0, t) / take.apart) for t in times})
    wanted = "+".join(f"between(n\\,{start}\\,{start + take.count - 1})" for start in starts)
    filters = f"fps={1 / take.apart:.6f}:start_time=0,select={wanted},{_scale(take)}"
    data, shown = _run(program, path, [], filters, [], _SCAN_SECONDS)
    pictures = dict(zip((round(t / take.apart) for t in shown), take.pictures(data), strict=False))
    groups = ((start, [pictures[n] for n in range(start, start + take.count) if n in pictures]) for start in starts)
    return [Glimpse(start * take.apart, tuple(group)) for start, group in groups if group]


def _scale(take: Take) -> str:
    return f"scale={take.size[0]}:{take.size[1]}:flags=area,format=gray,showinfo"


def _run(
    program: str, path: Path, before: list[str], filters: str, after: list[str], seconds: int
) -> tuple[bytes, list[float]]:
    command = [
        "prlimit",
        f"--cpu={seconds}",
        program,
        "-nostdin",
        "-hide_banner",
        "-nostats",
        "-v",
        "info",
        *before,
        "-i",
        str(path),
        "-an",
        "-sn",
        "-dn",
        "-vf",
        filters,
    ]
    command += ["-fps_mode", "passthrough", *after, "-f", "rawvideo", "pipe:"]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_WAIT * seconds, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired as exc:
        raise DecoderStarved(
            f"{path}: ffmpeg gave no answer in {_WAIT * seconds} s and used less than {seconds} s of the processor",
            hint="run it again when the machine is less busy, or from a disk that answers",
        ) from exc
    if done.returncode == -signal.SIGXCPU:
        log.warning("%s: given up after %d s of the processor", path, seconds)
    return done.stdout, [float(value) for value in _TIME.findall(done.stderr)]
