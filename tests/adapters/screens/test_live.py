"""The live reader: what did not change is not read again, and the nearest of the last screens is taken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cuamaster.adapters.screens.live import LiveReader
from cuamaster.ports import Image
from cuamaster.records.trajectory import TextBox


class Counting:
    """Names a picture by its brightest pixel and counts how it was read."""

    name = "counting"

    def __init__(self) -> None:
        self.whole, self.changed = 0, list[int]()

    def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        self.whole += 1
        return [TextBox(text=str(image.max()), x0=10, y0=10, x1=20, y1=20)]

    def read_changed(self, prev_image: Image, prev_boxes: Sequence[TextBox], image: Image) -> list[TextBox]:
        self.changed.append(int(prev_image.max()))
        return [TextBox(text=str(image.max()), x0=30, y0=30, x1=40, y1=40)]


def _screen(shade: int, size: int = 50) -> Image:
    image = np.zeros((50, 60, 3), dtype=np.uint8)
    image[:size, :size] = shade
    return image


def test_a_screen_seen_before_is_not_read_again() -> None:
    inner = Counting()
    live = LiveReader(inner)
    first, second = _screen(10), _screen(20)
    one = live.read(first)
    two = live.read(second)
    assert (live.read(first.copy()), live.read(second.copy())) == (one, two)
    assert (inner.whole, inner.changed) == (1, [10])


def test_the_most_similar_screen_is_built_upon() -> None:
    inner = Counting()
    live = LiveReader(inner)
    for image in (_screen(10), _screen(20, 40), _screen(30)):
        live.read(image)
    almost = _screen(20, 40)
    almost[0, 0] = 25
    live.read(almost)
    assert inner.changed[-1] == 20
    assert inner.whole == 1


def test_only_the_last_screens_are_remembered_and_sizes_do_not_mix() -> None:
    inner = Counting()
    live = LiveReader(inner)
    for shade in range(10, 100, 10):
        live.read(_screen(shade))
    live.read(_screen(90))
    assert len(inner.changed) == 8, "the newest is still known"
    live.read(_screen(10))
    assert len(inner.changed) == 9, "the oldest was forgotten"
    live.read(np.zeros((20, 20, 3), dtype=np.uint8))
    assert inner.whole == 2


def test_a_region_keeps_the_boxes_in_it() -> None:
    live = LiveReader(Counting())
    assert len(live.read(_screen(10), region=(0, 0, 30, 30))) == 1
    assert live.read(_screen(10), region=(30, 30, 60, 50)) == []
