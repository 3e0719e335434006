"""A reel tells operations from a moving pointer, a panel's clock, slides and films."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from cuamaster.ports import Image
from cuamaster.vision.reel import Reel


def window(pointer: tuple[int, int] = (300, 200), clock: int = 0, typed: int = 0) -> Image:
    """A grey screen with a window, a panel with a clock, an arrow, and some letters."""
    image = np.full((480, 640, 3), 90, np.uint8)
    image[60:400, 80:560] = 240
    image[456:480] = 40
    image[462:474, 600:610] = 40 + clock
    for letter in range(typed):
        image[100:110, 100 + 8 * letter : 104 + 8 * letter] = 10
    x, y = pointer
    for row in range(18):
        image[y + row, x : x + 1 + row * 2 // 3] = 0
    return image


def slide(tone: int = 30) -> Image:
    return np.full((480, 640, 3), tone, np.uint8)


def film(seed: int) -> Image:
    return np.random.default_rng(seed).integers(0, 255, (480, 640, 3), dtype=np.uint8)


def points(number: int, height: int = 26) -> Image:
    """A slide with lines of large letters."""
    image = np.full((480, 640, 3), 250, np.uint8)
    for row in range(6):
        cv2.putText(
            image,
            f"Point {row} of {number}",
            (40, 60 + 70 * row),
            cv2.FONT_HERSHEY_SIMPLEX,
            height / 22,
            (20, 20, 20),
            3,
        )
    return image


def presenter(seed: int) -> Image:
    """A soft room in which somebody moves, with a sensor's noise."""
    room = cv2.resize(
        np.random.default_rng(5).uniform(60, 190, (6, 8, 3)).astype(np.float32),
        (640, 480),
        interpolation=cv2.INTER_CUBIC,
    )
    cv2.circle(room, (300 + 15 * (seed % 3), 240), 90, (200, 150, 130), -1)
    noise = np.random.default_rng(seed).integers(-9, 10, (480, 640, 1))
    return np.asarray(np.clip(room + noise, 0, 255), np.uint8)


def painting(seed: int) -> Image:
    """A program that is nothing but a picture, in which someone draws."""
    image = presenter(0)
    image[100:130, 60 : 90 + 40 * seed] = (250, 40, 40)
    return image


def reel(*images: Image, step: float = 1.0) -> Reel:
    return Reel((index * step, image) for index, image in enumerate(images))


def test_frames_come_back() -> None:
    found = reel(window(), window(), slide())
    assert len(found) == 3 and found.step == 1.0 and [t for t, _ in found] == [0.0, 1.0, 2.0]
    assert found[2][1].shape == (480, 640, 3) and abs(int(found[-1][1].mean()) - 30) <= 2
    assert [t for t, _ in found[1:]] == [1.0, 2.0]
    assert len(Reel([])) == 0 and Reel([]).dead == [] and Reel([]).step == 0.0


def test_a_pointer_and_a_clock_are_no_operation_and_typing_is() -> None:
    found = reel(
        window(),
        window((400, 300)),
        window((400, 300), clock=180),
        window((400, 300), typed=6),
        window((400, 300), typed=6),
    )
    assert found.operated(0, 10) == [3.0]
    assert found.operated(3.5, 10) == [] and found.dead == []


def test_slow_typing_is_no_pointer() -> None:
    letters = [window()]
    for letter in range(5):
        image = letters[-1].copy()
        image[100:112, 100 + 9 * letter : 107 + 9 * letter] = 10
        letters.append(image)
    assert reel(*letters).operated(0, 10) == [2.0, 3.0, 4.0, 5.0], "the first one might be a pointer"
    moved = [window((200 + 5 * n, 150 + 20 * n)) for n in range(6)]
    assert reel(*moved).operated(0, 10) == []


def test_slides_and_films_between_two_cuts_are_dead() -> None:
    before = [window(typed=n) for n in range(0, 12, 4)]
    shown = [slide()] * 5
    moving = [film(seed) for seed in range(5)]
    after = [window(typed=n) for n in (12, 16, 20)]
    assert reel(*before, *shown, *after).dead == [(3.0, 8.0)]
    assert reel(*before, *moving, *after).dead == [(3.0, 8.0)]
    assert reel(*shown, *before, *after, *shown).dead == [(0.0, 5.0), (11.0, 15.0)]
    assert reel(*before, *shown[:2], *after).dead == [], "a flash is none"
    assert reel(*before, *shown, *[after[0]] * 4).dead == [(3.0, 8.0)], "the window that comes back and rests is none"
    assert reel(*before, *shown, *[after[0]] * 4, *moving, *after).dead == [(3.0, 8.0), (12.0, 17.0)]


def test_a_viewer_that_fills_the_screen_shows_no_slides() -> None:
    pictures = [slide(tone) for tone in (20, 160, 70, 120) for _ in range(4)]
    found = reel(window(), window(typed=4), *pictures, window(typed=9), window(typed=14))
    assert found.dead == [(2.0, 18.0)], "it comes back to the window as slides would"
    found = reel(window(), window(typed=4), *pictures)
    assert found.dead == [] and found.operated(3, 20) == [6.0, 10.0, 14.0]


def test_presenters_and_slides_are_dead_by_their_looks() -> None:
    before = [window(typed=n) for n in range(0, 16, 4)]
    after = [window((400, 90 + 30 * n), typed=40) for n in range(5)]
    talk = [presenter(seed) for seed in range(6)]
    assert any(change.operated and not change.cut for change in reel(*before, *talk).changes[4:]), (
        "nothing but looks tells"
    )
    assert reel(*talk, *before, *after).dead == [(0.0, 6.0)]
    assert reel(*before, *talk, *([slide(200)] * 4), *talk).dead[0] == (4.0, 10.0)
    decks = [points(number) for number in range(2) for _ in range(4)]
    dark = [255 - image for image in decks[:4]]
    assert reel(*decks[:4], *dark, *before, *after).dead == [(0.0, 4.0), (4.0, 8.0)], "two slides one after the other"


def test_a_large_picture_in_a_program_is_not_dead() -> None:
    before = [window(typed=n) for n in range(0, 16, 4)]
    assert reel(*before, *(painting(seed) for seed in range(6))).dead == []
    assert reel(*before, *([painting(1)] * 6), *([painting(9)] * 3)).dead == []


def test_a_still_screen_without_cuts_is_not_dead() -> None:
    assert reel(*[window()] * 30).dead == []


@pytest.mark.parametrize("size", [(1, 1), (20, 20), (33, 500)])
def test_tiny_pictures_and_a_change_of_size(size: tuple[int, int]) -> None:
    small = np.zeros((*size, 3), np.uint8)
    found = reel(small, small + 200, small)
    assert len(found.changes) == 2
    assert reel(small, window()).changes[0].cut
