"""Every dialect: what it says is read back unchanged, what it cannot say is named, and the pointer lands where it was meant to."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cuamaster.action_space import CUAAction, to_pixel
from cuamaster.dialects.coordinates import Screen
from cuamaster.dialects.dialect import Dialect
from cuamaster.dialects.registry import DIALECTS, dialect
from cuamaster.errors import Inexpressible, UnknownName
from tests.dialects.actions import ANY_ACTION, SCREENS, coords

EVERY = pytest.mark.parametrize("spoken", DIALECTS.values(), ids=DIALECTS)
screens = st.sampled_from(SCREENS)
cursors = st.none() | st.tuples(coords, coords)


@EVERY
@given(st.lists(ANY_ACTION, min_size=1, max_size=3), screens, cursors, st.text(max_size=40))
def test_what_is_rendered_is_read_back(
    spoken: Dialect, actions: list[CUAAction], size: tuple[int, int], cursor: tuple[float, float] | None, thought: str
) -> None:
    screen = Screen(*size, cursor)
    try:
        said = spoken.express(actions, screen)
    except Inexpressible as exc:
        assert exc.dialect == spoken.name and exc.field
        with pytest.raises(Inexpressible):
            spoken.render(actions, screen, lossy=True)
        return
    if said.losses:
        with pytest.raises(Inexpressible):
            spoken.render(actions, screen, thought=thought)
        assert all(loss.field and loss.what for loss in said.losses)
    text = spoken.render(actions, screen, thought=thought, lossy=True)
    # an end that is words alone ends the answer: nothing can stand behind it
    assume(not any(action.type == "finish" for action in said.actions[:-1]))
    parsed = spoken.parse(text, screen)
    assert parsed == list(said.actions)
    again = spoken.express(parsed, screen)
    assert (list(again.actions), again.losses) == (parsed, ()), "what was read can be said again, unchanged"


@EVERY
@given(coords, coords, screens)
def test_a_click_lands_where_it_was_meant_to(spoken: Dialect, x: float, y: float, size: tuple[int, int]) -> None:
    screen = Screen(*size)
    [read] = spoken.parse(spoken.render([CUAAction("mouse.click", {"x": x, "y": y})], screen), screen)
    for wanted, got, side, quantum in zip(
        (x, y), (read.args["x"], read.args["y"]), size, spoken.space.quantum(screen), strict=True
    ):
        # half a step of the dialect, and one pixel for rounding down to whole ones
        assert abs(to_pixel(wanted, side) - to_pixel(got, side)) <= max(1, math.floor(quantum / 2) + 1)


@EVERY
@pytest.mark.parametrize("size", SCREENS)
def test_every_corner_is_on_the_screen(spoken: Dialect, size: tuple[int, int]) -> None:
    screen = Screen(*size)
    for corner in ((0, 0), (1000, 0), (0, 1000), (1000, 1000)):
        [read] = spoken.parse(
            spoken.render([CUAAction("mouse.click", {"x": corner[0], "y": corner[1]})], screen), screen
        )
        for wanted, got, side, quantum in zip(
            corner, (read.args["x"], read.args["y"]), size, spoken.space.quantum(screen), strict=True
        ):
            assert abs(to_pixel(wanted, side) - to_pixel(got, side)) <= max(1, quantum / 2 + 1)


def test_an_unknown_dialect_is_named_with_all_known_ones() -> None:
    assert dialect("qwen3-vl").title.startswith("Qwen3-VL")
    with pytest.raises(UnknownName, match=r"klingon.*ui-tars-1\.5"):
        dialect("klingon")
