"""Only whole, right-sized, visible frames pass."""

from __future__ import annotations

import numpy as np
import pytest

from cuamaster.errors import BadFrame
from cuamaster.ports import Frame
from cuamaster.vision.frame_gate import check_frame, decode_screenshot


def picture() -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.random.default_rng(1).integers(0, 255, (50, 80, 3), dtype=np.uint8)


def ppm(image: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    height, width = image.shape[:2]
    return f"P6\n{width} {height}\n255\n".encode() + image.tobytes()


def test_ppm_and_png_give_the_same_pixels() -> None:
    image = picture()
    assert np.array_equal(decode_screenshot(ppm(image), 80, 50), image)
    assert np.array_equal(decode_screenshot(Frame(image, 0.0).png, 80, 50), image)
    tricky = np.full((255, 255, 3), 10, np.uint8)  # width and height look like the header's maximum
    assert np.array_equal(decode_screenshot(ppm(tricky), 255, 255), tricky)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (ppm(picture())[:-1], "truncated"),
        (b"P6\n80 50", "truncated"),
        (Frame(picture(), 0.0).png[:-30], "truncated"),
        (b"", "truncated"),
        (ppm(np.zeros((50, 80, 3), np.uint8)), "black"),
        (ppm(picture()[:40]), "size"),
    ],
)
def test_bad_frames_say_why(data: bytes, reason: str) -> None:
    with pytest.raises(BadFrame) as caught:
        decode_screenshot(data, 80, 50)
    assert caught.value.reason == reason


def test_a_dark_theme_is_not_black() -> None:
    image = np.full((50, 80, 3), 12, np.uint8)
    check_frame(image, 80, 50)
    image = np.zeros((50, 80, 3), np.uint8)
    image[:5, :20] = 200
    check_frame(image, 80, 50)
