"""Lays the simulated desktop out as widgets and draws them; the same widgets answer what is under the pointer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from cuamaster.adapters.desktops.simulated_records import RecordsWindow
from cuamaster.adapters.desktops.simulated_windows import (
    CalculatorWindow,
    DialogWindow,
    EditorWindow,
    FilesWindow,
    SimWindow,
    TerminalWindow,
)
from cuamaster.adapters.desktops.simulated_world import APPS, BAR, World
from cuamaster.ports import Image

_TITLE, _MENU, _ROW, _LINE = 20, 26, 24, 17
_DESKTOP = (58, 110, 165)
_FILL = {
    "window": (246, 245, 244), "title": (119, 153, 204), "title-idle": (190, 190, 190), "menu": (246, 245, 244), "item": (255, 255, 255),
    "text": (255, 255, 255), "selected": (53, 132, 228), "terminal": (0, 0, 0), "button": (225, 225, 222), "field": (255, 255, 255),
    "bar": (16, 16, 16), "task": (85, 87, 83), "task-active": (114, 159, 207), "launcher": (46, 52, 54), "icon": (255, 255, 255),
    "label": None, "caret": (20, 20, 20),
}  # fmt: skip
_LIGHT_TEXT = {"bar", "task", "task-active", "terminal", "launcher", "selected", "title"}
_BORDERED = {"window", "item", "button", "field", "launcher"}


@dataclass(frozen=True)
class Widget:
    """A rectangle with text; `act` says what a click on it means, `window` whose it is."""

    x: int
    y: int
    width: int
    height: int
    kind: str
    text: str = ""
    act: tuple[str, Any] | None = None
    window: SimWindow | None = None

    def contains(self, x: int, y: int) -> bool:
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


def layout(world: World) -> list[Widget]:
    """All widgets, bottom to top."""
    found = [
        Widget(8, 12 + 44 * slot, 110, 32, "icon", app.capitalize(), ("launch", app))
        for slot, app in enumerate(world.icons)
    ]
    for window in world.windows:
        found += _window(world, window, window is world.active)
    across, down = world.screen
    found.append(Widget(0, down - BAR, across, BAR, "bar"))
    for slot, app in enumerate(APPS):  # where the guest image's panel has them
        found.append(Widget(5 + 30 * slot, down - BAR + 3, 26, 26, "launcher", app[0].upper(), ("launch", app)))
    for number, window in enumerate(item for item in world.windows if not isinstance(item, DialogWindow)):
        kind = "task-active" if window is world.active else "task"
        found.append(Widget(128 + 224 * number, down - BAR + 3, 220, 26, kind, window.title, ("raise", window)))
    if world.menu is not None:
        width = 60 + max(_text_width(item) for item in world.menu.items)
        for number, item in enumerate(world.menu.items):
            found.append(
                Widget(world.menu.x, world.menu.y + _ROW * number, width, _ROW, "item", item, ("choose", item))
            )
    return found


def at(world: World, x: int, y: int) -> Widget | None:
    """The topmost widget under a pixel."""
    return next((widget for widget in reversed(layout(world)) if widget.contains(x, y)), None)


def menu_place(window: SimWindow, index: int) -> tuple[int, int]:
    """Where the menu of a menu bar entry hangs."""
    left = window.x + 8 + sum(_text_width(label) + 20 for label, _ in window.menus[:index])
    return left, window.y + _TITLE + _MENU


def text_area(window: SimWindow) -> tuple[int, int, int, int]:
    """x, y, width, height below title bar and menu bar."""
    top = _TITLE + (_MENU if window.menus else 0)
    return window.x + 1, window.y + top, window.width - 2, window.height - top - 1


def _window(world: World, window: SimWindow, active: bool) -> list[Widget]:
    x, y, width, height = text_area(window)
    found = [
        Widget(window.x, window.y, window.width, window.height, "window", "", ("raise", window), window),
        Widget(
            window.x + 1,
            window.y + 1,
            window.width - 2,
            _TITLE - 1,
            "title" if active else "title-idle",
            window.title,
            ("title", window),
            window,
        ),
        Widget(window.x + window.width - 20, window.y + 3, 15, 15, "button", "x", ("close", window), window),
    ]
    for index, (label, _items) in enumerate(window.menus):
        left, below = menu_place(window, index)
        found.append(
            Widget(left, below - _MENU, _text_width(label) + 20, _MENU, "menu", label, ("menu", index), window)
        )
    if isinstance(window, EditorWindow):
        found.append(Widget(x, y, width, height, "text", "", ("edit", None), window))
        found += _editor_lines(window, x, y, width, height)
    elif isinstance(window, TerminalWindow):
        found.append(Widget(x, y, width, height, "terminal", "", ("raise", window), window))
        lines = [*window.lines, window.prompt + window.typed][-(height // _LINE) :]
        found += [
            Widget(x + 4, y + _LINE * n, width - 8, _LINE, "terminal", line, ("raise", window), window)
            for n, line in enumerate(lines)
        ]
    elif isinstance(window, FilesWindow):
        location = window.folder if window.location is None else window.location
        found.append(Widget(x + 150, y + 2, width - 160, 24, "field", location, ("location", None), window))
        found.append(Widget(x, y + 30, width, height - 30, "text", "", ("background", None), window))
        names = [name for name in world.files.children(window.folder) if window.hidden or not name.startswith(".")]
        for number, name in enumerate(names):
            left, top = x + 20 + 140 * (number % 6), y + 42 + 84 * (number // 6)
            folder = world.files.is_dir(f"{window.folder}/{name}".replace("//", "/"))
            found.append(Widget(left + 40, top, 48, 40, "button" if folder else "field", "", ("pick", name), window))
            kind = "selected" if name == window.selected else "label"
            found.append(Widget(left, top + 44, 130, 20, kind, name, ("pick", name), window))
    elif isinstance(window, CalculatorWindow):
        found.append(Widget(x + 8, y + 8, width - 16, 40, "field", window.display, None, window))
        rows = [
            ("7", "8", "9", "/", "AC"),
            ("4", "5", "6", "*", "("),
            ("1", "2", "3", "-", ")"),
            ("0", ".", "sqrt", "+", "="),
        ]
        rows += [("sin", "cos", "tan", "log", "ln")] if window.scientific else []
        for line, row in enumerate(rows):
            for column, label in enumerate(row):
                found.append(
                    Widget(
                        x + 8 + 68 * column, y + 60 + 42 * line, 62, 36, "button", label, ("calculate", label), window
                    )
                )
    elif isinstance(window, RecordsWindow):
        for line, buttons in enumerate(window.rows()):
            for column, label in enumerate(buttons):
                left, top = x + 10 + 126 * column, y + 16 + 48 * line
                found.append(Widget(left, top, 122, 36, "button", label, ("record", label), window))
    elif isinstance(window, DialogWindow):
        found.append(Widget(x + 20, y + 24, 60, 26, "label", "Name:", None, window))
        if window.purpose != "discard":
            found.append(
                Widget(
                    x + 90,
                    y + 22,
                    width - 110,
                    28,
                    "selected" if window.selected else "field",
                    window.field,
                    ("field", None),
                    window,
                )
            )
        for number, label in enumerate(("Cancel", window.confirm)):
            found.append(
                Widget(
                    x + width - 240 + 120 * number, y + height - 44, 105, 30, "button", label, ("answer", label), window
                )
            )
    return found


def _editor_lines(window: EditorWindow, x: int, y: int, width: int, height: int) -> list[Widget]:
    """One widget a line, the selection highlighted by lines; the caret a thin bar."""
    found = []
    start, end = window.selection()
    offset = 0
    for number, line in enumerate(window.text.split("\n")):
        stop = offset + len(line)
        kind = "selected" if start < end and start <= stop and end > offset and line else "text"
        if _LINE * (number + 1) < height:
            found.append(Widget(x + 2, y + 2 + _LINE * number, width - 4, _LINE, kind, line, ("edit", None), window))
            if offset <= window.cursor <= stop and start == end:
                left = x + 8 + _text_width(line[: window.cursor - offset])
                found.append(Widget(left, y + 3 + _LINE * number, 1, _LINE - 2, "caret", "", ("edit", None), window))
        offset = stop + 1
    return found


@lru_cache(maxsize=1)
def _font() -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(14)


@lru_cache(maxsize=4096)
def _text_width(text: str) -> int:
    return int(_font().getlength(text) + 0.5)


def render(world: World, widgets: Sequence[Widget]) -> Image:
    """The screen as RGB pixels, from the world's layout; the same world always gives the same pixels."""
    from PIL import Image as Pictures
    from PIL import ImageDraw

    picture = Pictures.new("RGB", world.screen, _DESKTOP)
    draw = ImageDraw.Draw(picture)
    for widget in widgets:
        fill = _FILL[widget.kind]
        box = (widget.x, widget.y, widget.x + widget.width - 1, widget.y + widget.height - 1)
        if fill is not None:
            draw.rectangle(box, fill=fill, outline=(120, 120, 120) if widget.kind in _BORDERED else None)
        if widget.text:
            clipped = widget.text
            while clipped and _text_width(clipped) > widget.width - 6:
                clipped = clipped[:-1]
            color = (255, 255, 255) if widget.kind in _LIGHT_TEXT else (20, 20, 20)
            draw.text((widget.x + 6, widget.y + widget.height / 2), clipped, fill=color, font=_font(), anchor="lm")
    x, y = world.pointer
    draw.polygon([(x, y), (x, y + 15), (x + 4, y + 11), (x + 10, y + 10)], fill=(0, 0, 0), outline=(255, 255, 255))
    return np.asarray(picture, dtype=np.uint8)
