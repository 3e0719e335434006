"""OCR reader: reads only what changed, keeps readings on disk, survives a torn cache, splits wide gaps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from cuamaster.adapters.screens.rapidocr import RapidOcrReader
from cuamaster.ports import Image
from cuamaster.records.trajectory import TextBox


def _draw(lines: dict[tuple[int, int], str]) -> Image:
    picture = Pictures.new("RGB", (640, 400), "white")
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(size=18)
    for at, text in lines.items():
        pen.text(at, text, fill="black", font=font)
    return np.asarray(picture)


class _Watched(RapidOcrReader):
    """Remembers the sizes of what it had to recognize."""

    def __init__(self, cache_dir: Path | None = None) -> None:
        super().__init__(cache_dir)
        self.recognized: list[tuple[int, ...]] = []

    def _recognize(self, part: Image) -> list[TextBox]:
        self.recognized.append(part.shape)
        return super()._recognize(part)


BEFORE = {(20, 20): "Untouched headline", (20, 200): "old words"}
AFTER = {(20, 20): "Untouched headline", (20, 200): "fresh words"}


def test_only_what_changed_is_read_again() -> None:
    reader = _Watched()
    first = _draw(BEFORE)
    boxes = reader.read(first)
    again = reader.read_changed(first, boxes, _draw(AFTER))
    assert {box.text for box in again} == {"Untouched headline", "fresh words"}
    assert len(reader.recognized) == 2 and reader.recognized[1][0] < 100, "a strip, not the screen"
    assert reader.read_changed(first, boxes, first) == boxes
    assert len(reader.recognized) == 2


def test_another_size_or_another_screen_is_read_whole() -> None:
    reader = _Watched()
    first = _draw(BEFORE)
    boxes = reader.read(first)
    inverted = 255 - _draw(AFTER)
    assert {box.text for box in reader.read_changed(first, boxes, inverted)} >= {"fresh words"}
    assert reader.recognized[-1] == inverted.shape
    small = first[:240]
    reader.read_changed(first, boxes, small)
    assert reader.recognized[-1] == small.shape


def test_readings_are_kept_on_disk_and_a_torn_one_is_read_again(tmp_path: Path) -> None:
    image = _draw(BEFORE)
    boxes = _Watched(tmp_path).read(image)
    second = _Watched(tmp_path)
    assert second.read(image) == boxes and not second.recognized
    (file,) = tmp_path.rglob("*.json")
    file.write_text(file.read_text()[:20])
    third = _Watched(tmp_path)
    assert third.read(image) == boxes and len(third.recognized) == 1


@pytest.mark.parametrize(("gap", "expected"), [(60, {"File", "Edit"}), (6, {"File Edit"})])
def test_labels_apart_are_labels_of_their_own(gap: int, expected: set[str]) -> None:
    font = ImageFont.load_default(size=18)
    width = int(font.getlength("File"))
    boxes = RapidOcrReader().read(_draw({(100, 100): "File", (100 + width + gap, 100): "Edit"}))
    assert {box.text for box in boxes} == expected


def test_nothing_to_read_is_no_error() -> None:
    reader = RapidOcrReader()
    blank = np.zeros((120, 200, 3), np.uint8)
    assert reader.read(blank) == []
    assert reader.read(blank, region=(190, 110, 190, 118)) == []
