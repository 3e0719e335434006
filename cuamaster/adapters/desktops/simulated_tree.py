"""Tells the simulated desktop's widgets as an accessibility tree, with the roles that GTK programs use."""

from __future__ import annotations

from collections.abc import Mapping

from cuamaster.adapters.desktops.simulated_screen import Widget, layout
from cuamaster.adapters.desktops.simulated_windows import SimWindow
from cuamaster.adapters.desktops.simulated_world import World
from cuamaster.records.scene import Elements, UIElement

_ROLES: Mapping[str, str] = {
    "window": "frame", "menu": "menu", "item": "menu item", "text": "text", "selected": "text", "terminal": "terminal",
    "button": "push button", "field": "text", "task": "toggle button", "task-active": "toggle button", "launcher": "push button",
    "icon": "icon", "label": "label",
}  # fmt: skip
"""Kind of a widget -> role; what only decorates has none."""


def elements_of(world: World, most: int) -> Elements:
    """What shows of the world: an element whose middle another window covers does not."""
    widgets = layout(world)
    found: list[UIElement] = []
    frames: dict[int, int] = {}
    whole = True
    for number, widget in enumerate(widgets):
        role = _ROLES.get(widget.kind)
        if role is None or _covered(widget, widgets[number + 1 :]):
            continue
        if len(found) == most:
            whole = False
            break
        if widget.kind == "window":
            frames[id(widget.window)] = len(found)
        parent = -1 if widget.kind == "window" else frames.get(id(widget.window), -1)
        found.append(_element(world, widget, role, parent))
    return Elements(elements=tuple(found), whole=whole)


def _element(world: World, widget: Widget, role: str, parent: int) -> UIElement:
    name = widget.text
    if widget.kind == "window" and widget.window is not None:
        name = widget.window.title
    elif widget.kind == "launcher" and widget.act is not None:
        name = str(widget.act[1])
    states = ["enabled"]
    if widget.kind == "window" and widget.window is world.active:
        states.append("active")
    if role == "text" and widget.act is not None:
        states.append("editable")
    if widget.kind == "task-active":
        states.append("checked")
    return UIElement(
        role=role, name=name, x=widget.x, y=widget.y, width=widget.width, height=widget.height, states=tuple(states), parent=parent
    )  # fmt: skip


def _covered(widget: Widget, above: list[Widget]) -> bool:
    x, y = widget.x + widget.width // 2, widget.y + widget.height // 2
    return any(_belongs_above(item, widget.window) and item.contains(x, y) for item in above)


def _belongs_above(widget: Widget, window: SimWindow | None) -> bool:
    """A window or an open menu over it; what lies inside the same window does not hide it."""
    return (widget.kind == "window" and widget.window is not window) or widget.kind == "item"
