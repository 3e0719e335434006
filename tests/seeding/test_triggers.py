"""Visual triggers on drawn screens: rests, hovering, typing slow and thin, strokes, a clock."""

from __future__ import annotations

import pytest
from screens import Film, center

from cuamaster.seeding.footage import watch
from cuamaster.seeding.triggers import VisualTrigger, clusters, visual_triggers


def _triggers(film: Film) -> list[VisualTrigger]:
    return visual_triggers(watch(film.pictures), 0.0, film.t)


def test_highlights_under_a_moving_pointer_are_no_triggers() -> None:
    film = Film({f"Item {n}": (100, 100 + 30 * n) for n in range(6)}, pointer=(120, 80))
    film.show(1.0)
    for n in range(6):
        film.labels = {k: v for k, v in film.labels.items() if not k.startswith(">")} | {">>>>": (60, 100 + 30 * n)}
        film.move(120, 110 + 30 * n, 0.1)
    film.show(1.5)
    assert [(v.shape, v.strong) for v in _triggers(film) if v.shape != "stroke"] == [("rest", False)]


def test_a_click_is_timed_by_its_effect_and_placed_by_the_pointer() -> None:
    film = Film({"Save": (500, 300)})
    film.show(1.0)
    film.move(*center(film, "Save"))
    film.show(0.5)
    film.click()
    film.labels |= {"Saved to disk": (300, 100)}
    film.show(1.0)
    (trigger,) = _triggers(film)
    assert (trigger.shape, trigger.strong) == ("rest", True)
    assert trigger.t == pytest.approx(film.done[0], abs=0.15)
    assert (trigger.x, trigger.y) == pytest.approx(center(film, "Save"), abs=3)


@pytest.mark.parametrize(("text", "pause"), [("illicit trill", 0.0), ("slow hand", 0.5), ("Hi", 0.0)])
def test_typing_is_one_trigger_however_thin_or_slow(text: str, pause: float) -> None:
    film = Film({"Name:": (60, 100)}, pointer=(500, 300))
    film.show(1.0)
    for end in range(1, len(text) + 1):
        film.labels = {"Name:": (60, 100), text[:end]: (130, 100)}
        film.show(0.1 + pause)
    film.show(1.0)
    (trigger,) = _triggers(film)
    assert trigger.shape == "typing"
    assert trigger.t == pytest.approx(1.0, abs=0.25)
    assert trigger.t_end == pytest.approx(1.0 + (len(text) - 1) * (0.1 + pause), abs=0.35 + pause)


def test_a_blinking_text_cursor_is_nothing() -> None:
    film = Film({"Name:": (60, 100)}, pointer=(500, 300))
    for _ in range(5):
        film.labels = {"Name:": (60, 100), "|": (130, 100)}
        film.show(0.5)
        film.labels = {"Name:": (60, 100)}
        film.show(0.5)
    assert _triggers(film) == []


def test_a_dialog_that_opens_at_once_is_a_change_and_not_typing() -> None:
    film = Film({"Text": (60, 100)}, pointer=(500, 300))
    film.show(1.0)
    film.labels |= {f"A line of a dialog {n}": (200, 150 + 25 * n) for n in range(6)}
    film.show(1.0)
    found = clusters(watch(film.pictures))
    assert [cluster.line for cluster in found] == [None]
    assert _triggers(film)[0].shape == "change"
