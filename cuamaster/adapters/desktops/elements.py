"""Reads the accessibility tree from what the guest's `tree` program prints, and leaves out what other windows cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cuamaster.adapters.desktops.windows import parse_windows
from cuamaster.records.scene import Elements, UIElement
from cuamaster.records.trajectory import Window

FENCE = "\nelements "
STATES: Mapping[int, str] = {
    1: "active", 4: "checked", 7: "editable", 8: "enabled", 9: "expandable", 10: "expanded", 11: "focusable", 12: "focused",
    16: "modal", 17: "multi-line", 20: "pressed", 22: "selectable", 23: "selected", 32: "indeterminate", 33: "required",
    36: "invalid", 41: "checkable", 42: "has-popup", 43: "read-only",
}  # fmt: skip
"""AtspiStateType: what tells something to who looks or acts (atspi/atspi-constants.h of at-spi2-core)."""


def parse_tree(text: str, width: int, height: int, apps: Mapping[str, str]) -> Elements:
    """The elements whose middle shows on a screen of this size (pixels); `apps` as for parse_windows."""
    windows, _, listing = text.partition(FENCE)
    first, *lines = listing.split("\n")
    found = [_element(line.split("\t", 8)) for line in lines if line.count("\t") >= 8]
    return uncovered(
        Elements(elements=tuple(found), whole=first == "whole"), parse_windows(windows, apps)[1], width, height
    )


def _element(fields: Sequence[str]) -> UIElement:
    _number, parent, role, x, y, width, height, states, name = fields
    bits = int(states, 16)
    return UIElement(
        role=role, name=name.strip(), x=int(x), y=int(y), width=int(width), height=int(height), parent=int(parent),
        states=tuple(word for bit, word in STATES.items() if bits >> bit & 1),
    )  # fmt: skip


def uncovered(tree: Elements, windows: Sequence[Window], width: int, height: int) -> Elements:
    """Without the elements whose middle is off the screen or under a window that is above their own.

    A program does not know what lies above it. A top element that is no window of the list is a menu or a tip, above all
    windows, or the desktop under them, which fills the screen.
    """
    owners: list[int] = []
    kept: dict[int, int] = {}
    result: list[UIElement] = []
    for number, element in enumerate(tree.elements):
        own = _layer_of(element, windows, width, height) if element.parent < 0 else owners[element.parent]
        owners.append(own)
        x, y = element.x + element.width / 2, element.y + element.height / 2
        parent = kept.get(element.parent, -1)
        if not (0 <= x < width and 0 <= y < height) or any(_holds(window, x, y) for window in windows[own + 1 :]):
            kept[number] = parent
            continue
        kept[number] = len(result)
        result.append(element.model_copy(update={"parent": parent}))
    return tree.model_copy(update={"elements": tuple(result)})


def _layer_of(element: UIElement, windows: Sequence[Window], width: int, height: int) -> int:
    """Place of the window that a top element is; -1 under all of them, their number above."""
    x, y = element.x + element.width / 2, element.y + element.height / 2
    named = [number for number, window in enumerate(windows) if window.title == element.name and _holds(window, x, y)]
    fills = element.x <= 0 and element.y <= 0 and element.width >= width and element.height >= height
    return named[-1] if named else -1 if fills else len(windows)


def _holds(window: Window, x: float, y: float) -> bool:
    return window.x <= x < window.x + window.width and window.y <= y < window.y + window.height
