"""Boxes that a program told of its own elements go before boxes that are read from the picture."""

from __future__ import annotations

from cuamaster.exports.elements import Element, elements
from cuamaster.exports.sample import Sample
from cuamaster.records.episode import Dropped
from cuamaster.records.scene import Elements, Scene, UIElement
from cuamaster.records.trajectory import Action, Observation, Step, Target, TextBox

from .conftest import World, act

READ = [TextBox(text="Open", x0=10, y0=5, x1=30, y1=15), TextBox(text="Save As...", x0=0, y0=0, x1=60, y1=30)]


def sample(seen: Observation, *labels: str) -> Sample:
    click = act("mouse.click", x=250.0, y=250.0).action  # pixel 16, 10 of 64 x 40
    steps = tuple(Step(observation=seen, actions=(Action(action=click, target=Target(text=text)),)) for text in labels)
    return Sample(
        id="s", round=1, source="collected", instruction="", mode="gui", policy="", steps=steps, proof="verified"
    )


def test_a_box_that_the_program_told_goes_before_one_that_is_read(world: World) -> None:
    tree = Elements(elements=(UIElement(role="menu item", name="Save As...", x=8, y=2, width=50, height=16),))
    scene = Scene(active=None, windows=(), pointer=(0, 0), tree=tree)
    seen = world.see().model_copy(update={"scene": world.store.put(scene.to_json().encode())})
    found = list(elements([sample(seen, "Save As…", "Open")], world.store, lambda _: READ))
    assert [item.box for item in found if isinstance(item, Element)] == [(8, 2, 58, 18), (10, 5, 30, 15)]


def test_a_damaged_scene_is_a_reason_and_no_crash(world: World) -> None:
    seen = world.see().model_copy(update={"scene": world.store.put(b"{}")})
    (dropped,) = elements([sample(seen, "Open")], world.store, lambda _: READ)
    assert isinstance(dropped, Dropped)
    assert "no scene" in dropped.detail
