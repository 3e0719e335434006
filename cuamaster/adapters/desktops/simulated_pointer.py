"""What mouse actions do on the simulated desktop."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from cuamaster.action_space import to_pixel
from cuamaster.adapters.desktops.simulated_records import RecordsWindow
from cuamaster.adapters.desktops.simulated_screen import at, menu_place
from cuamaster.adapters.desktops.simulated_windows import (
    CalculatorWindow,
    DialogWindow,
    EditorWindow,
    FilesWindow,
    SimWindow,
)
from cuamaster.adapters.desktops.simulated_world import Menu, World


def mouse(world: World, kind: str, args: Mapping[str, Any]) -> None:
    """Perform one mouse action; buttons other than left and right do nothing here."""
    width, height = world.screen
    if kind == "mouse.drag":
        points = [(to_pixel(x, width), to_pixel(y, height)) for x, y in args["path"]]
        _drag(world, points[0], points[-1])
        world.pointer = points[-1]
        return
    if kind == "mouse.move_relative":
        x, y = world.pointer
        x, y = x + round(args["dx"] * width / 1000), y + round(args["dy"] * height / 1000)
        world.pointer = (min(width - 1, max(0, x)), min(height - 1, max(0, y)))
        return
    if "x" in args:
        world.pointer = (to_pixel(args["x"], width), to_pixel(args["y"], height))
    if kind == "mouse.click" and args.get("button", "left") in ("left", "right"):
        for count in range(1, args.get("count", 1) + 1):
            _click(world, args.get("button", "left"), count)


def _drag(world: World, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Only title bars can be dragged."""
    widget = at(world, *start)
    if widget is not None and widget.window is not None and widget.kind.startswith("title"):
        widget.window.x += end[0] - start[0]
        widget.window.y += end[1] - start[1]


def _click(world: World, button: str, count: int) -> None:
    widget = at(world, *world.pointer)
    if world.menu is not None and (widget is None or widget.act is None or widget.act[0] != "choose"):
        world.menu = None
        return  # a click beside an open menu only closes it
    if widget is None or widget.act is None:
        return
    name, value = widget.act
    window = widget.window
    if window is not None and window is not world.active and not isinstance(world.active, DialogWindow):
        world.raise_window(window)
    if isinstance(world.active, DialogWindow) and window is not None and window is not world.active:
        return  # modal
    if name == "launch":
        world.launch(value)
    elif name == "raise" and isinstance(value, SimWindow):
        world.raise_window(value)
    elif name == "choose":
        world.choose(value)
    elif window is not None:
        _click_in(world, window, name, value, button, count)


def _click_in(world: World, window: SimWindow, name: str, value: Any, button: str, count: int) -> None:
    if name == "menu":
        world.menu = Menu(window.menus[value][1], *menu_place(window, value))
    elif name == "close":
        world.close_window(window)
    elif isinstance(window, CalculatorWindow) and name == "calculate":
        window.key(value)
    elif isinstance(window, RecordsWindow) and name == "record":
        world.ask_record(window, value)
    elif isinstance(window, DialogWindow):
        if name == "answer" and value == "Cancel":
            world.windows.remove(window)
        elif name == "answer":
            world.confirm(window)
        elif name == "field":
            window.selected = count > 1
    elif isinstance(window, FilesWindow):
        if name == "pick":
            window.selected = value
            if button == "right":
                world.menu = Menu(("Open", "Cut", "Copy", "Rename...", "Move to Trash"), *world.pointer, subject=value)
            elif count == 2:
                world.open_path(window, posixpath.join(window.folder, value))
        elif name == "location":
            window.location = ""
        elif name == "background":
            window.selected = None
            if button == "right":
                world.menu = Menu(("Create New...", "Paste"), *world.pointer)
    elif isinstance(window, EditorWindow) and name == "edit" and count == 1:
        window.move(len(window.text), select=False)
