"""An observation keeps what the screen says of itself when that is asked for, and costs nothing more when it is not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.simulated import SimulatedDesktop
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.checks import holds
from cuamaster.errors import InvalidAction, MissingCapability, SetupFailed
from cuamaster.ports import ShellResult
from cuamaster.propagation.collection.acting import observe
from cuamaster.propagation.collection.setup import require
from cuamaster.propagation.collection.tools import call_tool
from cuamaster.records.condition import FileExists, ScreenText
from cuamaster.records.needs import needs_of_task
from cuamaster.records.primitive import SetupStep
from cuamaster.records.scene import Scene
from cuamaster.records.task import Environment, Task
from cuamaster.records.trajectory import StateSignature, TextBox


def test_a_scene_holds_windows_pointer_and_elements_of_the_moment_of_the_picture(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    desktop = SimulatedDesktop("light-desktop")
    desktop.launch("mousepad")
    desktop.act(CUAAction("mouse.move", {"x": 500, "y": 500}), "move")
    frame, seen = observe(desktop, store, t=1.0, response="", feedback="", elements=True)
    scene = Scene.model_validate_json(store.get(seen.scene))
    assert (scene.active, scene.windows, scene.pointer) == (frame.active, frame.windows, desktop.pointer)
    (menu,) = (item for item in scene.tree.elements if item.role == "menu" and item.name == "Edit")
    desktop.act(
        CUAAction(
            "mouse.click",
            {
                "x": (menu.x + menu.width / 2) * 1000 / desktop.width,
                "y": (menu.y + menu.height / 2) * 1000 / desktop.height,
            },
        ),
        "click",
    )
    _, opened = observe(desktop, store, t=2.0, response="", feedback="", elements=True)
    assert "Select All" in {item.name for item in Scene.model_validate_json(store.get(opened.scene)).tree.elements}


def test_without_the_wish_or_the_capability_nothing_is_asked_or_stored(tmp_path: Path) -> None:
    desktop = SimulatedDesktop("light-desktop")
    _, seen = observe(desktop, LocalStore(tmp_path), t=1.0, response="", feedback="")
    assert seen.scene == ""
    assert "scene" not in seen.model_dump()  # ids of what was recorded before stay
    desktop.capabilities = desktop.capabilities - {"accessibility"}
    _, seen = observe(desktop, LocalStore(tmp_path), t=1.0, response="", feedback="", elements=True)
    assert seen.scene == ""
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1  # the picture


class ScreenOnly(SimulatedDesktop):
    """A guest that nobody can ask, as one without an agent is."""

    capabilities = frozenset({"snapshot"})

    def state(self, files: Sequence[str] = ()) -> StateSignature:
        raise MissingCapability("no agent", capability="shell")

    def shell(self, command: str, *, cwd: str | None = None, timeout: float = 60.0) -> ShellResult:
        raise MissingCapability("no agent", capability="shell")


def test_a_guest_with_a_screen_only_is_observed_read_and_refused_what_needs_more(tmp_path: Path) -> None:
    desktop = ScreenOnly("brought")
    reader = KnownReader(lambda _: [TextBox(text="Done", x0=1, y0=1, x1=40, y1=20)])
    frame, seen = observe(desktop, LocalStore(tmp_path), t=1.0, response="", feedback="", elements=True)
    assert (frame.active, seen.active_window, seen.scene) == (None, "", "")
    assert holds(ScreenText(text="Done"), desktop, reader).holds is True
    assert holds(ScreenText(text="Done", app="mousepad"), desktop, reader).holds is None
    assert call_tool("screen.text", {}, desktop, reader) == "Done"
    with pytest.raises(InvalidAction, match="no agent"):
        call_tool("windows.list", {}, desktop, reader)


def test_a_task_that_asks_inside_such_a_guest_is_refused_before_anything_is_done() -> None:
    desktop = ScreenOnly("brought")
    told = Environment(image="brought", image_digest="")
    asked = Task(instruction="", environment=told, verifier=FileExists(path="~/a"), plan=(), strategy="imported")
    with pytest.raises(SetupFailed, match="brought lacks shell"):
        require(needs_of_task(asked), desktop)
    seen = asked.model_copy(update={"verifier": ScreenText(text="Done")})
    require(needs_of_task(seen), desktop)
    closing = seen.model_copy(update={"closing": (SetupStep(kind="shell.run", text="sync"),)})
    with pytest.raises(SetupFailed, match="shell"):
        require(needs_of_task(closing), desktop)
