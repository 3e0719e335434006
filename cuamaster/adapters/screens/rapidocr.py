"""ScreenReader over RapidOCR (its models come in the wheel): cached by content, and able to read only what changed.

A 1280x800 screen takes one to three seconds, a crop a fraction of one; so `read_changed` reads the changed regions of a screen and
keeps the rest of the boxes. Boxes are in pixels of the whole image, top to bottom.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cuamaster.errors import MissingDependency
from cuamaster.ports import Image
from cuamaster.records.trajectory import TextBox
from cuamaster.vision.changes import changed_mask, gray, regions
from cuamaster.vision.text_layout import split_label

log = logging.getLogger(__name__)
_VERSION = "rapidocr-1"
_LONGEST_SIDE = 1920
_MARGIN = 10
_LEAST_SCORE = 0.5
_MEMORY = 512

Area = tuple[int, int, int, int]


class RapidOcrReader:
    """Reads text on pictures; safe to share between threads (one picture at a time)."""

    name = "rapidocr"

    def __init__(self, cache_dir: Path | None = None) -> None:
        """`cache_dir`: keep readings on disk as well, one small JSON file per picture."""
        self._cache_dir = cache_dir
        self._engine: Any = None
        self._lock = threading.Lock()
        self._memory: OrderedDict[str, list[TextBox]] = OrderedDict()

    def read(self, image: Image, *, region: Area | None = None) -> list[TextBox]:
        """Text boxes in pixels of the whole image; `region` = x0, y0, x1, y1 reads only that part."""
        x0, y0, x1, y1 = _clip(region, image) if region is not None else (0, 0, image.shape[1], image.shape[0])
        part = np.ascontiguousarray(image[y0:y1, x0:x1])
        if part.size == 0:
            return []
        boxes = self._cached(part)
        if (x0, y0) == (0, 0):
            return list(boxes)
        return [
            b.model_copy(update={"x0": b.x0 + x0, "x1": b.x1 + x0, "y0": b.y0 + y0, "y1": b.y1 + y0}) for b in boxes
        ]

    def read_changed(self, prev_image: Image, prev_boxes: Sequence[TextBox], image: Image) -> list[TextBox]:
        """The boxes of `image`, given those of an earlier picture of the same screen: only what changed is read.

        Falls back to a whole reading when the size differs or more than half of the picture changed.
        """
        if prev_image.shape != image.shape:
            return self.read(image)
        areas = self._areas(regions(changed_mask(gray(prev_image), gray(image)), join=24), prev_boxes, image)
        if not areas:
            return list(prev_boxes)
        if sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in areas) > 0.5 * image.shape[0] * image.shape[1]:
            return self.read(image)
        kept = [box for box in prev_boxes if not any(_inside(box, area) for area in areas)]
        fresh = [box for area in areas for box in self.read(image, region=area)]
        return sorted(kept + fresh, key=lambda box: (box.y0, box.x0))

    # -- corridors --------------------------------------------------------------------------------------------------

    @staticmethod
    def _areas(changed: Sequence[tuple[int, ...]], boxes: Sequence[TextBox], image: Image) -> list[Area]:
        """Changed rectangles grown over every old box they touch, and joined where they then overlap."""
        areas = [_clip((r[0] - _MARGIN, r[1] - _MARGIN, r[2] + _MARGIN, r[3] + _MARGIN), image) for r in changed]
        grown = True
        while grown:
            grown = False
            for box in boxes:
                for index, area in enumerate(areas):
                    if _overlap(area, (box.x0, box.y0, box.x1, box.y1)) and not _inside(box, area):
                        areas[index] = _clip(_union(area, (box.x0 - 4, box.y0 - 4, box.x1 + 4, box.y1 + 4)), image)
                        grown = True
            joined: list[Area] = []
            for area in areas:
                hit = next((i for i, other in enumerate(joined) if _overlap(area, other)), None)
                if hit is None:
                    joined.append(area)
                else:
                    joined[hit] = _union(joined[hit], area)
                    grown = True
            areas = joined
        return areas

    def _cached(self, part: Image) -> list[TextBox]:
        key = hashlib.sha256(f"{_VERSION}{part.shape}".encode() + part.tobytes()).hexdigest()
        with self._lock:
            if key in self._memory:
                self._memory.move_to_end(key)
                return self._memory[key]
            boxes = self._from_disk(key)
            if boxes is None:
                boxes = self._recognize(part)
                self._to_disk(key, boxes)
            self._memory[key] = boxes
            if len(self._memory) > _MEMORY:
                self._memory.popitem(last=False)
            return boxes

    def _from_disk(self, key: str) -> list[TextBox] | None:
        if self._cache_dir is None:
            return None
        try:
            rows = json.loads((self._cache_dir / key[:2] / f"{key}.json").read_text(encoding="utf-8"))
            return [TextBox.model_validate(row) for row in rows]
        except (FileNotFoundError, ValueError):  # not there, or torn by a crash: read again
            return None

    def _to_disk(self, key: str, boxes: Sequence[TextBox]) -> None:
        if self._cache_dir is None:
            return
        path = self._cache_dir / key[:2] / f"{key}.json"
        partial = path.with_suffix(f".{threading.get_ident()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps([box.model_dump() for box in boxes]), encoding="utf-8")
            partial.replace(path)
        except OSError as exc:  # a cache that cannot be written costs time and nothing else
            log.warning("readings of screens are not remembered from here on: %s", exc)
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
            self._cache_dir = None

    def _recognize(self, part: Image) -> list[TextBox]:
        answer = self._start()(part[:, :, ::-1])
        found = []
        if answer.boxes is not None:
            for corners, text, score in zip(answer.boxes, answer.txts, answer.scores, strict=True):
                (x0, y0), (x1, y1) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
                if text.strip() and score >= _LEAST_SCORE:
                    box = TextBox(text=text.strip(), x0=x0, y0=y0, x1=x1, y1=y1, score=min(1.0, float(score)))
                    found.extend(split_label(part, box))
        return sorted(found, key=lambda box: (box.y0, box.x0))

    def _start(self) -> Any:
        if self._engine is None:
            try:
                from rapidocr import RapidOCR
            except ImportError as exc:
                raise MissingDependency(
                    "rapidocr is not installed", hint="install cuamaster with its dependencies"
                ) from exc
            self._engine = RapidOCR(
                params={
                    "Global.log_level": "error",
                    "Global.use_cls": False,
                    "Det.limit_type": "max",
                    "Det.limit_side_len": _LONGEST_SIDE,
                    "Rec.rec_batch_num": 1,
                }
            )
        return self._engine


def _clip(area: tuple[float, ...], image: Image) -> Area:
    x0, y0, x1, y1 = (round(value) for value in area[:4])
    return max(0, x0), max(0, y0), min(image.shape[1], x1), min(image.shape[0], y1)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and a[2] > b[0] and a[1] < b[3] and a[3] > b[1]


def _inside(box: TextBox, area: Area) -> bool:
    return area[0] <= box.x0 and area[1] <= box.y0 and area[2] >= box.x1 and area[3] >= box.y1


def _union(a: tuple[float, ...], b: tuple[float, ...]) -> Area:
    return round(min(a[0], b[0])), round(min(a[1], b[1])), round(max(a[2], b[2])), round(max(a[3], b[3]))
