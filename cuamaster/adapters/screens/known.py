"""A ScreenReader that knows the text of pictures beforehand: the fast fake of the port, for screens that one draws oneself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cuamaster.ports import Image
from cuamaster.records.trajectory import TextBox


class KnownReader:
    """Answers from `text_of(picture)`; a region gives the boxes whose middle lies in it."""

    name = "known"

    def __init__(self, text_of: Callable[[Image], Sequence[TextBox]]) -> None:
        """`text_of`: the boxes of a whole picture, in its pixels."""
        self._text_of = text_of

    def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        """Text boxes in pixels of the whole image, top to bottom."""
        boxes = sorted(self._text_of(image), key=lambda box: (box.y0, box.x0))
        if region is None:
            return boxes
        x0, y0, x1, y1 = region
        return [box for box in boxes if x0 <= box.center[0] < x1 and y0 <= box.center[1] < y1]
