"""Every unit through every resizer: what is written is read back in the same place, and what lies outside is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuamaster.action_space import to_pixel
from cuamaster.dialects.coordinates import AsIs, Limit, Resize, Screen, SmartResize, Space
from cuamaster.errors import InvalidAction, InvalidInput
from tests.dialects.actions import SCREENS, coords

RESIZES = (
    AsIs(),
    Limit(1568, 1_150_000),
    SmartResize(28, 3136, 12_845_056),
    SmartResize(28, 78_400, 12_845_056),
    SmartResize(28, 3136, 2_109_744),
    SmartResize(28, 3136, 1_003_520),
    SmartResize(32, 65_536, 16_777_216),
    SmartResize(16, 3136, 10_035_200),
)
SPACES = (
    *(Space("pixels", resize=resize) for resize in RESIZES),
    Space("grid", maximum=1000),
    Space("grid", maximum=999),
    Space("cells", maximum=999),
    Space("fraction", digits=4),
)
spaces = st.sampled_from(SPACES)
screens = st.builds(Screen, st.integers(1, 8000), st.integers(1, 8000)).filter(
    lambda screen: max(screen.width, screen.height) <= 200 * min(screen.width, screen.height)
)


@given(spaces, coords, coords, st.sampled_from(SCREENS).map(lambda size: Screen(*size)) | screens)
def test_a_place_is_read_where_it_was_written(space: Space, x: float, y: float, screen: Screen) -> None:
    written = space.write((x, y), screen)
    read = space.read(*written, screen)
    assert space.write(read, screen) == written, "what was read is written the same again"
    for wanted, got, side, quantum in zip(
        (x, y), read, (screen.width, screen.height), space.quantum(screen), strict=True
    ):
        assert 0 <= got <= 1000
        assert abs(to_pixel(wanted, side) - to_pixel(got, side)) <= max(1, math.floor(quantum / 2) + 1)


@given(st.sampled_from(SCREENS), st.data())
def test_pixels_of_the_screen_itself_are_exact(size: tuple[int, int], data: st.DataObject) -> None:
    screen, space = Screen(*size), Space("pixels")
    x, y = data.draw(st.integers(0, size[0] - 1)), data.draw(st.integers(0, size[1] - 1))
    read = space.read(x, y, screen)
    assert (to_pixel(read[0], size[0]), to_pixel(read[1], size[1])) == (x, y)
    assert space.write(read, screen) == (x, y)


@given(st.sampled_from(RESIZES), screens)
def test_resized_pictures_keep_their_bounds(resize: Resize, screen: Screen) -> None:
    width, height = resize.size(screen.width, screen.height)
    assert width >= 1 and height >= 1
    if isinstance(resize, SmartResize):
        assert width % resize.factor == height % resize.factor == 0
    if isinstance(resize, Limit):
        assert max(width, height) <= resize.max_side and width * height <= resize.max_pixels


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("value", [-1, 10**6, float("nan"), float("inf"), -float("inf"), "5", None, True, [1], 10**400])
def test_what_is_no_place_is_refused(space: Space, value: object) -> None:
    with pytest.raises(InvalidAction) as caught:
        space.read(0, value, Screen(1920, 1080), ("x", "coordinate[1]"))
    assert caught.value.field == "coordinate[1]"


def test_the_far_edge_is_the_last_pixel_and_the_numbers_are_told_apart() -> None:
    screen = Screen(3840, 2160)
    for space, edge in (
        (Space("pixels"), 3840),
        (Space("grid", maximum=1000), 1000),
        (Space("grid", maximum=999), 999),
    ):
        assert to_pixel(space.read(edge, 0, screen)[0], 3840) == 3839
    # 999 against 1000 as the far edge: nearly two pixels apart in the middle of a 4K screen
    nine, thousand = (Space("grid", maximum=maximum).read(500, 0, screen)[0] for maximum in (999, 1000))
    assert to_pixel(nine, 3840) - to_pixel(thousand, 3840) == 1
    with pytest.raises(InvalidAction, match="was it resized in another way"):
        Space("pixels", resize=Limit(1568, 1_150_000)).read(3000, 0, screen)
    with pytest.raises(InvalidAction, match="0-1000 across the whole screen, not pixels"):
        Space("grid", maximum=1000).read(1932, 0, screen)


def test_screens_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidInput, match="0x5"):
        Screen(0, 5)
    with pytest.raises(InvalidInput, match="too long and narrow"):
        Space("pixels", resize=SmartResize(28, 3136, 12_845_056)).write((1, 1), Screen(5000, 10))
