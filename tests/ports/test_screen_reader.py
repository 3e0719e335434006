"""The conformance suite of the ScreenReader port: OCR and known text answer alike on a drawn screen."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from cuamaster.adapters.screens.known import KnownReader
from cuamaster.adapters.screens.rapidocr import RapidOcrReader
from cuamaster.ports import Image, ScreenReader
from cuamaster.records.trajectory import TextBox
from cuamaster.vision.reading import can_be_read

LABELS = {"File": (20, 20), "Edit": (80, 20), "Save changes": (40, 120), "Cancel": (220, 120)}


def _screen() -> tuple[Image, list[TextBox]]:
    picture = Pictures.new("RGB", (400, 200), "white")
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(size=18)
    boxes = []
    for text, at in LABELS.items():
        pen.text(at, text, fill="black", font=font)
        x0, y0, x1, y1 = pen.textbbox(at, text, font=font)
        boxes.append(TextBox(text=text, x0=x0, y0=y0, x1=x1, y1=y1))
    return np.asarray(picture), boxes


@pytest.fixture(params=["rapidocr", "known"], scope="module")
def reader(request: pytest.FixtureRequest) -> ScreenReader:
    return RapidOcrReader() if request.param == "rapidocr" else KnownReader(lambda _: _screen()[1])


def test_every_label_is_read_where_it_stands(reader: ScreenReader) -> None:
    image, truth = _screen()
    boxes = reader.read(image)
    assert all(can_be_read(text, boxes) for text in LABELS)
    for wanted in truth:
        nearest = min(
            boxes, key=lambda box: abs(box.center[0] - wanted.center[0]) + abs(box.center[1] - wanted.center[1])
        )
        assert abs(nearest.center[0] - wanted.center[0]) < 10 and abs(nearest.center[1] - wanted.center[1]) < 10
    assert [box.y0 for box in boxes] == sorted(box.y0 for box in boxes)
    assert all(0 < box.score <= 1 for box in boxes)


def test_a_region_is_read_in_pixels_of_the_whole(reader: ScreenReader) -> None:
    image, truth = _screen()
    boxes = reader.read(image, region=(200, 100, 400, 200))
    assert [box.text for box in boxes] == ["Cancel"]
    assert boxes[0].center[0] == pytest.approx(truth[3].center[0], abs=8)
    assert reader.read(image, region=(300, 10, 390, 60)) == []
