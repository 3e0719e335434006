"""A FrameReader over pictures held in memory: the fast fake of the port, and a way to feed drawn screens to the seeding stages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np

from cuamaster.errors import MediaError
from cuamaster.ports import Glimpse, Gray, Image
from cuamaster.records.video import MediaInfo


class StillFrames:
    """Recordings as (seconds, RGB picture) in time order, by path; each picture is shown until the next."""

    def __init__(self, recordings: Mapping[Path, Sequence[tuple[float, Image]]], *, tail: float = 1.0) -> None:
        """`tail`: how long the last picture is shown, in seconds."""
        self._recordings, self._tail = recordings, tail

    def probe(self, path: Path) -> MediaInfo:
        """Facts about a recording; raises MediaError for a path that is none, or an empty one."""
        pictures = self._pictures(path)
        duration = pictures[-1][0] + self._tail
        height, width = pictures[0][1].shape[:2]
        return MediaInfo(
            duration=duration, fps=max(1.0, len(pictures) / duration), width=width, height=height, has_audio=False
        )

    def sample(
        self, path: Path, *, fps: float, t_start: float = 0.0, t_end: float | None = None
    ) -> Iterator[tuple[float, Image]]:
        """(seconds, frame) at `fps`."""
        end = min(self.probe(path).duration, t_end if t_end is not None else float("inf"))
        for index in range(max(0, int(np.ceil((end - t_start) * fps - 1e-9)))):
            t = max(0.0, t_start) + index / fps
            yield t, self.at(path, t)

    def at(self, path: Path, t: float) -> Image:
        """The picture shown at `t` seconds; the first or last one outside."""
        pictures = self._pictures(path)
        return pictures[max(0, bisect_right([at for at, _ in pictures], t + 1e-9) - 1)][1]

    def glimpses(self, path: Path, times: Sequence[float], *, count: int, apart: float, longest: int) -> list[Glimpse]:
        """The moments themselves."""
        info = self.probe(path)
        size = info.within(longest)

        def small(t: float) -> Gray:
            grey = cv2.cvtColor(self.at(path, t), cv2.COLOR_RGB2GRAY)
            return np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)

        moments = sorted({min(max(0.0, t), info.duration) for t in times})
        return [Glimpse(t, tuple(small(t + step * apart) for step in range(count))) for t in moments]

    def audio(self, path: Path, out: Path) -> Path:  # noqa: ARG002 (pictures have no sound)
        """Raises MediaError: pictures have no sound."""
        self._pictures(path)
        raise MediaError(f"{path}: pictures have no sound", reason="no-audio-stream", hint="give captions")

    def _pictures(self, path: Path) -> Sequence[tuple[float, Image]]:
        if path not in self._recordings:
            raise MediaError(f"{path}: no such recording", reason="missing-file")
        if not self._recordings[path]:
            raise MediaError(f"{path}: no pictures in it", reason="empty-file")
        return self._recordings[path]
