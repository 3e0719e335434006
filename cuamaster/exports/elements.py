"""Elements that a proven trajectory pointed at by name, with the box that their program or reading the screenshot gives."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from cuamaster.action_space import to_pixel
from cuamaster.errors import IntegrityError, MediaError
from cuamaster.exports.pictures import Picture, lost
from cuamaster.exports.sample import Sample
from cuamaster.ports import Image, Store
from cuamaster.records.episode import Dropped
from cuamaster.records.record import content_id
from cuamaster.records.scene import Scene
from cuamaster.records.trajectory import Observation, Target, TextBox

_SLACK = 6
"""Pixels by which a click may miss the letters of what it is meant for: menu items and buttons are larger than their text."""


@dataclass(frozen=True)
class Element:
    """A named thing on a screenshot: its box in pixels of the blob, corners x0, y0, x1, y1, and the pixel clicked."""

    id: str
    sample: Sample
    step: int
    seen: Observation
    target: Target
    box: tuple[float, float, float, float]
    point: tuple[int, int]


def elements(
    samples: Iterable[Sample | Dropped], store: Store, labels: Callable[[Image], Sequence[TextBox]]
) -> Iterator[Element | Dropped]:
    """One for every click on a label that is read where it was clicked; the others are dropped with the reason.

    `labels` reads a picture (RGB): every box holds one label, so that a menu bar is not taken for one of its menus.
    """
    given: set[str] = set()
    for sample in samples:
        if isinstance(sample, Dropped):
            yield sample
            continue
        for index, step in enumerate(sample.steps):
            first = step.actions[0]  # only the first of a batch is sure to be done on the screen that was seen
            if first.target is None or not first.target.text or "x" not in first.action.args:
                continue
            seen = step.observation
            x, y = first.action.args["x"], first.action.args["y"]
            name = content_id("element", seen.screenshot, first.target.text, x, y)
            if name in given:
                continue
            given.add(name)
            point = (to_pixel(x, seen.width), to_pixel(y, seen.height))
            try:
                box = _told(seen, store, first.target.text, point)
                if box is None:
                    box = _box(labels(_pixels(store.get(seen.screenshot), seen)), first.target.text, point)
            except (IntegrityError, MediaError) as exc:
                yield Dropped(item_id=name, stage="export", reason=lost(exc), detail=str(exc))
                continue
            if box is None:
                detail = f"{first.target.text!r} is not read at {point[0]}, {point[1]} of step {index} of {sample.id}"
                yield Dropped(item_id=name, stage="export", reason="label-not-read", detail=detail)
            else:
                yield Element(name, sample, index, seen, first.target, (box.x0, box.y0, box.x1, box.y1), point)


def _told(seen: Observation, store: Store, label: str, point: tuple[int, int]) -> TextBox | None:
    """The box of the element that the program itself told, where the observation has its accessibility tree."""
    if not seen.scene:
        return None
    try:
        tree = Scene.model_validate_json(store.get(seen.scene)).tree
    except ValueError as exc:
        raise IntegrityError(f"blob {seen.scene} is no scene: {exc}") from exc
    boxes = [
        TextBox(text=item.name, x0=item.x, y0=item.y, x1=item.x + item.width, y1=item.y + item.height)
        for item in tree.elements
    ]
    return _box(boxes, label, point)


def _pixels(data: bytes, seen: Observation) -> Image:
    import numpy as np
    from PIL import Image as Pillow

    try:
        with Pillow.open(io.BytesIO(data)) as picture:
            pixels = np.asarray(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError) as exc:
        raise MediaError(f"{seen.screenshot} does not decode: {exc}", reason="undecodable-picture") from exc
    if pixels.shape[:2] != (seen.height, seen.width):
        raise MediaError(f"{seen.screenshot} is not {Picture.of(seen)}", reason="picture-size")
    return pixels


def _box(boxes: Iterable[TextBox], label: str, point: tuple[int, int]) -> TextBox | None:
    """The smallest box around the point that says the label: all of it, with little beside it, or one line of it."""
    found = [
        box
        for box in boxes
        if box.x0 - _SLACK <= point[0] <= box.x1 + _SLACK
        and box.y0 - _SLACK <= point[1] <= box.y1 + _SLACK
        and _same(_letters(box.text), _letters(label))
    ]
    return min(found, key=lambda box: (box.x1 - box.x0) * (box.y1 - box.y0), default=None)


def _same(read: str, wanted: str) -> bool:
    if not read or not wanted:
        return False
    return (wanted in read and len(read) <= 1.5 * len(wanted) + 2) or (read in wanted and 2 * len(read) >= len(wanted))


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
