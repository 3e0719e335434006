"""What drawn footage is made of: fonts, photographs, textures, sensor noise, and the record of one clip with its truth."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from PIL import ImageFont

Picture = npt.NDArray[np.uint8]
"""(height, width, 3) RGB."""
Box = tuple[int, int, int, int]
"""x0, y0, x1, y1 in pixels."""
Random = np.random.Generator
FPS = 10
SECONDS = 16


@dataclass(frozen=True)
class Clip:
    """One recording to be made: its frames at FPS, and what is true of it.

    `kind`: screen, camera, game, slides, animation, still, blank. `region`: where the screen is; `camera`: where a camera picture
    lies on it (both in pixels of the frame); `share`: of the time that shows a screen.
    """

    family: str
    seed: int
    kind: str
    size: tuple[int, int]
    frames: Callable[[], Iterator[Picture]]
    share: float = 0.0
    region: Box | None = None
    camera: Box | None = None

    @property
    def name(self) -> str:
        """Family and seed."""
        return f"{self.family}-{self.seed}"


def times() -> Iterator[float]:
    """Seconds of the frames of a clip."""
    return (index / FPS for index in range(SECONDS * FPS))


@cache
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font that comes with Pillow."""
    return ImageFont.load_default(size=size)


@cache
def photo(name: str, width: int, height: int) -> Picture:
    """One of the two photographs that come with scikit-learn (china, flower), filling the size."""
    found = importlib.util.find_spec("sklearn")  # only its folder is wanted: importing it takes seconds
    if found is None or found.origin is None:
        raise SystemExit("scikit-learn is not installed: its photographs are needed")
    path = Path(found.origin).parent / "datasets" / "images" / f"{name}.jpg"
    picture = cv2.cvtColor(np.asarray(cv2.imread(str(path)), np.uint8), cv2.COLOR_BGR2RGB)
    scale = max(width / picture.shape[1], height / picture.shape[0])
    big = cv2.resize(picture, (0, 0), fx=scale * 1.001, fy=scale * 1.001, interpolation=cv2.INTER_CUBIC)
    return np.asarray(big[:height, :width], np.uint8)


def texture(random: Random, width: int, height: int, roughness: float = 1.6) -> Picture:
    """Coloured clouds: noise of all sizes, the small ones weaker by `roughness` an octave; as walls, grass, sky have it."""
    total = np.zeros((height, width, 3), np.float32)
    weight, cells = 1.0, 3
    while cells < width // 2:
        grid = random.normal(0, 1, (cells, cells, 3)).astype(np.float32)
        grid = 0.7 * grid.mean(axis=2, keepdims=True) + 0.3 * grid
        total += weight * cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC)
        weight, cells = weight / roughness, cells * 2
    spread = total / (total.std() + 1e-6)
    return np.asarray(np.clip(random.uniform(90, 150) + 38 * spread, 0, 255), np.uint8)


class Sensor:
    """Noise and small brightness changes of a camera."""

    def __init__(self, random: Random, size: tuple[int, int], sigma: float) -> None:
        self._random, self._size = random, size
        noise = random.normal(0, sigma, (size[1] + 64, size[0] + 64)).astype(np.int16)
        self._more = np.repeat(np.clip(noise, 0, 255).astype(np.uint8)[..., None], 3, axis=2)
        self._less = np.repeat(np.clip(-noise, 0, 255).astype(np.uint8)[..., None], 3, axis=2)

    def see(self, picture: Picture) -> Picture:
        """The picture as the camera gives it."""
        x, y = self._random.integers(0, 64, 2)
        part = slice(y, y + self._size[1]), slice(x, x + self._size[0])
        lit = cv2.convertScaleAbs(picture, alpha=1 + self._random.normal(0, 0.004))
        return np.asarray(cv2.subtract(cv2.add(lit, self._more[part]), self._less[part]), np.uint8)


def shifted(
    picture: Picture, x: float, y: float, width: int, height: int, zoom: float = 1.0, turn: float = 0.0
) -> Picture:
    """The part of a larger picture that a camera sees, its middle moved by x, y pixels."""
    move = cv2.getRotationMatrix2D((picture.shape[1] / 2 + x, picture.shape[0] / 2 + y), turn, zoom)
    move[:, 2] += (width / 2 - picture.shape[1] / 2 - x, height / 2 - picture.shape[0] / 2 - y)
    seen = cv2.warpAffine(picture, move, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return np.asarray(seen, np.uint8)
