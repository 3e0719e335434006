"""Screens pass with their place in the picture; cameras, games, slides, drawings and single pictures go with their reason."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from cuamaster.adapters.frames.stills import StillFrames
from cuamaster.ports import Glimpse, Image
from cuamaster.records.episode import Dropped
from cuamaster.records.trajectory import TextBox
from cuamaster.records.video import Media, MediaInfo, ScreenView
from cuamaster.seeding.screen_gate import gate, moments
from cuamaster.seeding.screen_kind import look
from cuamaster.vision.screen_view import ScreenFrames

PATH = Path("film.mp4")
SIZE = (960, 600)
SECONDS = 8
FONT = ImageFont.load_default(size=12)


class Reads:
    """A reader that finds words of one height and score wherever it looks, and remembers where."""

    name = "reads"

    def __init__(self, words: int = 20, height: float = 14.0, score: float = 0.97) -> None:
        self.words, self.height, self.score = words, height, score
        self.regions: list[tuple[int, int, int, int]] = []

    def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        assert region is not None
        assert 0 <= region[0] < region[2] <= image.shape[1] and 0 <= region[1] < region[3] <= image.shape[0]
        self.regions.append(region)
        return [TextBox(text=f"word{'abcdefghij'[n % 10]} File", x0=0, y0=0, x1=60, y1=self.height, score=self.score) for n in range(self.words)]  # fmt: skip


@functools.cache
def screen(t: float, size: tuple[int, int] = SIZE) -> Image:
    """A window with menus, a list and lines of text; the pointer wanders, a line grows."""

    image = Pictures.new("RGB", size, (225, 225, 225))
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, size[0], 16), fill=(60, 90, 160))
    pen.rectangle((110, 45, size[0] - 2, size[1] - 22), fill="white", outline="black")
    for index, menu in enumerate(("File", "Edit", "View", "Help")):
        pen.text((8 + 45 * index, 22), menu, fill="black", font=FONT)
    for row in range((size[1] - 82) // 18):
        text = f"line {row} of the text that stands here"[: 12 + row + int(3 * t) * (row == 2)]
        pen.text((8, 48 + 18 * row), f"Item {row}", fill="black", font=FONT)
        pen.text((120, 48 + 18 * row), text, fill="black", font=FONT)
    x, y = int(150 + 45 * t), int(225 + 15 * t)
    pen.polygon([(x, y), (x, y + 16), (x + 11, y + 11)], fill="black", outline="white")
    return np.asarray(image, np.uint8)


@functools.cache
def camera(t: float, size: tuple[int, int] = SIZE) -> Image:
    """A soft room and somebody who moves, with a sensor's noise."""
    random = np.random.default_rng(int(t * 1000))
    room = cv2.resize(
        np.random.default_rng(5).uniform(60, 190, (6, 8, 3)).astype(np.float32), size, interpolation=cv2.INTER_CUBIC
    )
    middle = (int(size[0] * (0.5 + 0.05 * np.sin(3 * t))), int(size[1] * 0.5))
    cv2.circle(room, middle, min(size) // 4, (200, 150, 130), -1)
    return np.asarray(np.clip(room + random.integers(-9, 10, (size[1], size[0], 1), np.int8), 0, 255), np.uint8)


def slide(t: float) -> Image:

    image = Pictures.new("RGB", SIZE, "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(size=26)
    for row in range(5):
        pen.text((60, 60 + 70 * row), f"Large point {int(t / 2)} number {row}", fill="black", font=font)
    return np.asarray(image, np.uint8)


def drawing(t: float) -> Image:
    image = np.full((SIZE[1], SIZE[0], 3), (200, 220, 240), np.uint8)
    for index in range(8):
        where = (int(120 * index + 90 * np.sin(2 * t + index)) + 60, int(300 + 180 * np.cos(t + index)))
        cv2.circle(image, where, 40, (30 * index, 90, 200 - 20 * index), -1)
    return image


def platforms(t: float) -> Image:
    """Ledges and walls that run by under a score that stays."""
    image = Pictures.new("RGB", SIZE, (120, 180, 240))
    pen = ImageDraw.Draw(image)
    for index in range(40):
        x = int(index * 97 - 240 * t) % 1400 - 200
        y = 90 + 67 * (index % 7)
        pen.rectangle((x, y, x + 90, y + 30), fill=(90 + 20 * (index % 5), 70, 40), outline="black")
        pen.rectangle((x + 20, y + 8, x + 44, y + 22), fill="white", outline="black")
    pen.rectangle((0, 0, 330, 60), fill="black")
    pen.text((12, 12), "SCORE 001200   LIVES 3", fill="white", font=ImageFont.load_default(size=24))
    return np.asarray(image, np.uint8)


def still(t: float) -> Image:
    return screen(1.0)


def blank(t: float) -> Image:
    return np.full((SIZE[1], SIZE[0], 3), 16, np.uint8)


class Film(StillFrames):
    """Shows what is drawn for a time, ten pictures a second."""

    def __init__(self, show: Callable[[float], Image]) -> None:
        super().__init__({})
        self._show = functools.cache(show)

    def probe(self, path: Path) -> MediaInfo:
        height, width = self._show(0.0).shape[:2]
        return MediaInfo(duration=SECONDS, fps=10, width=width, height=height, has_audio=False)

    def at(self, path: Path, t: float) -> Image:
        return self._show(int(t * 10 + 1e-6) / 10)


def film(show: Callable[[float], Image]) -> tuple[Film, Media]:
    frames = Film(show)
    return frames, Media(video_id="v", path=str(PATH), sha256="0", info=frames.probe(PATH))


def judged(
    show: Callable[[float], Image], reader: Reads | None = None
) -> tuple[Sequence[ScreenView], Sequence[Dropped]]:
    frames, media = film(show)
    return gate(media, frames=frames, reader=reader or Reads())


def test_a_screen_passes_as_a_whole_and_is_read_once() -> None:
    reader = Reads()
    (view,), dropped = judged(screen, reader)
    assert not dropped and (view.region, view.camera, view.share) == ((0, 0, *SIZE), None, 1.0)
    assert (view.text_height, view.confidence) == (14.0, 0.97)
    assert len(reader.regions) == 1


@pytest.mark.parametrize(
    ("show", "reason"),
    [
        (camera, "camera"),
        (slide, "slides"),
        (drawing, "animation"),
        (platforms, "game"),
        (still, "still-picture"),
        (blank, "blank"),
    ],
)
def test_what_is_no_screen_goes_with_its_reason_unread(show: Callable[[float], Image], reason: str) -> None:
    reader = Reads()
    kept, (dropped,) = judged(show, reader)
    assert not kept and (dropped.reason, dropped.item_id, dropped.stage) == (reason, "v", "gate")
    assert "moments" in dropped.detail and not reader.regions


@pytest.mark.parametrize("reader", [Reads(words=0), Reads(score=0.87)])
def test_a_screen_that_cannot_be_read_is_dropped(reader: Reads) -> None:
    kept, (dropped,) = judged(screen, reader)
    assert not kept and dropped.reason == "unreadable" and "confidence" in dropped.detail


def test_words_that_stay_from_moment_to_moment_are_counted_once() -> None:
    reader = Reads(words=1)  # a box of two words
    kept, (dropped,) = judged(screen, reader)
    assert not kept and dropped.reason == "unreadable" and dropped.detail.startswith("at best 2 words")
    assert len(reader.regions) == 3 and reader.regions[-1] == (0, 0, *SIZE)


def test_a_screen_with_its_words_away_from_what_looks_most_like_letters_is_read_as_a_whole() -> None:
    class Title(Reads):
        def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
            found = super().read(image, region=region)
            return found if region == (0, 0, *size) else []

    size, reader = (1920, 1080), Title()
    (view,), _ = judged(lambda t: screen(t, size), reader)
    assert view.confidence == 0.97 and len(reader.regions) == 3


def test_it_is_read_where_words_stand_and_not_the_grid_of_an_empty_table() -> None:
    def show(t: float) -> Image:
        image = Pictures.new("RGB", (1280, 800), (60, 60, 60))
        pen = ImageDraw.Draw(image)
        pen.rectangle((0, 400, 1280, 800), fill="white")
        for x in range(0, 1280, 6):
            pen.line((x, 400, x, 800), fill=(120, 120, 120))
        for row in range(8):
            pen.text((20, 30 + 20 * row), f"words of menu {row}"[: 9 + int(t)], fill="white", font=FONT)
        return np.asarray(image, np.uint8)

    reader = Reads()
    (view,), _ = judged(show, reader)
    assert view.share == 1.0
    x0, y0, x1, y1 = reader.regions[0]
    assert x0 <= 20 and y0 <= 30 and x1 >= 120 and y1 >= 190


def test_a_camera_in_a_corner_is_covered() -> None:
    def show(t: float) -> Image:
        picture = screen(t).copy()
        picture[420:600, 720:960] = camera(t, (240, 180))
        return picture

    (view,), _ = judged(show)
    assert view.region == (0, 0, *SIZE) and view.camera is not None
    assert np.abs(np.subtract(view.camera, (720, 420, 960, 600))).max() <= 8
    frames, _ = film(show)
    shown = ScreenFrames(frames, view)
    one, two = (shown.at(PATH, t)[425:, 725:] for t in (1.0, 4.0))
    assert (one == two).all()


def test_a_camera_beside_the_screen_is_cut_off() -> None:
    (view,), _ = judged(lambda t: np.concatenate([camera(t, (240, 600)), screen(t, (720, 600))], axis=1))
    assert view.camera is None
    assert np.abs(np.subtract(view.region, (240, 0, 960, 600))).max() <= 8


@pytest.mark.parametrize("upright", [False, True])
def test_bars_are_cut_off_to_the_pixel(upright: bool) -> None:
    def show(t: float) -> Image:
        frame = np.full((1500, 960, 3) if upright else (600, 1230, 3), 30, np.uint8)
        frame[(slice(450, 1050), slice(None)) if upright else (slice(None), slice(135, 1095))] = screen(t)
        return frame

    (view,), _ = judged(show)
    assert view.region == ((0, 450, 960, 1050) if upright else (135, 0, 1095, 600))


def test_a_window_in_the_middle_of_an_empty_desktop_is_the_whole_screen() -> None:
    def show(t: float) -> Image:
        frame = np.full((750, 1200, 3), 20, np.uint8)
        frame[75:675, 120:1080] = screen(t)
        return frame

    (view,), _ = judged(show)
    assert view.region == (0, 0, 1200, 750)


def test_talk_before_the_screen_is_not_counted_and_a_glance_at_one_is_not_enough() -> None:
    (view,), _ = judged(lambda t: camera(t) if t < 4 else screen(t))
    assert 0.4 <= view.share <= 0.6
    kept, (dropped,) = judged(lambda t: screen(t) if 3 <= t < 4 else camera(t))
    assert not kept and dropped.reason == "camera"


@pytest.mark.parametrize("size", [(426, 240), (480, 300)])
def test_a_small_screen_is_no_slide_though_its_letters_are_a_large_part_of_it(size: tuple[int, int]) -> None:
    (view,), _ = judged(lambda t: screen(t, size))
    assert view.region == (0, 0, *size) and view.share >= 0.5


def test_upright_screens_are_phones() -> None:
    kept, (dropped,) = judged(lambda t: screen(t, (540, 960)))
    assert not kept and dropped.reason == "portrait"


def test_moments_are_few_for_any_length_and_inside_it() -> None:
    for duration in (0.04, 2.0, 60.0, 12 * 3600.0):
        times = moments(duration)
        assert 6 <= len(times) <= 20 and 0 < times[0] < times[-1] < duration


def test_short_and_tiny_pictures_are_judged_too() -> None:
    grey = cv2.cvtColor(screen(0.0), cv2.COLOR_RGB2GRAY)
    seen = look([Glimpse(0.0, (grey,))])
    assert seen.kind == "screen"
    kept, (dropped,) = judged(lambda t: np.zeros((1, 1, 3), np.uint8))
    assert not kept and dropped.reason == "unreadable"
