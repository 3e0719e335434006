"""Duplicates out, breaks made."""

from __future__ import annotations

from cuamaster.action_space import CUAAction
from cuamaster.records.trajectory import Action
from cuamaster.seeding.trajectory_verifier import BREAK_SECONDS, verified


def _click(t: float, x: float = 100.0, confidence: float = 0.9, **more: object) -> Action:
    return Action(
        action=CUAAction("mouse.click", {"x": x, "y": 50.0, **more}), t_start=t, t_end=t + 0.1, confidence=confidence
    )


def _key(t: float, *keys: str) -> Action:
    return Action(action=CUAAction("keyboard.press", {"keys": list(keys)}), t_start=t, t_end=t, confidence=0.5)


def test_the_same_click_twice_is_one_and_the_surer_stays() -> None:
    ((only,),) = verified([_click(1.0, confidence=0.5), _click(1.2, x=104.0, confidence=0.8)])
    assert only.confidence == 0.8


def test_different_places_kinds_and_times_stay_apart() -> None:
    actions = [_click(1.0), _click(1.2, x=300.0), _key(1.3, "tab"), _key(1.35, "enter"), _click(2.5, x=300.0)]
    assert verified(actions) == [actions]
    assert len(verified([_key(1.0, "tab"), _key(1.1, "tab")])[0]) == 1


def test_order_is_that_of_time_and_a_long_silence_breaks() -> None:
    late, early = _click(2.0 + BREAK_SECONDS + 5.0), _click(1.0)
    assert verified([late, early]) == [[early], [late]]
    assert verified([]) == []
