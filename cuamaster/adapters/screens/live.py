"""A reader for live screens: remembers the last pictures and reads only what changed since the one most like the new one."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

import numpy as np

from cuamaster.adapters.screens.rapidocr import RapidOcrReader
from cuamaster.ports import Image
from cuamaster.records.trajectory import TextBox

_REMEMBERED = 8


class LiveReader:
    """ScreenReader for sessions: whole screens are read once and then kept up to date, parts are cut out of them.

    A step on a live screen changes a menu or a line; reading that takes a tenth of the time of the whole screen. Safe to share
    between threads.
    """

    def __init__(self, reader: RapidOcrReader) -> None:
        self.name = reader.name
        self._reader = reader
        self._known: OrderedDict[str, tuple[Image, list[TextBox]]] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        """Text boxes in pixels of the whole image; with `region` those whose centre lies in x0, y0, x1, y1."""
        boxes = self._whole(image)
        if region is None:
            return boxes
        x0, y0, x1, y1 = region
        return [box for box in boxes if x0 <= box.center[0] <= x1 and y0 <= box.center[1] <= y1]

    def _whole(self, image: Image) -> list[TextBox]:
        key = hashlib.blake2b(np.ascontiguousarray(image).tobytes(), digest_size=16).hexdigest()
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return list(self._known[key][1])
            alike = [(picture, boxes) for picture, boxes in self._known.values() if picture.shape == image.shape]
        if alike:
            picture, boxes = min(alike, key=lambda item: _difference(item[0], image))
            found = self._reader.read_changed(picture, boxes, image)
        else:
            found = self._reader.read(image)
        with self._lock:
            self._known[key] = (image.copy(), found)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return list(found)


def _difference(a: Image, b: Image) -> int:
    """Differing samples on a coarse grid: enough to choose the likeliest predecessor."""
    return int(np.count_nonzero(a[::4, ::4] != b[::4, ::4]))
