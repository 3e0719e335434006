"""Coordinates of every dialect, declared as data, and the one place where they become 0-1000 and back.

A model sees a picture that may have been resized, and names a place on it in one of four units. `pixels`: the index of a
pixel of that picture. `cells`: the index of one of `maximum` + 1 equal parts. `grid`: an integer where 0 is one edge and
`maximum` (999 or 1000) the other. `fraction`: a decimal number from 0 to 1. A pixel or a cell is read as its middle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from cuamaster.action_space import COORD_MAX, from_pixel, to_pixel
from cuamaster.errors import InvalidAction, InvalidInput

Point = tuple[float, float]
Unit = Literal["pixels", "cells", "grid", "fraction"]


class Resize(Protocol):
    """What happens to a screenshot before the model sees it."""

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Size in pixels of the picture the model sees, of a screen of `width` x `height` pixels."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class AsIs:
    """The screenshot as it is."""

    def size(self, width: int, height: int) -> tuple[int, int]:
        """The same."""
        return width, height

    def __str__(self) -> str:
        return "as it is"


@dataclass(frozen=True)
class SmartResize:
    """Qwen's resize: both sides multiples of `factor`, the area between two bounds (qwen-vl-utils, vision_process.py)."""

    factor: int
    min_pixels: int
    max_pixels: int

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Raises InvalidInput for a picture more than 200 times longer than wide, as the original does."""
        if max(width, height) > 200 * min(width, height):
            raise InvalidInput(f"a picture of {width}x{height} is too long and narrow for this model")
        factor = self.factor
        sides = [max(factor, round(side / factor) * factor) for side in (width, height)]
        if sides[0] * sides[1] > self.max_pixels:
            ratio = math.sqrt(width * height / self.max_pixels)
            sides = [max(factor, math.floor(side / ratio / factor) * factor) for side in (width, height)]
        elif sides[0] * sides[1] < self.min_pixels:
            ratio = math.sqrt(self.min_pixels / (width * height))
            sides = [math.ceil(side * ratio / factor) * factor for side in (width, height)]
        return sides[0], sides[1]

    def __str__(self) -> str:
        return f"smart_resize, factor {self.factor}, {self.min_pixels}-{self.max_pixels} pixels"


@dataclass(frozen=True)
class Limit:
    """Scaled down, if it must be, until the longer side and the area are within bounds."""

    max_side: int
    max_pixels: int

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Never larger than the screen."""
        scale = min(1.0, self.max_side / max(width, height), math.sqrt(self.max_pixels / (width * height)))
        return max(1, int(width * scale)), max(1, int(height * scale))

    def __str__(self) -> str:
        return f"scaled down to {self.max_side} pixels a side and {self.max_pixels} in all"


@dataclass(frozen=True)
class Screen:
    """The screen of one turn in pixels, and where the pointer is on it (0-1000), if that is known."""

    width: int
    height: int
    cursor: Point | None = None

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise InvalidInput(f"a screen of {self.width}x{self.height} pixels is none")


@dataclass(frozen=True)
class Space:
    """How a dialect names a place. `maximum`: the greatest number of `cells` and `grid`; `digits`: decimals of a `fraction`."""

    unit: Unit
    maximum: int = 0
    digits: int = 0
    resize: Resize = field(default_factory=AsIs)

    def picture(self, screen: Screen) -> tuple[int, int]:
        """Size of the picture that the model sees."""
        return self.resize.size(screen.width, screen.height)

    def write(self, point: Point, screen: Screen) -> tuple[float, float]:
        """A place (0-1000) in the dialect's numbers: int, or float of a `fraction`."""
        width, height = self.picture(screen)
        return self._write(point[0], width), self._write(point[1], height)

    def read(self, x: Any, y: Any, screen: Screen, names: tuple[str, str] = ("x", "y")) -> Point:
        """A place of the dialect as 0-1000; raises InvalidAction naming the number that is none, or lies outside the picture."""
        width, height = self.picture(screen)
        return self._read(x, width, names[0]), self._read(y, height, names[1])

    def distance(self, dx: float, dy: float, screen: Screen) -> Point:
        """A distance in the dialect's numbers as parts of 1000 of the screen."""
        width, height = self.picture(screen) if self.unit == "pixels" else (self.maximum or 1,) * 2
        return dx * COORD_MAX / width, dy * COORD_MAX / height

    def quantum(self, screen: Screen) -> tuple[float, float]:
        """Pixels of the screen between neighbouring numbers of the dialect, across and down."""
        width, height = self.picture(screen)
        parts = {"pixels": (width, height), "cells": (self.maximum + 1,) * 2, "grid": (self.maximum,) * 2}
        across, down = parts.get(self.unit, (10**self.digits,) * 2)
        return screen.width / across, screen.height / down

    def _write(self, value: float, size: int) -> float:
        match self.unit:
            case "pixels":
                return to_pixel(value, size)
            case "cells":
                return to_pixel(value, self.maximum + 1)
            case "grid":
                return round(value * self.maximum / COORD_MAX)
            case "fraction":
                return round(value / COORD_MAX, self.digits)

    def _read(self, value: Any, size: int, name: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InvalidAction(f"{name} must be a number, got {_short(value)}", field=name)
        edge = {"pixels": size, "cells": self.maximum + 1, "grid": max(self.maximum, 1000)}.get(self.unit, 1)
        if not 0 <= value <= edge:
            raise InvalidAction(
                f"{name} must be between 0 and {edge}, got {_short(value)}", field=name, hint=self._meant(size)
            )
        if self.unit == "pixels":
            return from_pixel(min(math.floor(value), size - 1), size)
        if self.unit == "cells":
            return from_pixel(min(math.floor(value), self.maximum), self.maximum + 1)
        full = self.maximum if self.unit == "grid" else 1
        # the number itself where the scales agree: no 7.000000000000001, and integers stay integers
        return value if full == COORD_MAX else min(COORD_MAX, value * COORD_MAX / full)

    def _meant(self, size: int) -> str:
        if self.unit == "pixels":
            return f"pixels of the picture the model saw, {size} on this side: was it resized in another way?"
        return f"0-{self.maximum or 1} across the whole screen, not pixels"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
