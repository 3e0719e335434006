"""Recordings that show the same after another encoding, and those that only look alike."""

from __future__ import annotations

from pathlib import Path

import ffmpeg
import numpy as np
import pytest

from cuamaster.adapters.frames.ffmpeg import FfmpegFrames
from cuamaster.assets import asset_folder
from cuamaster.vision.fingerprint import FRAMES, fingerprint, same_footage

SAMPLES = Path(asset_folder("taxonomy")).parent / "cuamaster" / "samples"


def seen(path: Path) -> tuple[tuple[str, ...], float]:
    frames = FfmpegFrames()
    length = frames.probe(path).duration
    return fingerprint([frames.at(path, length * (n + 0.5) / FRAMES) for n in range(FRAMES)]), length


@pytest.mark.slow
def test_a_reencoded_copy_is_found_and_another_tutorial_is_not(tmp_path: Path) -> None:
    original, other = SAMPLES / "mousepad-notes/tutorial.mp4", SAMPLES / "pcmanfm-folders/tutorial.mp4"
    copy, part = tmp_path / "copy.mp4", tmp_path / "part.mp4"
    ffmpeg.input(str(original)).output(
        str(copy), vf="scale=854:-2,fps=15", crf=34, preset="ultrafast", loglevel="error"
    ).run()
    ffmpeg.input(str(original), t=40).output(
        str(part), vf="scale=854:-2,fps=15", crf=34, preset="ultrafast", loglevel="error"
    ).run()
    (one, length), (two, copied), (three, elsewhere), (four, cut) = map(seen, (original, copy, other, part))
    assert same_footage(one, two, (length, copied))
    assert not same_footage(one, three, (length, length)), f"{elsewhere} s; even if they were equally long"
    assert not same_footage(one, four, (length, cut)) and not same_footage(one, four, (length, length))


def test_an_edited_text_in_the_same_window_is_another_recording() -> None:
    random = np.random.default_rng(1)

    def screen(words: int) -> np.ndarray:
        picture = np.full((720, 1280, 3), 240, np.uint8)
        picture[:40] = 60
        for row in range(words):
            start = random.integers(60, 500)
            picture[80 + 30 * row : 96 + 30 * row, start : start + random.integers(80, 600)] = 20
        return picture

    one = [screen(12) for _ in range(FRAMES)]
    noisy = [np.clip(frame.astype(int) + random.integers(-6, 7, frame.shape), 0, 255).astype(np.uint8) for frame in one]
    other = [screen(12) for _ in range(FRAMES)]
    a, b, c = map(fingerprint, (one, noisy, other))
    assert same_footage(a, b, (300, 300.4)) and not same_footage(a, b, (300, 310))
    assert not same_footage(a, c, (300, 300))


@pytest.mark.parametrize("value", [0, 128, 255])
def test_plain_pictures_say_nothing(value: int) -> None:
    black = fingerprint([np.full((90, 160, 3), value, np.uint8)] * FRAMES)
    assert not same_footage(black, black, (60, 60)) and not same_footage((), (), (60, 60))
