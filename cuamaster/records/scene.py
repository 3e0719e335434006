"""What a screen shows besides its pixels: elements with role, name and box, the windows they are in, and the pointer."""

from __future__ import annotations

from pydantic import Field

from cuamaster.records.record import Record
from cuamaster.records.trajectory import Window


class UIElement(Record):
    """A named or usable thing on the screen as its program tells it: box in pixels, right and lower edge excluded."""

    role: str = Field(description="as AT-SPI names it: push button, menu item, table cell, ...")
    name: str
    x: int
    y: int
    width: int
    height: int
    states: tuple[str, ...] = Field(
        default=(), description="those that matter to who acts: focused, checked, editable, ..."
    )
    parent: int = Field(
        default=-1, ge=-1, description="place of what it is in among the scene's elements; -1: a window"
    )

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, upper, right and lower edge."""
        return self.x, self.y, self.x + self.width, self.y + self.height

    def contains(self, x: float, y: float) -> bool:
        """Whether the pixel lies in its box."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


class Elements(Record):
    """The accessibility tree of a screen, parents before their children; `whole` is False when some was left out."""

    elements: tuple[UIElement, ...] = ()
    whole: bool = True


class Scene(Record):
    """Recorded beside a screenshot: active window, all windows bottom first, pointer in pixels, accessibility tree."""

    active: Window | None
    windows: tuple[Window, ...]
    pointer: tuple[int, int]
    tree: Elements
