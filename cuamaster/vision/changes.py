"""What changed between two frames: masks, regions, and the share of a tile, with the cursor left out.

A whole-frame score cannot tell a ticked checkbox (0.05 % of a frame) from an idle screen under a moving cursor (1.5 %), so changes
are counted per 32-pixel tile, over pixels whose grey value moved by more than 20 of 255.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from cuamaster.ports import Gray, Image

Mask = npt.NDArray[np.uint8]
PIXEL_DIFFERENCE = 20
TILE = 32
BLINK_PIXELS = 200
"""A blinking text cursor changes fewer pixels than this."""


class Region(NamedTuple):
    """A changed rectangle in pixels (x1, y1 exclusive) and how many of its pixels changed."""

    x0: int
    y0: int
    x1: int
    y1: int
    pixels: int

    @property
    def width(self) -> int:
        """Pixels across."""
        return self.x1 - self.x0

    @property
    def height(self) -> int:
        """Pixels down."""
        return self.y1 - self.y0

    def gap(self, x: float, y: float) -> float:
        """Distance in pixels from a point to the rectangle; 0 inside."""
        return float(np.hypot(max(self.x0 - x, 0, x - self.x1 + 1), max(self.y0 - y, 0, y - self.y1 + 1)))

    def touches(self, other: tuple[float, float, float, float], pad: float = 0.0) -> bool:
        """Whether it overlaps x0, y0, x1, y1 grown by `pad`."""
        x0, y0, x1, y1 = other
        return self.x0 < x1 + pad and self.x1 > x0 - pad and self.y0 < y1 + pad and self.y1 > y0 - pad


def gray(image: Image) -> Gray:
    """Grey picture, (height, width) uint8."""
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def changed_mask(before: Gray, after: Gray, hidden: Sequence[tuple[float, float, float, float]] = ()) -> Mask:
    """255 where the two grey pictures differ; the rectangles in `hidden` (the cursor, old and new) count as equal."""
    mask = np.asarray(
        cv2.threshold(cv2.absdiff(before, after), PIXEL_DIFFERENCE, 255, cv2.THRESH_BINARY)[1], dtype=np.uint8
    )
    for x0, y0, x1, y1 in hidden:
        mask[max(0, int(y0)) : max(0, int(np.ceil(y1))), max(0, int(x0)) : max(0, int(np.ceil(x1)))] = 0
    return mask


def same_screen(a: Image, b: Image) -> bool:
    """Whether two pictures differ by no more than a blinking text cursor."""
    return a.shape == b.shape and int(np.count_nonzero(changed_mask(gray(a), gray(b)))) <= BLINK_PIXELS


def regions(mask: Mask, *, join: int = 6, at_least: int = 1) -> list[Region]:
    """Changed rectangles, largest first; pixels closer than about `join` belong to one region."""
    if not mask.any():
        return []
    x, y, width, height = cv2.boundingRect(mask)
    part = mask[y : y + height, x : x + width]
    grown = cv2.dilate(
        cv2.copyMakeBorder(part, join, join, join, join, cv2.BORDER_CONSTANT), np.ones((join + 1, join + 1), np.uint8)
    )
    _, labels, _, _ = cv2.connectedComponentsWithStats(grown)
    labels = np.where(part > 0, labels[join:-join, join:-join], 0)
    found = []
    ys, xs = np.nonzero(labels)
    names = labels[ys, xs]
    order = np.argsort(names, kind="stable")
    ys, xs, names = ys[order], xs[order], names[order]
    starts = np.flatnonzero(np.diff(names, prepend=-1))
    for begin, end in zip(starts, [*starts[1:], len(names)], strict=True):
        if end - begin >= at_least:
            px, py = xs[begin:end], ys[begin:end]
            found.append(
                Region(
                    int(px.min() + x), int(py.min() + y), int(px.max() + x + 1), int(py.max() + y + 1), int(end - begin)
                )
            )
    return sorted(found, key=lambda region: -region.pixels)


def tile_share(mask: Mask) -> float:
    """The largest share of changed pixels in any 32-pixel tile (tiles overlap by half)."""
    if not mask.any():
        return 0.0
    x, y, width, height = cv2.boundingRect(mask)
    part = np.pad(mask[y : y + height, x : x + width] > 0, TILE // 2).astype(np.float32)
    return float(cv2.blur(part, (TILE, TILE), borderType=cv2.BORDER_CONSTANT).max())


def around(regions_: Sequence[Region]) -> Region | None:
    """The rectangle around all of them."""
    if not regions_:
        return None
    return Region(
        min(r.x0 for r in regions_), min(r.y0 for r in regions_), max(r.x1 for r in regions_), max(r.y1 for r in regions_), sum(r.pixels for r in regions_)
    )  # fmt: skip
