"""Stage gate: whether a recording shows a screen, how much of the time, where in the picture, and whether it can be read.

A few moments spread over the recording are looked at small and grey; only what passes is read, one part of the screen at a time. So a video of
twelve hours costs what one of ten minutes does. Reasons of drops: camera, game, slides, animation, still-picture, blank, portrait, unreadable.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from cuamaster.ports import FrameReader, Glimpse, ScreenReader
from cuamaster.records.episode import Dropped
from cuamaster.records.trajectory import TextBox
from cuamaster.records.video import Media, MediaInfo, PixelBox, ScreenView
from cuamaster.vision.legibility import Reading, reading_of
from cuamaster.vision.screen_region import Layout, layout_of
from cuamaster.vision.screen_traits import CELL, LONGEST, Cells, Traits, blocks, traits_of

STAGE = "gate"
Kind = Literal["screen", "camera", "game", "slides", "animation", "still-picture", "blank"]
Moment = Literal["screen", "slides", "blank", "other"]

# Limits were chosen on the tuned families and seeds of benchmarks/footage (see make.py there), the bundled tutorials, gnumeric-budget and the
# development recordings of benchmarks/recordings; docs/open-world.md reports the others.
MOMENTS, FEWEST, EVERY = 20, 6, 3.0
"""Moments looked at: one every three seconds, at least and at most so many."""
PICTURES, APART = 3, 0.3
"""Pictures of a moment, and seconds between them: a pointer on its way, a mouth, a step are seen to move."""
MOVING, CHANGING = 0.5, 0.7
"""Share of cells that stir in a moment that is all motion, and share of these that move when it is windows that open; noise stirs more than moves."""
QUIET = 0.6
"""Share of cells that stir at most in a moment from which the screen's place is read; a presenter may fill half of the picture."""
RESTING = 0.15
"""A screen that is not being changed stirs less; some of a recording's screens do."""
RESTS = 0.2
"""Least share of resting moments among those that look like a screen: an animation never rests."""
PLAIN, STRAIGHT, FINE = 0.2, 0.055, 0.012
"""Shares of cells: screens have plain ground, and straight edges (camera pictures .00-.04, screens .07-.6) or, without windows, thin strokes."""
LETTERS, LARGE = 8, 0.0185
"""From so many letters on their median height tells: on screens .010-.015 of the screen's height, on slides .022-.031."""
SLIDE_STIRS = 0.05
"""Share of cells that stir at most while a slide is shown: a builder's animation of one line."""
EMPTY_PLAIN, EMPTY_INK = 0.985, 0.004
"""Shares of plain cells and of cells with ink: nothing, or a title."""
LEAST_SHARE, BESIDE_SLIDES = 0.25, 0.5
"""Of the moments, and of those with slides; less screen than this is a screen shown in passing."""
LEAST_ASPECT = 1.1
"""Width to height: narrower screens are phones'."""
STILL, DIFFERENT = 0.001, 20
"""Share of cells that differ, by so many grey levels, between moments of one and the same picture."""
NOISY = 0.3
"""Share of the plain cells that stir: a camera's noise is everywhere."""
STATUS, LASTING = 6, 0.75
"""So many cells with ink that repeat in this share of the moments, while the rest moves: what games show of score and health."""
READ_MOMENTS, READ_WIDTH, READ_HEIGHT = 2, 640, 360
"""Of so many moments the part with the densest text is read, so large in pixels of the recording."""
LEAST_WORDS, LEAST_CONFIDENCE, LEAST_HEIGHT = 4, 0.8, 8.0


_REASONS: dict[Kind, str] = {
    "camera": "noise that repeats nowhere, few straight edges",
    "game": "a picture in motion under lasting signs",
    "slides": "large letters that stand still",
    "animation": "drawn, and it never rests or has no windows and small letters",
    "still-picture": "the same picture all the time",
    "blank": "nothing, or a title on plain ground",
}


@dataclass(frozen=True)
class Seen:
    """What the moments show: where the screen is (in pixels of the small pictures), each moment, and what the whole is."""

    moments: tuple[Traits, ...]
    layout: Layout
    shows: tuple[Moment, ...]
    kind: Kind

    @property
    def share(self) -> float:
        """Of the moments that show a screen."""
        return self.shows.count("screen") / len(self.shows)


def gate(media: Media, *, frames: FrameReader, reader: ScreenReader) -> tuple[list[ScreenView], list[Dropped]]:
    """The recording's screen, or the reason it has none that can be worked with. Raises MediaError when nothing can be decoded."""
    info = media.info
    glimpses = frames.glimpses(
        Path(media.path), moments(info.duration), count=PICTURES, apart=APART, longest=LONGEST
    )
    seen = look(glimpses)
    region = _scaled(seen.layout.region, seen, info)
    width, height = region[2] - region[0], region[3] - region[1]
    if seen.kind != "screen":
        return [], [_dropped(media, seen.kind, f"{_told(seen)}: {_REASONS[seen.kind]}")]
    if width < LEAST_ASPECT * height:
        return [], [_dropped(media, "portrait", f"{width}x{height}: the screen of a phone, or a part of one")]
    reading = read(seen, region, media, frames, reader)
    if reading.words < LEAST_WORDS or reading.confidence < LEAST_CONFIDENCE or reading.height < LEAST_HEIGHT:
        detail = (
            f"{reading.words} words read in {READ_MOMENTS} places, confidence {reading.confidence:.2f}, {reading.height:.0f} pixels high "
            f"on {width}x{height}"
        )
        return [], [_dropped(media, "unreadable", detail)]
    camera = None if seen.layout.camera is None else _scaled(seen.layout.camera, seen, info)
    view = ScreenView(
        video_id=media.video_id, region=region, camera=camera, spans=spans(seen, info.duration), share=seen.share,
        text_height=reading.height, confidence=reading.confidence, language=reading.language,
    )  # fmt: skip
    return [view], []


def read(seen: Seen, region: PixelBox, media: Media, frames: FrameReader, reader: ScreenReader) -> Reading:
    """What can be read where the text is densest, in the moments that have most of it."""
    area = seen.layout.cells(seen.moments[0].plain.shape)
    screens = [item for item, shown in zip(seen.moments, seen.shows, strict=True) if shown == "screen"]
    fullest = sorted(screens, key=lambda item: -int(item.fine[area].sum()))[:READ_MOMENTS]
    boxes: list[TextBox] = []
    for item in fullest:
        across = media.info.width / item.picture.shape[1]
        place = _densest(item.fine & area, CELL * across)
        boxes += reader.read(frames.at(Path(media.path), item.t), region=_within(place, region))
    return reading_of(boxes)


def _densest(fine: Cells, cell: float) -> PixelBox:
    """The rectangle of READ_WIDTH x READ_HEIGHT pixels with most fine cells; `cell`: pixels of the recording a cell."""
    wide, tall = (max(1, min(side, round(size / cell))) for side, size in ((fine.shape[1], READ_WIDTH), (fine.shape[0], READ_HEIGHT)))
    sums = cv2.integral(fine.astype(np.uint8))
    found = sums[tall:, wide:] - sums[:-tall, wide:] - sums[tall:, :-wide] + sums[:-tall, :-wide]
    row, column = np.unravel_index(int(np.argmax(found)), found.shape)
    x0, y0 = round(int(column) * cell), round(int(row) * cell)
    return x0, y0, x0 + READ_WIDTH, y0 + READ_HEIGHT


def _within(box: PixelBox, region: PixelBox) -> PixelBox:
    return max(box[0], region[0]), max(box[1], region[1]), min(box[2], region[2]), min(box[3], region[3])


def _scaled(box: PixelBox, seen: Seen, info: MediaInfo) -> PixelBox:
    """A rectangle of the small pictures in pixels of the recording."""
    height, width = seen.moments[0].picture.shape
    x, y = info.width / width, info.height / height
    return round(box[0] * x), round(box[1] * y), round(box[2] * x), round(box[3] * y)


def spans(seen: Seen, duration: float) -> tuple[tuple[float, float], ...]:
    """Seconds that show a screen; what lies between two moments is divided in the middle."""
    times = [item.t for item in seen.moments]
    cuts = [0.0, *((one + two) / 2 for one, two in itertools.pairwise(times)), duration]
    found: list[tuple[float, float]] = []
    for shown, start, end in zip(seen.shows, cuts, cuts[1:], strict=False):
        if shown != "screen":
            continue
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple((round(start, 2), round(end, 2)) for start, end in found)


def _told(seen: Seen) -> str:
    count = Counter(seen.shows)
    return ", ".join(f"{number} {shown}" for shown, number in count.most_common()) + f" of {len(seen.shows)} moments"


def _dropped(media: Media, reason: str, detail: str) -> Dropped:
    return Dropped(item_id=media.video_id, stage=STAGE, reason=reason, detail=detail)


def moments(duration: float) -> list[float]:
    """Seconds to look at: the middles of equal parts."""
    count = int(min(MOMENTS, max(FEWEST, duration // EVERY)))
    return [duration * (index + 0.5) / count for index in range(count)]


def look(glimpses: Sequence[Glimpse]) -> Seen:
    """Judge the glimpses of one recording, at least one."""
    found = tuple(traits_of(item) for item in glimpses)
    height, width = found[0].picture.shape
    quiet = [item for item in found if item.stirred.mean() <= QUIET]
    layout = layout_of(quiet) if quiet else Layout((0, 0, width, height), None)
    area = layout.cells(found[0].plain.shape)
    shows = tuple(_shows(item, area, layout.region) for item in found)
    return Seen(found, layout, shows, _kind(found, shows, area))


def _shows(item: Traits, area: Cells, region: PixelBox) -> Moment:
    plain, stirred, moved = (float(part[area].mean()) for part in (item.plain, item.stirred, item.moved))
    if plain >= EMPTY_PLAIN and item.ink[area].mean() <= EMPTY_INK:
        return "blank"
    letters = _letters(item, area)
    windows = item.straight[area].mean() >= STRAIGHT
    if plain < PLAIN or (stirred > MOVING and not (windows and moved >= CHANGING * stirred)):
        return "other"
    if len(letters) >= LETTERS and np.median(letters) >= LARGE * (region[3] - region[1]):
        return "slides" if stirred <= SLIDE_STIRS else "other"
    written = len(letters) >= LETTERS and item.fine[area].mean() >= FINE
    return "screen" if windows or written else "other"


def _letters(item: Traits, area: Cells) -> npt.NDArray[np.int32]:
    """Heights of the letters inside the area."""
    rows = np.minimum(item.letters[:, 1] // CELL, area.shape[0] - 1)
    columns = np.minimum(item.letters[:, 0] // CELL, area.shape[1] - 1)
    return np.asarray(item.letters[area[rows, columns], 2])


def _kind(found: Sequence[Traits], shows: Sequence[Moment], area: Cells) -> Kind:
    """A screen if enough moments show one and it rests now and then; else what is shown most of the time."""
    count = Counter(shows)
    pairs = itertools.pairwise(found)
    if len(found) > 1 and count["blank"] < len(found) and all(_difference(*pair, area) <= STILL for pair in pairs):
        return "still-picture"
    screens = [item for item, shown in zip(found, shows, strict=True) if shown == "screen"]
    if len(screens) >= max(LEAST_SHARE * len(found), BESIDE_SLIDES * count["slides"]):
        resting = sum(item.stirred[area].mean() <= RESTING for item in screens)
        return "screen" if resting >= RESTS * len(screens) else "animation"
    del count["screen"]
    most = count.most_common(1)[0][0] if count else "other"
    if most in ("slides", "blank"):
        return "slides" if most == "slides" else "blank"
    return _moving([item for item, shown in zip(found, shows, strict=True) if shown == "other"] or found)


def _moving(found: Sequence[Traits]) -> Kind:
    """What it is that moves: a game has lasting signs on its picture, a camera's noise stirs plain walls too, drawings do neither."""
    signs = np.mean([~item.stirred & (item.ink | item.straight) for item in found], axis=0) >= LASTING
    stirred = float(np.median([item.stirred.mean() for item in found]))
    noise = float(np.median([item.stirred[item.plain].mean() if item.plain.any() else 1.0 for item in found]))
    if signs.sum() >= STATUS and stirred >= RESTING:
        return "game"
    return "camera" if noise >= NOISY else "animation"


def _difference(one: Traits, two: Traits, area: Cells) -> float:
    """Share of cells in which two moments differ."""
    differs = blocks(cv2.absdiff(one.picture, two.picture) >= DIFFERENT).any(axis=(1, 3))
    return float(differs[area].mean())
