"""Whether two recordings show the same: their lengths, and what is lighter than its neighbour in frames spread over them.

Screens of one application look alike, so a frame is kept as 32 x 18 comparisons (dHash, 576 bits, not the usual 64) and all frames must agree:
another task in the same window moves text and dialogs in most of them. Scaling, another codec and a logo in a corner change a few bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from cuamaster.ports import Image

WIDTH, HEIGHT = 32, 18
FRAMES = 12
"""Frames of a recording, from the middles of equal parts."""
SECONDS, SHARE = 1.0, 0.005
"""By how much durations of one recording differ after another container or frame rate."""
APART = 0.12
"""Share of the bits set in either of two frames that may be set in one only, at the median over the frames. Screens are mostly plain, so
bits that are set in neither say nothing."""
EVER = 0.35
"""The same for the worst frame: one that was caught a moment before or after a change."""
PLAIN = 0.02
"""A frame in which fewer of the comparisons are set says nothing: black, one colour."""


def fingerprint(frames: Sequence[Image]) -> tuple[str, ...]:
    """72 bytes in hex for each frame (height x width x 3 or height x width)."""
    found = []
    for frame in frames:
        gray = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) if frame.ndim == 3 else frame
        small = cv2.resize(gray, (WIDTH + 1, HEIGHT), interpolation=cv2.INTER_AREA).astype(np.int16)
        found.append(np.packbits(small[:, 1:] > small[:, :-1] + 2).tobytes().hex())
    return tuple(found)


def same_footage(one: Sequence[str], two: Sequence[str], seconds: tuple[float, float]) -> bool:
    """Whether two fingerprints are of one recording, given the durations of both; recordings without pictures are never the same."""
    if len(one) != len(two) or abs(seconds[0] - seconds[1]) > max(SECONDS, SHARE * max(seconds)):
        return False
    pairs = [(_bits(a), _bits(b)) for a, b in zip(one, two, strict=True)]
    told = [float((a != b).sum() / (a | b).sum()) for a, b in pairs if max(a.mean(), b.mean()) >= PLAIN]
    return len(told) * 2 >= len(one) > 0 and float(np.median(told)) <= APART and max(told) <= EVER


def _bits(digits: str) -> Image:
    return np.unpackbits(np.frombuffer(bytes.fromhex(digits), np.uint8))
