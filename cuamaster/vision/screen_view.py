"""A recording as the screen it shows: the region is cut out and a presenter's camera painted over, for every step after the screen gate.

This is the one place where the region is applied: what comes out of here is a screen of its own size, from whose corner pixels and the
normalized coordinates of actions count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from cuamaster.ports import FrameReader, Glimpse, Image
from cuamaster.records.video import MediaInfo, PixelBox, ScreenView

COVER = (96, 96, 96)
"""What is put over the camera: always the same, so that nothing seems to happen there."""


class ScreenFrames:
    """FrameReader over another one, for the recording that `view` was made of."""

    def __init__(self, frames: FrameReader, view: ScreenView) -> None:
        self._frames, self._view = frames, view

    def probe(self, path: Path) -> MediaInfo:
        """Facts about the file; width and height are the screen's."""
        x0, y0, x1, y1 = self._view.region
        return self._frames.probe(path).model_copy(update={"width": x1 - x0, "height": y1 - y0})

    def sample(
        self, path: Path, *, fps: float, t_start: float = 0.0, t_end: float | None = None
    ) -> Iterator[tuple[float, Image]]:
        """(seconds, screen) at `fps`."""
        for t, image in self._frames.sample(path, fps=fps, t_start=t_start, t_end=t_end):
            yield t, cut(image, self._view)

    def at(self, path: Path, t: float) -> Image:
        """The screen at `t` seconds."""
        return cut(self._frames.at(path, t), self._view)

    def glimpses(self, path: Path, times: Sequence[float], *, count: int, apart: float, longest: int) -> list[Glimpse]:
        """Moments of the screen; `longest` bounds the whole picture's longer side."""
        info = self._frames.probe(path)
        found = self._frames.glimpses(path, times, count=count, apart=apart, longest=longest)
        return [
            Glimpse(item.t, tuple(part(picture, self._view.region, info) for picture in item.pictures))
            for item in found
        ]

    def audio(self, path: Path, out: Path) -> Path:
        """The recording's sound."""
        return self._frames.audio(path, out)


def cut(image: Image, view: ScreenView) -> Image:
    """The screen in a frame of the recording, as an array of its own."""
    x0, y0, x1, y1 = view.region
    if view.camera is None:
        return np.ascontiguousarray(image[y0:y1, x0:x1])
    screen = image[y0:y1, x0:x1].copy()
    left, top, right, bottom = view.camera
    screen[max(0, top - y0) : max(0, bottom - y0), max(0, left - x0) : max(0, right - x0)] = COVER
    return screen


def part(picture: Image, region: PixelBox, info: MediaInfo) -> Image:
    """The region of a picture that is a scaled frame of the recording."""
    x, y = picture.shape[1] / info.width, picture.shape[0] / info.height
    x0, y0, x1, y1 = region
    return np.ascontiguousarray(picture[round(y0 * y) : max(1, round(y1 * y)), round(x0 * x) : max(1, round(x1 * x))])
