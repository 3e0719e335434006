"""From a place on a screen to the name of what is there: what a tutorial clicked."""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.records.trajectory import Target, TextBox
from cuamaster.vision.labels import as_shown, label, part_of, similarity


def text_at(boxes: Sequence[TextBox], x: float, y: float, *, reach: float = 24.0) -> TextBox | None:
    """The box a pointer at pixel (x, y) is meant for: the one under it, else the nearest within `reach`, else an icon's caption."""
    near: list[tuple[float, TextBox]] = []
    for box in boxes:
        dx, dy = max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1)
        if dx <= reach and dy <= reach / 2:
            near.append((dx + 2 * dy, box))
        elif box.x0 - 12 <= x <= box.x1 + 12 and 0 < box.y0 - y <= 2.2 * reach:  # a caption below its icon
            near.append((30 + dy, box))
    return min(near, key=lambda item: item[0])[1] if near else None


def name_at(
    boxes: Sequence[TextBox], x: float, y: float, screen: tuple[int, int], *, role: str = "", said: str = ""
) -> Target:
    """Name what is at pixel (x, y), from boxes read shortly before the click (at the click the pointer covers it).

    `said` is what the narration calls it: where the text at the point agrees, its shown form is used. Where no text is near, the
    target is the bare position on the screen.
    """
    at = (x / screen[0], y / screen[1])
    box = (_label_left(boxes, x, y, said) if role == "field" else None) or text_at(boxes, x, y)
    if box is None or role == "area":
        return Target.model_validate({"text": "", "role": role, "at": at})
    text = as_shown(box.text) if role != "field" else box.text
    if said and similarity(said, text) == 0 and (part := part_of(box, said)) is not None:
        text = part.text
    if not label(text):
        return Target.model_validate({"text": "", "role": role, "at": at})
    same = [b for b in boxes if similarity(text, b.text) == 1.0]
    nth = 1 + next((i for i, b in enumerate(same) if b is box), 0)
    return Target.model_validate({"text": text, "role": role, "nth": nth, "at": at})


def _label_left(boxes: Sequence[TextBox], x: float, y: float, said: str) -> TextBox | None:
    """The label of the field at a point: on its row, to its left, ending with a colon or called so by the narration."""
    row = [box for box in boxes if abs(box.center[1] - y) < 0.75 * (box.y1 - box.y0) and box.x1 <= x]
    named = [box for box in row if box.text.rstrip().endswith(":") or (said and similarity(said, box.text) > 0)]
    return max(named, key=lambda box: box.x1, default=None)
