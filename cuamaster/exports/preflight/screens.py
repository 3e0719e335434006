"""Secrets and personal data that can be read on pictures: found by OCR boxes, and made unreadable where they stand."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cuamaster.exports.preflight.personal import Span, find_personal
from cuamaster.exports.preflight.pictures import decode
from cuamaster.ports import Image, ScreenReader
from cuamaster.records.trajectory import TextBox

_SEEN = 2048
_ALIKE = 85
"""Similarity 0-100 (rapidfuzz partial_ratio) at which a box shows a value known from the row: OCR takes `.` for `,`, `l` for `1`."""
_LEAST_KNOWN = 6
"""Characters of a known value, or of its beginning while it is being typed, that must be readable."""
_MARGIN = 3
_BLOCK = 12
"""Pixels a side of one mosaic block: taller than a line of text at usual sizes, so that no stroke survives."""


class Screens:
    """Reads pictures; what was found on the last few thousand distinct ones is remembered."""

    def __init__(self, reader: ScreenReader, regions: tuple[str, ...]) -> None:
        self._reader, self._regions = reader, regions
        self._seen: OrderedDict[str, tuple[TextBox, ...]] = OrderedDict()

    def check(self, images: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
        """(check, detail) of what can be read on `{bytes}` pictures; undecodable ones are left to the check of pictures."""
        for index, image in enumerate(images):
            try:
                boxes = self.boxes(image.get("bytes") or b"")
            except ValueError:
                continue
            for box, spans in personal_boxes(boxes, self._regions):
                where = f"at {round(box.x0)},{round(box.y0)}-{round(box.x1)},{round(box.y1)}"
                yield from ((span.check, f"{span.kind} on picture {index} {where}") for span in spans)

    def boxes(self, data: bytes) -> tuple[TextBox, ...]:
        """Text boxes of an encoded picture; raises ValueError if it does not decode."""
        import hashlib

        digest = hashlib.sha256(data).hexdigest()
        if digest not in self._seen:
            self._seen[digest] = tuple(self._reader.read(decode(data)))
            if len(self._seen) > _SEEN:
                self._seen.popitem(last=False)
        return self._seen[digest]

    def hidden(self, data: bytes, known: Collection[str]) -> bytes | None:
        """The picture as PNG with everything personal, and every `known` value, made unreadable; None if nothing was there.

        Raises ValueError if it does not decode.
        """
        boxes = self.boxes(data)
        marked = [box for box, _ in personal_boxes(boxes, self._regions)]
        marked += [box for box in boxes if any(_shows(box.text, value) for value in known)]
        if not marked:
            return None
        image = decode(data).copy()
        for box in marked:
            hide(image, box)
        return _png(image)


def personal_boxes(boxes: Sequence[TextBox], regions: tuple[str, ...]) -> Iterator[tuple[TextBox, tuple[Span, ...]]]:
    """Boxes that hold something personal, alone or read together with the box to the right of them on the same line."""
    for index, box in enumerate(boxes):
        spans = find_personal(box.text, regions)
        if spans:
            yield box, spans
            continue
        right = [other for other in boxes[index + 1 :] if _follows(box, other)]
        if right:
            nearest = min(right, key=lambda other: other.x0)
            joined = find_personal(f"{box.text} {nearest.text}", regions)
            if joined and not find_personal(nearest.text, regions):
                yield box, joined
                yield nearest, joined


def _follows(box: TextBox, other: TextBox) -> bool:
    height = box.y1 - box.y0
    return abs(box.y0 - other.y0) < 0.5 * height and 0 <= other.x0 - box.x1 < 3 * height


def _shows(text: str, value: str) -> bool:
    from rapidfuzz import fuzz

    short, long = sorted((text.casefold(), value.casefold()), key=len)
    return len(short) >= _LEAST_KNOWN and fuzz.partial_ratio(short, long) >= _ALIKE


def hide(image: Image, box: TextBox) -> None:
    """Replace a box of an RGB image, in place, by a mosaic so coarse that nothing of a text can be told from it."""
    height, width = image.shape[:2]
    x0, x1 = (min(width, max(0, round(value))) for value in (box.x0 - _MARGIN, box.x1 + _MARGIN))
    y0, y1 = (min(height, max(0, round(value))) for value in (box.y0 - _MARGIN, box.y1 + _MARGIN))
    for y in range(y0, y1, max(_BLOCK, y1 - y0)):
        for x in range(x0, x1, _BLOCK):
            block = image[y:y1, x : min(x + _BLOCK, x1)]
            block[:] = np.median(block.reshape(-1, 3), axis=0).astype(np.uint8)


def _png(image: Image) -> bytes:
    import io

    import PIL.Image

    data = io.BytesIO()
    PIL.Image.fromarray(image).save(data, "PNG", compress_level=6)
    return data.getvalue()
