"""The clips of the screen gate's benchmark, and how one is written to a file as publishers do: H.264 of varying quality and key frame distance."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from footage.cameras import blank, filmed_screen, hands, moving_view, slow_zoom, still, talking_head
from footage.drawing import FPS, Clip
from footage.games import animation, platformer, shooter, walk
from footage.screens import after, desk, recorded, terminal, with_bars, with_corner_camera, with_side_camera
from footage.slides import slides

from cuamaster.assets import samples_folder

TUNED_SEEDS = (0, 1)
HELD_SEEDS = (100, 101)


def tuned(seeds: tuple[int, ...] = TUNED_SEEDS) -> list[Clip]:
    """Families on which the gate's limits were chosen."""
    return [clip for seed in seeds for clip in _common(seed)]


def held(seeds: tuple[int, ...] = HELD_SEEDS) -> list[Clip]:
    """The same families with other seeds, and families that nothing was chosen on."""
    return [clip for seed in seeds for clip in (*_common(seed), *_new(seed))]


def _common(seed: int) -> list[Clip]:
    real = recorded(samples_folder() / "mousepad-notes" / "tutorial.mp4", seed, start=8.0 + 7 * (seed % 5))
    return [
        desk(seed), with_corner_camera(desk(seed + 10), seed), with_corner_camera(real, seed), with_side_camera(desk(seed + 20), seed),
        with_bars(desk(seed + 30), seed, "pillar"), with_bars(desk(seed + 40), seed, "portrait"),
        after(talking_head(seed + 50), desk(seed + 50), seed, 0.5),
        talking_head(seed), moving_view(seed), walk(seed), platformer(seed), slides(seed), slides(seed, decorated=True), still(seed), blank(seed),
    ]  # fmt: skip


def _new(seed: int) -> list[Clip]:
    real = recorded(samples_folder() / "pcmanfm-folders" / "tutorial.mp4", seed, start=6.0 + 3 * (seed % 3))
    return [
        desk(seed + 60, viewport=True), terminal(seed), real, with_corner_camera(desk(seed + 70), seed, round_=True), with_corner_camera(terminal(seed), seed),
        with_side_camera(real, seed), with_bars(real, seed, "letter"), with_bars(real, seed, "blur"), after(slides(seed + 80), real, seed, 0.4),
        hands(seed), filmed_screen(desk(seed + 90), seed), filmed_screen(real, seed), slow_zoom(seed), shooter(seed), animation(seed),
    ]  # fmt: skip


def write(clip: Clip, folder: Path) -> Path:
    """Encode a clip; quality (CRF 18-32), encoder effort and key frame distance follow from its name."""
    path = folder / f"{clip.name}.mp4"
    random = np.random.default_rng([sum(clip.name.encode()), clip.seed])
    crf, gop = int(random.integers(18, 33)), int(FPS * random.choice([2, 4, 8]))
    width, height = clip.size
    command = (
        f"ffmpeg -v error -y -f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {FPS} -i - -an -c:v libx264 -preset veryfast -crf {crf} -g {gop} "
        "-pix_fmt yuv420p"
    )
    with subprocess.Popen([*command.split(), str(path)], stdin=subprocess.PIPE) as encoder:
        if encoder.stdin is None:  # cannot be: a pipe was asked for
            raise SystemExit("ffmpeg took no pictures")
        for frame in clip.frames():
            encoder.stdin.write(np.ascontiguousarray(frame).tobytes())
        encoder.stdin.close()
    if encoder.returncode:
        raise SystemExit(f"{path}: ffmpeg ended with {encoder.returncode}")
    return path
