"""What programs told of their own elements: boxes that go before those read from the picture, and elements nobody clicked."""

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


def test_what_else_can_be_clicked_is_told_once_if_its_name_is_its_own(world: World) -> None:
    on = ("enabled",)
    tree = Elements(
        elements=(
            UIElement(role="frame", name="Editor", x=0, y=0, width=64, height=40, states=on),
            UIElement(role="menu item", name="Save As...", x=8, y=2, width=50, height=16, states=on, parent=0),
            UIElement(role="push button", name="Reload", x=0, y=20, width=11, height=9, states=on, parent=0),
            UIElement(role="push button", name="Close", x=20, y=20, width=10, height=10, states=on, parent=0),
            UIElement(role="page tab", name="close", x=40, y=20, width=10, height=10, states=on, parent=0),
            UIElement(role="push button", name="Stop", x=30, y=20, width=10, height=10, parent=0),
            UIElement(role="push button", name="", x=30, y=30, width=10, height=10, states=on, parent=0),
        )
    )
    scene = Scene(active=None, windows=(), pointer=(3, 4), tree=tree)
    seen = world.see().model_copy(update={"scene": world.store.put(scene.to_json().encode())})
    found = list(elements([sample(seen, "Save As…", "Save As…")], world.store, lambda _: []))
    assert [
        (item.target.text, item.target.role, item.box, item.point, item.clicked)
        for item in found
        if isinstance(item, Element)
    ] == [("Save As…", "", (8, 2, 58, 18), (16, 10), True), ("Reload", "button", (0, 20, 11, 29), (5, 24), False)]
    assert all(isinstance(item, Element) and item.scene == scene for item in found)


def test_a_damaged_scene_is_a_reason_and_no_crash(world: World) -> None:
    seen = world.see().model_copy(update={"scene": world.store.put(b"{}")})
    (dropped,) = elements([sample(seen, "Open")], world.store, lambda _: READ)
    assert isinstance(dropped, Dropped)
    assert "no scene" in dropped.detail
