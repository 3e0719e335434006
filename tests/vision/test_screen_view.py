"""The region is cut out and the camera covered, everywhere alike; and the recording's own facts come through."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cuamaster.adapters.frames.stills import StillFrames
from cuamaster.errors import MediaError
from cuamaster.records.video import ScreenView
from cuamaster.vision.screen_view import COVER, ScreenFrames

PATH = Path("film.mp4")


def frames(camera: tuple[int, int, int, int] | None = (60, 40, 80, 60)) -> ScreenFrames:
    pictures = [(float(t), np.full((60, 100, 3), 50 * (t + 1), np.uint8)) for t in range(3)]
    view = ScreenView(
        video_id="v", region=(20, 10, 80, 60), camera=camera, share=1.0, text_height=12.0, confidence=0.9
    )  # fmt: skip
    return ScreenFrames(StillFrames({PATH: pictures}), view)


def test_every_way_to_a_picture_shows_the_region_with_the_camera_covered() -> None:
    reader = frames()
    info = reader.probe(PATH)
    assert (info.width, info.height, info.duration) == (60, 50, 3.0)
    for t, image in [(1.0, reader.at(PATH, 1.0)), *reader.sample(PATH, fps=1)]:
        assert image.shape == (50, 60, 3)
        assert (image[:30] == 50 * (int(t) + 1)).all() and (image[30:50, 40:60] == COVER).all()
    (glimpse,) = reader.glimpses(PATH, [1.0], count=2, apart=0.1, longest=50)
    assert [picture.shape for picture in glimpse.pictures] == [(25, 30)] * 2


def test_without_a_camera_nothing_is_painted_and_the_source_stays_as_it_is() -> None:
    assert (frames(None).at(PATH, 2.0) == 150).all()
    reader = frames()
    assert (reader.at(PATH, 0.0) == reader.at(PATH, 0.0)).all()
    with pytest.raises(MediaError) as fault:
        reader.audio(PATH, Path("out.wav"))
    assert fault.value.reason == "no-audio-stream"
