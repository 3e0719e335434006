"""Elements of proven trajectories' screenshots: what was clicked by name, and what else their programs told; each with its box."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cuamaster.action_space import to_pixel
from cuamaster.errors import IntegrityError, MediaError
from cuamaster.exports.pictures import Picture, lost
from cuamaster.exports.sample import Sample
from cuamaster.ports import Image, Store
from cuamaster.records.episode import Dropped
from cuamaster.records.record import content_id
from cuamaster.records.scene import Scene
from cuamaster.records.trajectory import Observation, Role, Target, TextBox

_SLACK = 6
"""Pixels by which a click may miss the letters of what it is meant for: menu items and buttons are larger than their text."""


ROLES: Mapping[str, Role] = {
    "push button": "button", "toggle button": "button", "menu": "menu", "menu item": "menuitem", "check menu item": "menuitem",
    "radio menu item": "menuitem", "check box": "checkbox", "radio button": "checkbox", "page tab": "tab", "entry": "field",
    "text": "field", "password text": "field", "spin button": "field", "combo box": "field", "list item": "item",
    "tree item": "item", "icon": "icon", "table cell": "cell", "link": "item",
}  # fmt: skip
"""AT-SPI's roles of what can be clicked (atspi/atspi-constants.h of at-spi2-core) -> ours."""


@dataclass(frozen=True)
class Element:
    """A named thing on a screenshot: its box in pixels of the blob, corners x0, y0, x1, y1, and the pixel clicked.

    Not `clicked`: its program told it, and the pixel is its middle. `scene`: what was recorded beside the screenshot.
    """

    id: str
    sample: Sample
    step: int
    seen: Observation
    target: Target
    box: tuple[float, float, float, float]
    point: tuple[int, int]
    scene: Scene | None = None
    clicked: bool = True


def elements(
    samples: Iterable[Sample | Dropped], store: Store, labels: Callable[[Image], Sequence[TextBox]]
) -> Iterator[Element | Dropped]:
    """One for every click on a label that is read where it was clicked; the others are dropped with the reason.

    Where scenes were recorded, also one for everything else that can be clicked and is alone on the screen with its name.
    `labels` reads a picture (RGB): every box holds one label, so that a menu bar is not taken for one of its menus.
    """
    given: set[str] = set()

    def first_time(name: str) -> bool:
        known = name in given
        given.add(name)
        return not known

    for sample in samples:
        if isinstance(sample, Dropped):
            yield sample
            continue
        for index, step in enumerate(sample.steps):
            seen = step.observation
            try:
                scene = _scene(seen, store)
            except IntegrityError as exc:
                if first_time(name := content_id("scene", seen.scene)):
                    yield Dropped(item_id=name, stage="export", reason=lost(exc), detail=str(exc))
                continue
            first = step.actions[0]  # only the first of a batch is sure to be done on the screen that was seen
            target, args = first.target, first.action.args
            if target is not None and target.text and "x" in args:
                name = content_id("element", seen.screenshot, target.text, args["x"], args["y"])
                if first_time(name):
                    point = (to_pixel(args["x"], seen.width), to_pixel(args["y"], seen.height))
                    found = _clicked(
                        Element(name, sample, index, seen, target, (0, 0, 0, 0), point, scene), store, labels
                    )
                    if isinstance(found, Element):
                        given.add(content_id("told", seen.screenshot, found.box))
                    yield found
            if scene is not None:
                yield from (item for item in _told(sample, index, seen, scene) if first_time(item.id))


def _clicked(item: Element, store: Store, labels: Callable[[Image], Sequence[TextBox]]) -> Element | Dropped:
    """The element with its box: of the program that told it, otherwise as it is read."""
    told = item.scene.tree.elements if item.scene else ()
    boxes = [TextBox(text=one.name, x0=x0, y0=y0, x1=x1, y1=y1) for one in told for x0, y0, x1, y1 in (one.box,)]
    try:
        box = _box(boxes, item.target.text, item.point) or _box(
            labels(_pixels(store.get(item.seen.screenshot), item.seen)), item.target.text, item.point
        )
    except (IntegrityError, MediaError) as exc:
        return Dropped(item_id=item.id, stage="export", reason=lost(exc), detail=str(exc))
    if box is None:
        x, y = item.point
        detail = f"{item.target.text!r} is not read at {x}, {y} of step {item.step} of {item.sample.id}"
        return Dropped(item_id=item.id, stage="export", reason="label-not-read", detail=detail)
    return replace(item, box=(box.x0, box.y0, box.x1, box.y1))


def _told(sample: Sample, index: int, seen: Observation, scene: Scene) -> Iterator[Element]:
    """What can be clicked on a screen, as far as its name says which one is meant."""
    names = Counter(item.name.casefold() for item in scene.tree.elements)
    for item in scene.tree.elements:
        role = ROLES.get(item.role)
        if role is None or not item.name or names[item.name.casefold()] > 1 or "enabled" not in item.states:
            continue
        point = (item.x + item.width // 2, item.y + item.height // 2)
        x0, y0, x1, y1 = map(float, item.box)
        box = (x0, y0, x1, y1)
        name = content_id("told", seen.screenshot, box)
        yield Element(name, sample, index, seen, Target(text=item.name, role=role), box, point, scene, clicked=False)


def _scene(seen: Observation, store: Store) -> Scene | None:
    """What was recorded beside the screenshot, if anything was; raises IntegrityError."""
    if not seen.scene:
        return None
    try:
        return Scene.model_validate_json(store.get(seen.scene))
    except ValueError as exc:
        raise IntegrityError(f"blob {seen.scene} is no scene: {exc}") from exc


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
