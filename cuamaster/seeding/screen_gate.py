"""Stage gate: whether a recording shows a screen, how much of the time, where in the picture, and whether it can be read.

A few moments spread over the recording are looked at small and grey; only what passes is read, one part of the screen at a time. So a video of
twelve hours costs what one of ten minutes does. Reasons of drops: camera, game, slides, animation, still-picture, blank, portrait, unreadable.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cuamaster.ports import FrameReader, Image, ScreenReader
from cuamaster.records.episode import Dropped
from cuamaster.records.video import Media, PixelBox, ScreenView
from cuamaster.seeding.screen_kind import Kind, Seen, look
from cuamaster.vision.changes import gray
from cuamaster.vision.legibility import NOTHING, Reading, reading_of
from cuamaster.vision.screen_region import sharpened
from cuamaster.vision.screen_traits import CELL, LONGEST, SMALLEST, Cells, Traits

STAGE = "gate"
MOMENTS, FEWEST, EVERY = 20, 6, 3.0
"""Moments looked at: one every three seconds, at least and at most so many."""
PICTURES, APART = 3, 0.3
"""Pictures of a moment, and seconds between them: a pointer on its way, a mouth, a step are seen to move."""
LEAST_ASPECT = 1.1
"""Width to height: narrower screens are phones'."""
READ_MOMENTS, READ_WIDTH, READ_HEIGHT = 2, 640, 360
"""Of so many moments the part with the densest text is read, so large in pixels of the recording."""
ROUNDING = 0.02  # seconds
RIM = 0.003
"""Of the screen's width, by which the camera's rectangle is made larger."""
ENOUGH_WORDS = 12
LEAST_WORDS, LEAST_CONFIDENCE = 4, 0.9
"""Of the lines read there: words, and median confidence. Chosen on the tuned pages of benchmarks/legibility.py (known words in many sizes and
qualities): the highest that loses none that can be read; of those let through 92 in 100 can be read, at .8 82. Height tells nothing: the reader's boxes are hardly ever under 13 pixels, however small the letters."""


_REASONS: dict[Kind, str] = {
    "camera": "noise that repeats nowhere, few straight edges",
    "game": "a picture in motion under lasting signs",
    "slides": "large letters that stand still",
    "animation": "drawn, and it never rests or has no windows and small letters",
    "still-picture": "the same picture all the time",
    "blank": "nothing, or a title on plain ground",
}


def moments(duration: float) -> list[float]:
    """Seconds to look at: the middles of equal parts."""
    count = int(min(MOMENTS, max(FEWEST, duration // EVERY)))
    return [duration * (index + 0.5) / count for index in range(count)]


def gate(media: Media, *, frames: FrameReader, reader: ScreenReader) -> tuple[list[ScreenView], list[Dropped]]:
    """The recording's screen, or the reason it has none that can be worked with. Raises MediaError when nothing can be decoded."""
    info, path = media.info, Path(media.path)
    if min(info.within(LONGEST)) < SMALLEST:
        return [], [_dropped(media, "unreadable", f"a picture of {info.width}x{info.height}")]
    seen = look(frames.glimpses(path, moments(info.duration), count=PICTURES, apart=APART, longest=LONGEST))
    if seen.kind != "screen":
        return [], [_dropped(media, seen.kind, f"{_told(seen)}: {_REASONS[seen.kind]}")]
    region, camera = placed(seen, path, frames)
    width, height = region[2] - region[0], region[3] - region[1]
    if width < LEAST_ASPECT * height:
        return [], [_dropped(media, "portrait", f"{width}x{height}: the screen of a phone, or a part of one")]
    reading = read(seen, region, path, frames, reader)
    if reading.words < LEAST_WORDS or reading.confidence < LEAST_CONFIDENCE:
        detail = f"{reading.words} words, confidence {reading.confidence:.2f}, {reading.height:.0f} pixels high on {width}x{height}"
        return [], [_dropped(media, "unreadable", f"at best {detail}")]
    view = ScreenView(
        video_id=media.video_id, region=region, camera=camera, share=seen.share, text_height=reading.height, confidence=reading.confidence,
        language=reading.language,
    )  # fmt: skip
    return [view], []


def placed(seen: Seen, path: Path, frames: FrameReader) -> tuple[PixelBox, PixelBox | None]:
    """Screen and camera in pixels of the recording, the first to the pixel, as one whole frame shows it."""
    frame = gray(_frame(_fullest(seen)[0], path, frames))
    small = seen.moments[0].picture
    scale = (frame.shape[1] / small.shape[1], frame.shape[0] / small.shape[0])
    region = sharpened(_scaled(seen.layout.region, scale), frame, reach=round(4 * scale[0]) + 2)
    return region, None if seen.layout.camera is None else _grown(_scaled(seen.layout.camera, scale), region)


def read(seen: Seen, region: PixelBox, path: Path, frames: FrameReader, reader: ScreenReader) -> Reading:
    """The reading with most words, of one picture each, so that none is counted twice: where the text is densest in the moment with most of it; if
    that is little, in the next; if even that is next to nothing, of the whole screen, for icons and pictures may look like the densest text."""
    area, best = seen.layout.cells(seen.moments[0].plain.shape), NOTHING
    for item in _fullest(seen):
        frame = _frame(item, path, frames)
        place = _densest(_text(item, area), CELL * frame.shape[1] / item.picture.shape[1])
        best = max(best, reading_of(reader.read(frame, region=_within(place, region))), key=lambda found: found.words)
        if best.words >= ENOUGH_WORDS:
            return best
    if best.words >= LEAST_WORDS:
        return best
    whole = reading_of(reader.read(_frame(_fullest(seen)[0], path, frames), region=region))
    return max(best, whole, key=lambda found: found.words)


def _frame(item: Traits, path: Path, frames: FrameReader) -> Image:
    """A whole frame of a moment; a little later than its key frame, whose time is rounded: the decoder would begin at the one before."""
    return frames.at(path, item.t + ROUNDING)


def _fullest(seen: Seen) -> list[Traits]:
    """The moments that show a screen with most text on it."""
    area = seen.layout.cells(seen.moments[0].plain.shape)
    screens = [item for item, shown in zip(seen.moments, seen.shows, strict=True) if shown == "screen"]
    return sorted(screens, key=lambda item: -int(_text(item, area).sum()))[:READ_MOMENTS]


def _text(item: Traits, area: Cells) -> npt.NDArray[np.int32]:
    """Letters that begin in each cell of the area; without any, cells with thin strokes, which the grid of an empty table has too."""
    found = np.zeros(area.shape, np.int32)
    rows = np.minimum(item.letters[:, 1] // CELL, area.shape[0] - 1)
    columns = np.minimum(item.letters[:, 0] // CELL, area.shape[1] - 1)
    np.add.at(found, (rows, columns), 1)
    found[~area] = 0
    return found if found.any() else (item.fine & area).astype(np.int32)


def _grown(box: PixelBox, region: PixelBox) -> PixelBox:
    """A little more than the camera's picture, so that no moving rim is left."""
    rim = RIM * (region[2] - region[0])
    x0, y0, x1, y1 = box
    return _within((int(x0 - rim), int(y0 - rim), int(x1 + rim + 1), int(y1 + rim + 1)), region)


def _densest(text: npt.NDArray[np.int32], cell: float) -> PixelBox:
    """The rectangle of READ_WIDTH x READ_HEIGHT pixels with most text; `cell`: pixels of the recording a cell."""
    wide, tall = (
        max(1, min(side, round(size / cell)))
        for side, size in ((text.shape[1], READ_WIDTH), (text.shape[0], READ_HEIGHT))
    )
    sums = np.pad(text.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    found = sums[tall:, wide:] - sums[:-tall, wide:] - sums[tall:, :-wide] + sums[:-tall, :-wide]
    row, column = np.unravel_index(int(np.argmax(found)), found.shape)
    x0, y0 = round(int(column) * cell), round(int(row) * cell)
    return x0, y0, x0 + READ_WIDTH, y0 + READ_HEIGHT


def _within(box: PixelBox, region: PixelBox) -> PixelBox:
    return max(box[0], region[0]), max(box[1], region[1]), min(box[2], region[2]), min(box[3], region[3])


def _scaled(box: PixelBox, scale: tuple[float, float]) -> PixelBox:
    x, y = scale
    return round(box[0] * x), round(box[1] * y), round(box[2] * x), round(box[3] * y)


def _told(seen: Seen) -> str:
    count = Counter(seen.shows)
    return ", ".join(f"{number} {shown}" for shown, number in count.most_common()) + f" of {len(seen.shows)} moments"


def _dropped(media: Media, reason: str, detail: str) -> Dropped:
    return Dropped(item_id=media.video_id, stage=STAGE, reason=reason, detail=detail)
