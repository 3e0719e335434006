"""Grounding: a screenshot, an element by name, its box and the point to click; places in pixels of the picture and 0-1000."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from cuamaster.exports.columns import FLOAT, IMAGE, INT, STRING, Columns, list_of
from cuamaster.exports.elements import Element
from cuamaster.exports.options import Options
from cuamaster.exports.pictures import Picture
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.turns import FACTS, Row, facts_of
from cuamaster.records.episode import Dropped

_COLUMNS: Columns = {
    "image": IMAGE,
    "element": STRING,
    "role": STRING,
    "window": STRING,
    "clicked": pa.bool_(),
    "active_window": STRING,
    "cursor": list_of(FLOAT),
    "instruction": STRING,
    "bbox": list_of(FLOAT),
    "bbox_1000": list_of(INT),
    "point": list_of(FLOAT),
    "point_1000": list_of(INT),
    "width": INT,
    "height": INT,
    "screen_w": INT,
    "screen_h": INT,
    **FACTS,
}


def _rows(item: Element, options: Options) -> Iterator[Row | Dropped]:
    picture = Picture.of(item.seen)
    shown = picture.fitted(options.max_side)
    size = (item.seen.width, item.seen.height)
    corners = [(item.box[0], 0), (item.box[1], 1), (item.box[2], 0), (item.box[3], 1)]
    point = _middle(item.point)

    def pixels(places: list[tuple[float, int]]) -> list[float]:
        scale = (shown.width / size[0], shown.height / size[1])
        return [round(min(max(value, 0), size[axis]) * scale[axis], 2) for value, axis in places]

    def thousandths(places: list[tuple[float, int]]) -> list[int]:
        return [round(min(max(value, 0), size[axis]) * 1000 / size[axis]) for value, axis in places]

    facts = facts_of(item.sample.task, item.sample.lineage, item.sample.round, item.id, item.step)
    yield {
        "images": [picture],
        "element": item.target.text,
        "role": item.target.role,
        "window": item.target.window or item.seen.active_window,
        "clicked": item.clicked,
        "active_window": item.seen.active_window,
        "cursor": pixels(_middle(item.scene.pointer)) if item.scene else [],
        "instruction": f"Click {item.target.text!r}" + (f" near {item.target.near!r}" if item.target.near else ""),
        "bbox": pixels(corners),
        "bbox_1000": thousandths(corners),
        "point": pixels(point),
        "point_1000": thousandths(point),
        "width": shown.width,
        "height": shown.height,
        "screen_w": size[0],
        "screen_h": size[1],
        **facts,
        "apps": list(item.sample.apps),
        "proof": item.sample.proof,
    }


def _middle(pixel: tuple[int, int]) -> list[tuple[float, int]]:
    return [(pixel[0] + 0.5, 0), (pixel[1] + 0.5, 1)]


PROFILE = Profile(
    name="grounding", stream="elements", rows=_rows, columns=lambda _: _COLUMNS,
    use="`load_dataset(DIR, split=\"train\")`; `bbox` and `point` are pixels of `image`, the `_1000` ones are normalized",
)  # fmt: skip
