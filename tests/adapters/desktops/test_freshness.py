"""Doubt about a screen: an effect settles it, a moving pointer too; a frozen picture is stale, a hidden pointer is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cuamaster.adapters.desktops import libvirt_freshness
from cuamaster.adapters.desktops.libvirt_freshness import Freshness
from cuamaster.errors import BadFrame
from cuamaster.ports import Image


class Screen:
    """A picture with a pointer on it, which can be hidden, and all of which can freeze."""

    def __init__(self) -> None:
        self.pointer = (20, 20)
        self.visible, self.frozen, self.draws = True, False, True
        self.moves: list[tuple[int, int]] = []
        self._kept: Image | None = None

    def move(self, x: int, y: int) -> None:
        self.moves.append((x, y))
        self.pointer = (x, y)

    def look(self) -> Image:
        if self.frozen and self._kept is not None:
            return self._kept
        picture = np.zeros((40, 40, 3), np.uint8)
        if self.visible:
            picture[self.pointer[1], self.pointer[0]] = 255
        self._kept = picture
        return picture


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setattr(libvirt_freshness, "SLOW_S", 0.0)
    monkeypatch.setattr(libvirt_freshness, "PROOF_S", 0.1)
    return Screen()


def _doubting(screen: Any) -> Freshness:
    freshness = Freshness(screen.look, screen, lambda: screen.draws)
    freshness.saw(screen.look())
    freshness.acted()
    freshness.saw(screen.look())
    return freshness


def test_nothing_is_doubted_before_an_action_or_after_an_effect(screen: Screen) -> None:
    freshness = Freshness(screen.look, screen, lambda: False)  # type: ignore[arg-type]
    freshness.saw(screen.look())
    assert not freshness.doubtful
    freshness.acted()
    screen.pointer = (5, 5)
    freshness.saw(screen.look())
    assert not freshness.doubtful


def test_a_still_screen_proves_itself_by_the_pointer_which_is_put_back(screen: Screen) -> None:
    freshness = _doubting(screen)
    assert freshness.doubtful
    freshness.prove()
    assert not freshness.doubtful
    assert screen.pointer == (20, 20)
    assert len(screen.moves) == 2


def test_a_frozen_picture_of_a_guest_that_does_not_draw_is_stale(screen: Screen) -> None:
    freshness = _doubting(screen)
    screen.frozen, screen.draws = True, False
    with pytest.raises(BadFrame) as caught:
        freshness.prove()
    assert caught.value.reason == "stale"
    assert screen.pointer == (20, 20)
    assert freshness.doubtful, "as long as nothing moves"


def test_a_hidden_pointer_over_a_still_picture_is_believed(screen: Screen) -> None:
    screen.visible = False
    freshness = _doubting(screen)
    freshness.prove()
    assert not freshness.doubtful


def test_a_restored_screen_is_not_compared_with_the_one_before(screen: Screen) -> None:
    freshness = _doubting(screen)
    freshness.forget()
    assert not freshness.doubtful
