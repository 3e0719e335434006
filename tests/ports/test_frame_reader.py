"""The conformance suite of the FrameReader port: ffmpeg on a real file and drawn stills behave alike."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cuamaster.adapters.frames.ffmpeg import FfmpegFrames
from cuamaster.adapters.frames.stills import StillFrames
from cuamaster.errors import MediaError
from cuamaster.ports import FrameReader, Image

SIZE = (160, 96)
COLOURS = [(200, 30, 30), (30, 200, 30), (30, 30, 200)]
"""One second each."""


def _plain(colour: tuple[int, int, int]) -> Image:
    return np.full((SIZE[1], SIZE[0], 3), colour, np.uint8)


@pytest.fixture(params=["ffmpeg", "stills"])
def recording(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[FrameReader, Path]:
    path = tmp_path / "three.mp4"
    if request.param == "stills":
        return StillFrames({path: [(float(i), _plain(colour)) for i, colour in enumerate(COLOURS)]}), path
    raw = b"".join(_plain(colour).tobytes() * 10 for colour in COLOURS)
    command = f"ffmpeg -v error -y -f rawvideo -pix_fmt rgb24 -s {SIZE[0]}x{SIZE[1]} -r 10 -i - -pix_fmt yuv444p -crf 5"
    subprocess.run([*command.split(), str(path)], input=raw, check=True)
    return FfmpegFrames(), path


def test_probe_tells_size_and_length(recording: tuple[FrameReader, Path]) -> None:
    info = recording[0].probe(recording[1])
    assert (info.width, info.height) == SIZE
    assert info.duration == pytest.approx(3.0, abs=0.15)
    assert info.has_video and not info.has_audio


def test_frames_have_the_colour_of_their_second(recording: tuple[FrameReader, Path]) -> None:
    reader, path = recording
    for t, colour in [(0.4, COLOURS[0]), (1.5, COLOURS[1]), (2.5, COLOURS[2]), (99.0, COLOURS[2]), (-1.0, COLOURS[0])]:
        image = reader.at(path, t)
        assert image.shape == (SIZE[1], SIZE[0], 3) and image.dtype == np.uint8
        assert np.abs(image.reshape(-1, 3).mean(axis=0) - colour).max() < 12, t


def test_samples_come_in_order_at_the_asked_rate_from_the_asked_span(recording: tuple[FrameReader, Path]) -> None:
    reader, path = recording
    sampled = list(reader.sample(path, fps=5, t_start=1.0, t_end=2.0))
    assert [round(t, 2) for t, _ in sampled] == [1.0, 1.2, 1.4, 1.6, 1.8]
    assert all(np.abs(image.reshape(-1, 3).mean(axis=0) - COLOURS[1]).max() < 12 for _, image in sampled[1:-1])
    assert len(list(reader.sample(path, fps=2))) == pytest.approx(6, abs=1)


def test_glimpses_are_small_grey_moments_in_order_each_once(recording: tuple[FrameReader, Path]) -> None:
    reader, path = recording
    found = reader.glimpses(path, [0.2, 1.2, 1.2, 2.2], count=3, apart=0.2, longest=80)
    assert len(found) >= 3 and all(a.t < b.t for a, b in itertools.pairwise(found))
    for glimpse in found:
        assert 1 <= len(glimpse.pictures) <= 3
        assert {picture.shape for picture in glimpse.pictures} == {(48, 80)}
        grey = np.dot(COLOURS[min(2, int(glimpse.t + 0.01))], (0.299, 0.587, 0.114))
        assert abs(float(glimpse.pictures[0].mean()) - grey) < 14, glimpse.t
    late = reader.glimpses(path, [50.0], count=2, apart=0.2, longest=1000)
    assert all(glimpse.pictures[0].shape == (SIZE[1], SIZE[0]) for glimpse in late)  # the last moment, never blown up


def test_what_cannot_be_read_is_a_media_error_with_a_reason(
    recording: tuple[FrameReader, Path], tmp_path: Path
) -> None:
    reader, path = recording
    with pytest.raises(MediaError) as missing:
        reader.probe(tmp_path / "nowhere.mp4")
    assert missing.value.reason == "missing-file"
    with pytest.raises(MediaError) as silent:
        reader.audio(path, tmp_path / "a.wav")
    assert silent.value.reason == "no-audio-stream"
