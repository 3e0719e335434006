"""Changed regions: counted per tile, the pointer left out, near pixels joined."""

from __future__ import annotations

import numpy as np
import pytest

from cuamaster.vision.changes import Region, around, changed_mask, regions, tile_share


def _frames(*rectangles: tuple[int, int, int, int], value: int = 255) -> tuple[np.ndarray, np.ndarray]:
    before = np.full((200, 300), 100, np.uint8)
    after = before.copy()
    for x0, y0, x1, y1 in rectangles:
        after[y0:y1, x0:x1] = value
    return before, after


def test_small_differences_are_noise_and_large_ones_are_not() -> None:
    assert not changed_mask(*_frames((10, 10, 50, 50), value=115)).any()
    assert changed_mask(*_frames((10, 10, 50, 50), value=125)).sum() == 255 * 40 * 40


def test_hidden_rectangles_do_not_count() -> None:
    assert not changed_mask(*_frames((10, 10, 20, 20)), [(8.5, 9.2, 20, 20)]).any()
    assert changed_mask(*_frames((10, 10, 20, 20)), [(0, 0, 15, 200), (-5, -5, 2, 2)]).any()


def test_regions_are_exact_and_near_ones_joined() -> None:
    found = regions(changed_mask(*_frames((10, 10, 30, 20), (33, 10, 40, 20), (200, 150, 203, 153))))
    assert [tuple(region) for region in found] == [(10, 10, 40, 20, 270), (200, 150, 203, 153, 9)]
    assert regions(np.zeros((50, 50), np.uint8)) == []
    assert [r.pixels for r in regions(changed_mask(*_frames((0, 0, 4, 4), (290, 190, 300, 200))), at_least=20)] == [100]


def test_a_checkbox_fills_a_tile_that_a_frame_would_not_notice() -> None:
    mask = changed_mask(*_frames((100, 100, 113, 113)))
    assert (mask > 0).mean() < 0.003
    assert tile_share(mask) == pytest.approx(169 / 1024, rel=0.1)
    assert tile_share(np.zeros((50, 50), np.uint8)) == 0.0


def test_geometry_of_a_region() -> None:
    region = Region(10, 20, 30, 40, 5)
    assert (region.width, region.height) == (20, 20)
    assert region.gap(15, 25) == 0.0
    assert region.gap(10, 50) == pytest.approx(11)
    assert region.touches((30, 40, 50, 50), pad=1) and not region.touches((30, 40, 50, 50))
    assert around([region, Region(0, 0, 5, 5, 1)]) == Region(0, 0, 30, 40, 6)
    assert around([]) is None
