"""The title of the window a tutorial works in, read off its title bar: the line just above its menu bar.

A recording has no window list. The strip is found once where the menu bar shows, and read again in each frame; a dialog that covers
it gives no title rather than a wrong one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cuamaster.ports import Image, ScreenReader
from cuamaster.records.trajectory import TextBox
from cuamaster.vision.labels import similarity
from cuamaster.vision.reading import lines_of

_MENUS = (
    "File",
    "Edit",
    "View",
    "Help",
    "Tools",
    "Search",
    "Insert",
    "Format",
    "Go",
    "Window",
    "Options",
    "Document",
    "Bookmarks",
    "Tabs",
)
_LEAST_MENUS = 2
_OFF_CENTRE = 0.06  # of the screen's width: a title stays centred as its text changes


class TitleStrip(NamedTuple):
    """Where a title stands: rectangle in pixels, and the middle of the text seen in it."""

    x0: int
    y0: int
    x1: int
    y1: int
    centre: float


def title_strip(boxes: Sequence[TextBox], near: tuple[float, float], screen: tuple[int, int]) -> TitleStrip | None:
    """The title bar above the menu bar closest to a point (pixels) inside the window; None when there is no menu bar."""
    bars = []
    for line in lines_of(boxes):
        menus = [box for box in line if any(similarity(name, box.text) >= 0.75 for name in _MENUS)]
        if len(menus) >= _LEAST_MENUS:
            bars.append(line)
    for bar in sorted(bars, key=lambda line: (line[0].y0 > near[1] + 20, abs(line[0].y0 - near[1]))):
        height = bar[0].y1 - bar[0].y0
        above = [
            box
            for box in boxes
            if 0.2 * height < bar[0].y0 - box.center[1] < 2.2 * height and box.x0 >= bar[0].x0 - height
        ]
        if above:
            title = max(above, key=lambda box: len(box.text))
            reach = 0.2 * screen[0]
            x0, x1 = max(0, int(title.center[0] - reach)), min(screen[0], int(title.center[0] + reach))
            return TitleStrip(x0, max(0, int(title.y0) - 4), x1, int(title.y1) + 4, title.center[0])
    return None


def title_in(reader: ScreenReader, frame: Image, strip: TitleStrip | None) -> str:
    """The title shown in a frame, without a leading mark of unsaved changes; '' when the strip is covered."""
    if strip is None:
        return ""
    found = reader.read(frame, region=(strip.x0, strip.y0, strip.x1, strip.y1))
    if not found:
        return ""
    title = max(found, key=lambda box: len(box.text))
    together = [
        box for box in found if abs(box.center[1] - title.center[1]) < 0.5 * (title.y1 - title.y0) and len(box.text) > 1
    ]
    centre = (min(box.x0 for box in together) + max(box.x1 for box in together)) / 2 if together else title.center[0]
    if abs(centre - strip.centre) > _OFF_CENTRE * frame.shape[1]:
        return ""
    return " ".join(box.text for box in sorted(together or [title], key=lambda box: box.x0)).lstrip("* ")
