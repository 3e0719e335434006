"""Frame statistics: is this a clear recording of a screen, or a camera, a cartoon, slides or a blur."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cuamaster.ports import Image

MIN_FLAT = 0.45
"""Share of pixels equal (to 3 grey levels) to their right neighbour: screens .79-.99, camera pictures below .4."""
MIN_SHARP = 0.54
"""How much of a strong 3-pixel rise happens in one pixel: recorded text .56-.99, blurred or blown up from 240 lines .35-.53."""
MIN_STILL = 0.35
"""Median share of pixels that stay the same from one sampled frame to the next: screens .78-1, films with cuts far below."""
_STRONG, _ENOUGH = 60, 50


@dataclass(frozen=True)
class Look:
    """Medians over the frames: flatness, sharpness, stillness (1.0 for a single frame), and the height in pixels."""

    flat: float
    sharp: float
    still: float
    height: int

    @property
    def clear(self) -> bool:
        """Sharp enough to read labels on."""
        return self.sharp >= MIN_SHARP and self.height >= 360

    @property
    def screen(self) -> bool:
        """Looks like a recorded screen."""
        return self.flat >= MIN_FLAT and self.still >= MIN_STILL


def look(frames: Sequence[tuple[float, Image]]) -> Look | None:
    """Statistics of sampled frames, or None without frames. Limits were read off ten public recordings and blurred copies."""
    if not frames:
        return None
    grey = [image.astype(np.int16).sum(axis=2) // 3 for _, image in frames]
    flat = float(np.median([np.mean(np.abs(np.diff(picture, axis=1)) <= 3) for picture in grey]))
    sharp = float(np.median([_sharpness(picture) for picture in grey]))
    pairs = [(one, two) for one, two in itertools.pairwise(grey) if one.shape == two.shape]
    still = float(np.median([np.mean(np.abs(one - two) <= 8) for one, two in pairs])) if pairs else 1.0
    return Look(flat, sharp, still, int(grey[0].shape[0]))


def _sharpness(picture: npt.NDArray[np.int16]) -> float:
    step = np.abs(np.diff(picture, axis=1))
    rise = np.abs(picture[:, 3:] - picture[:, :-3])
    strong = rise >= _STRONG
    if np.count_nonzero(strong) < _ENOUGH:
        return 0.0
    steepest = np.maximum(np.maximum(step[:, :-2], step[:, 1:-1]), step[:, 2:])
    return float(np.median(steepest[strong] / rise[strong]))
