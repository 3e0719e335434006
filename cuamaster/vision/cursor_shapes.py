"""Drawings of the pointer shapes that desktops use, as templates to look for; drawn here so that no icon theme is needed.

Each shape is drawn eight times too large and scaled down, in both polarities (dark with a light rim, light with a dark rim). A template is a
grey picture, a mask of the pixels that belong to the shape, and its hot spot.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

_OVERSAMPLE = 8
_MARGIN = 2.0

_ARROW = ((0.0, 0.0), (0.0, 12.5), (2.7, 10.0), (4.9, 14.4), (6.8, 13.5), (4.7, 9.3), (8.9, 9.1))
_CARET = ((-2.5, -8), (-2.5, -7), (-0.5, -7), (-0.5, 7), (-2.5, 7), (-2.5, 8), (2.5, 8), (2.5, 7), (0.5, 7), (0.5, -7), (2.5, -7), (2.5, -8))  # fmt: skip
_PLUS = ((-2.8, -7.6), (2.8, -7.6), (2.8, -2.8), (7.6, -2.8), (7.6, 2.8), (2.8, 2.8), (2.8, 7.6), (-2.8, 7.6), (-2.8, 2.8), (-7.6, 2.8), (-7.6, -2.8), (-2.8, -2.8))  # fmt: skip
_HAND = (
    (-2.0, 0.0),
    (1.2, 0.0),
    (1.6, 6.5),
    (8.8, 8.8),
    (9.4, 12.5),
    (7.4, 18.0),
    (-1.5, 18.0),
    (-5.8, 11.6),
    (-4.6, 9.6),
    (-2.0, 11.2),
)
_SHAPES: tuple[tuple[str, Sequence[tuple[float, float]]], ...] = (
    ("arrow", _ARROW),
    ("caret", _CARET),
    ("plus", _PLUS),
    ("hand", _HAND),
)


class Template(NamedTuple):
    """A drawn pointer: grey float32 picture, 0/1 float32 mask, hot spot inside it in pixels, and its name."""

    name: str
    picture: npt.NDArray[np.float32]
    mask: npt.NDArray[np.float32]
    hot_x: float
    hot_y: float


def _draw(name: str, points: Sequence[tuple[float, float]], dark: bool, scale: float) -> Template:
    outline = np.array(points, np.float32) * scale
    low = outline.min(axis=0) - _MARGIN
    width, height = (int(v) for v in np.ceil(outline.max(axis=0) - low + _MARGIN))
    fill, rim = (0.0, 255.0) if dark else (255.0, 0.0)
    big = np.full((height * _OVERSAMPLE, width * _OVERSAMPLE), rim, np.float32)
    polygon = np.round((outline - low) * _OVERSAMPLE).astype(np.int32)
    body = np.zeros(big.shape, np.uint8)
    cv2.fillPoly(body, [polygon], 1)
    big[body > 0] = fill
    reach = round(1.1 * scale * _OVERSAMPLE) * 2 + 1
    covered = cv2.dilate(body, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach)))
    picture = cv2.resize(big, (width, height), interpolation=cv2.INTER_AREA)
    shown = cv2.resize(covered.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA) > 0.6
    return Template(
        f"{name}-{'dark' if dark else 'light'}",
        np.asarray(picture, dtype=np.float32),
        shown.astype(np.float32),
        float(-low[0]),
        float(-low[1]),
    )


@lru_cache(maxsize=8)
def templates(scale: float) -> tuple[Template, ...]:
    """All shapes in both polarities; scale 1.0 is the usual 24-pixel pointer."""
    return tuple(_draw(name, points, dark, scale) for name, points in _SHAPES for dark in (True, False))
