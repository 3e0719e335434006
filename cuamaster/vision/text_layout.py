"""Where words stand: OCR lines split at wide gaps, so that `Edit  Search  View` of a menu bar is three labels and not one."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from cuamaster.ports import Image
from cuamaster.records.trajectory import TextBox

_WIDE_OF_HEIGHT = 0.5
_WIDE_OF_LETTER = 1.7
"""A gap wider than both, this share of the line's height and of a letter's width, separates labels; a blank inside one label is
narrower, also in a fixed-width font."""
_INK = 40


def gaps(image: Image, box: TextBox) -> list[tuple[float, float]]:
    """Empty stretches (x0, x1 in pixels) between the inked stretches of a one-line box, left to right."""
    x0, y0, x1, y1 = (max(0, round(value)) for value in (box.x0, box.y0, box.x1, box.y1))
    part = image[y0:y1, x0:x1]
    if part.shape[0] < 4 or part.shape[1] < 4:
        return []
    grey = np.asarray(cv2.cvtColor(np.ascontiguousarray(part), cv2.COLOR_RGB2GRAY), dtype=np.int16)
    trim = max(1, part.shape[0] // 8)  # borders above and below are not ink
    grey = grey[trim:-trim]
    ground = np.median(grey)
    columns = np.flatnonzero((np.abs(grey - ground) > _INK).any(axis=0))
    if columns.size < 2:
        return []
    steps = np.flatnonzero(np.diff(columns) > 1)
    return [(x0 + float(columns[i]) + 1, x0 + float(columns[i + 1])) for i in steps]


def split_label(image: Image, box: TextBox) -> list[TextBox]:
    """The labels in a box, words given to stretches in proportion to their width; the box itself when it is one label."""
    words = box.text.split()
    if len(words) < 2:
        return [box]
    letter = (box.x1 - box.x0) / len(box.text)
    limit = max(_WIDE_OF_HEIGHT * (box.y1 - box.y0), _WIDE_OF_LETTER * letter)
    wide = [gap for gap in gaps(image, box) if gap[1] - gap[0] > limit]
    if not wide:
        return [box]
    edges = [box.x0, *(x for gap in wide for x in gap), box.x1]
    stretches = [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2)]
    if len(stretches) > len(words):
        return [box]
    parts = _deal(words, [x1 - x0 for x0, x1 in stretches])
    return [
        box.model_copy(update={"text": " ".join(part), "x0": x0, "x1": x1})
        for part, (x0, x1) in zip(parts, stretches, strict=True)
    ]


def _deal(words: Sequence[str], widths: Sequence[float]) -> list[list[str]]:
    """Words dealt in order to stretches, each at least one, so that letters fit widths best (dynamic programming)."""
    letters = sum(len(word) for word in words) + len(words) - len(widths)
    unit = sum(widths) / max(1, letters)
    best: dict[tuple[int, int], tuple[float, int]] = {(0, 0): (0.0, 0)}
    for stretch, width in enumerate(widths, 1):
        for end in range(stretch, len(words) - (len(widths) - stretch) + 1):
            options = []
            for begin in range(stretch - 1, end):
                if (stretch - 1, begin) in best:
                    length = sum(len(word) for word in words[begin:end]) + (end - begin - 1)
                    options.append((best[stretch - 1, begin][0] + (length * unit - width) ** 2, begin))
            if options:
                best[stretch, end] = min(options)
    parts: list[list[str]] = []
    end = len(words)
    for stretch in range(len(widths), 0, -1):
        begin = best[stretch, end][1]
        parts.append(list(words[begin:end]))
        end = begin
    return parts[::-1]


def word_box(box: TextBox, start: int, end: int) -> TextBox:
    """The part of a box that holds characters start..end of its text, by proportion."""
    count, width = max(1, len(box.text)), box.x1 - box.x0
    return box.model_copy(
        update={"text": box.text[start:end], "x0": box.x0 + width * start / count, "x1": box.x0 + width * end / count}
    )
