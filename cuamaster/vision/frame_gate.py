"""Lets through only screenshots that may become observations: right size, complete, not black."""

from __future__ import annotations

import re

import numpy as np

from cuamaster.errors import BadFrame
from cuamaster.ports import Image

BLACK_LEVEL = 8
"""A pixel is black when all its channels are at or below this (0-255)."""
BLACK_SHARE = 0.995
"""A frame with at least this share of black pixels shows no desktop: console, blanked screen, mode switch."""


def check_frame(image: Image, width: int, height: int) -> None:
    """Raise BadFrame (reason size | black) unless `image` is (height, width, 3) RGB that shows a desktop."""
    if image.ndim != 3 or image.shape != (height, width, 3):
        raise BadFrame(f"screenshot is {image.shape}, the screen is {width}x{height}", reason="size")
    allowed = (1 - BLACK_SHARE) * width * height  # more bright pixels than this, and the screen is not black
    if _bright(image[::4, ::4]) > allowed:
        return  # a sixteenth of them already decides nearly always
    if (bright := _bright(image)) <= allowed:
        raise BadFrame(f"{1 - bright / (width * height):.1%} of the screen is black", reason="black")


def _bright(image: Image) -> int:
    return int(np.count_nonzero(image.max(axis=2) > BLACK_LEVEL))


def decode_screenshot(data: bytes, width: int, height: int) -> Image:
    """Decode a PPM (P6) or PNG screenshot to RGB and check it; raises BadFrame (truncated | size | black)."""
    image = _decode_ppm(data) if data.startswith(b"P6") else _decode_png(data)
    check_frame(image, width, height)
    return image


def _decode_ppm(data: bytes) -> Image:
    # Exactly one blank ends the header: pixels may look like blanks too.
    header = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", data)
    if header is None:
        raise BadFrame("screenshot has no complete PPM header", reason="truncated")
    columns, rows = int(header.group(1)), int(header.group(2))
    need, start = columns * rows * 3, header.end()
    if need == 0 or len(data) - start < need:
        raise BadFrame(f"screenshot has {len(data) - start} of {need} pixel bytes", reason="truncated")
    return np.frombuffer(data, np.uint8, need, start).reshape(rows, columns, 3)


def _decode_png(data: bytes) -> Image:
    import cv2

    # Without its end chunk a PNG still decodes, the missing part grey.
    if not data.startswith(b"\x89PNG") or b"IEND" not in data[-16:]:
        raise BadFrame(f"screenshot of {len(data)} bytes is not a complete PNG", reason="truncated")
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if decoded is None:
        raise BadFrame("screenshot cannot be decoded", reason="truncated")
    return np.ascontiguousarray(decoded[:, :, ::-1]).astype(np.uint8, copy=False)
