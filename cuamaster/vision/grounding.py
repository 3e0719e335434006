"""From the name of a target to its place on a screen of read boxes.

Reconstruction names what a tutorial clicked (`naming`); replay finds it again on a live screen. Coordinates out are 0-1000, boxes pixels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from cuamaster.action_space import from_pixel
from cuamaster.records.trajectory import Target, TextBox, Window
from cuamaster.vision.labels import label, part_of, similarity
from cuamaster.vision.reading import lines_of
from cuamaster.vision.text_layout import word_box

LEAST_SCORE = 0.6
_MENU_BAR = 80.0  # pixels from the top of a window within which its menu bar is
_STRICT = frozenset({"menu", "menuitem", "button", "tab", "checkbox"})
_CELL = re.compile(r"^([A-Za-z]{1,2})(\d{1,4})$")
_MIDDLE = (0.5, 0.6)  # of a window: below its bars, away from what is listed at its top
_CLEAR = 24.0  # pixels around text that count as taken
_FIELD_OFFSET = 2.5  # heights to the right of a label that ends with a colon, where its field is


class Grounded(NamedTuple):
    """A target on the screen: point in 0-1000, the text's box in pixels (None for a bare position), how sure (0-1)."""

    x: float
    y: float
    box: TextBox | None
    score: float


def find_all(
    boxes: Sequence[TextBox],
    target: Target,
    screen: tuple[int, int],
    active: Window | None = None,
    *,
    least: float = LEAST_SCORE,
) -> list[Grounded]:
    """Every place that fits a target with a text, best first; equal ones in reading order."""
    found: list[tuple[float, TextBox]] = []
    cell = _CELL.match(target.text.strip()) if target.role in ("cell", "") else None
    if cell is not None and (box := _spreadsheet_cell(boxes, cell[1].upper(), cell[2])) is not None:
        found.append((1.1 if target.role == "cell" else 0.95, box))
    matches = list(_matches(boxes, target))
    if not matches and target.role == "menu" and active is not None:
        matches = _misread_menu(boxes, target, active)
    for box, score in matches:
        found.append((score * (0.9 + 0.1 * box.score) + _leaning(box, target, boxes, screen, active), box))
    best: list[tuple[float, TextBox]] = []
    for score, box in sorted(found, key=lambda item: (-round(item[0], 2), item[1].y0, item[1].x0)):
        if score >= least and not any(
            abs(box.center[0] - b.center[0]) < 6 and abs(box.center[1] - b.center[1]) < 6 for _, b in best
        ):
            best.append((score, box))
    return [Grounded(*_point(box, target, boxes, screen), box, min(1.0, score)) for score, box in best]


def find_target(
    boxes: Sequence[TextBox], target: Target, screen: tuple[int, int], active: Window | None = None
) -> Grounded | None:
    """The `nth` place that fits a target on a screen of (width, height) pixels, or None.

    `active` is the focused window when it is known: places inside it come first, and a target without text is placed in it.
    """
    if not target.text:
        return _bare(boxes, target, screen, active)
    found = find_all(boxes, target, screen, active)
    return found[target.nth - 1] if target.nth <= len(found) else None


# -- corridors ------------------------------------------------------------------------------------------------------


def _matches(boxes: Sequence[TextBox], target: Target) -> Iterator[tuple[TextBox, float]]:
    whole = False
    for box in boxes:
        score = similarity(target.text, box.text)
        if score:
            whole = whole or score == 1.0
            yield box, score
    if whole:
        return
    for line in lines_of(boxes):  # a label that was read in pieces, left to right
        for begin in range(len(line)):
            for end in range(begin + 2, min(begin + 5, len(line)) + 1):
                pieces = line[begin:end]
                if any(b.x0 - a.x1 > 1.2 * (a.y1 - a.y0) for a, b in pairwise(pieces)):
                    break
                score = similarity(target.text, " ".join(piece.text for piece in pieces))
                if score:
                    yield _around(pieces), score * 0.97
    for box in boxes:
        part = part_of(box, target.text)
        if part is not None:
            share = len(label(target.text)) / max(1, len(label(box.text)))
            # a menu bar may be read as one line; nothing else on the screen had the label
            least = 0.6 if target.role == "menu" else 0.5
            yield part, least + (0.2 if target.role in _STRICT else 0.4) * share


def _misread_menu(boxes: Sequence[TextBox], target: Target, active: Window) -> list[tuple[TextBox, float]]:
    """The word of the window's menu bar that is most like the label: an underlined letter is often misread."""
    best: list[tuple[float, TextBox]] = []
    for box in boxes:
        x, y = box.center
        if active.x <= x <= active.x + active.width and 0 <= y - active.y <= _MENU_BAR:
            for word in re.finditer(r"\S+", box.text):
                ratio = float(Levenshtein.normalized_similarity(label(target.text), label(word.group())))
                best.append((ratio, word_box(box, word.start(), word.end())))
    if not best:
        return []
    ratio, found = max(best, key=lambda item: item[0])
    return [(found, 0.7)] if ratio >= 0.7 else []


def _leaning(
    box: TextBox, target: Target, boxes: Sequence[TextBox], screen: tuple[int, int], active: Window | None
) -> float:
    """Small preferences between equal labels: near the named neighbour, inside the right window, where its kind usually is."""
    x, y = box.center
    bonus = 0.0
    if target.near:
        neighbours = [b for b in boxes if similarity(target.near, b.text) >= 0.8 and b is not box]
        if neighbours:
            away = min(abs(b.center[0] - x) + 2 * abs(b.center[1] - y) for b in neighbours)
            bonus += 0.2 * max(0.0, 1 - away / (0.5 * screen[0]))
    if active is not None and active.width > 0:
        inside = active.x <= x <= active.x + active.width and active.y - 30 <= y <= active.y + active.height
        bonus += 0.05 if inside else 0.0
    if target.role in ("menu", "titlebar"):
        bonus += 0.04 * (1 - y / screen[1])
    elif target.role == "button":
        bonus += 0.04 * y / screen[1]
    elif target.role == "menuitem" and y / screen[1] > 0.96:
        bonus -= 0.05  # a task bar is no menu
    return bonus


def _point(box: TextBox, target: Target, boxes: Sequence[TextBox], screen: tuple[int, int]) -> tuple[float, float]:
    x, y = box.center
    if target.role == "field" and box.text.rstrip().endswith(":"):
        x = box.x1 + _FIELD_OFFSET * (box.y1 - box.y0)
        beside = [b for b in boxes if abs(b.center[1] - y) < box.y1 - box.y0 and box.x1 <= b.x0 <= x]
        x = beside[0].center[0] if beside else x
    return from_pixel(x, screen[0]), from_pixel(y, screen[1])


def _bare(boxes: Sequence[TextBox], target: Target, screen: tuple[int, int], active: Window | None) -> Grounded | None:
    if target.near:
        near = find_target(boxes, Target(text=target.near), screen, active)
        if near is not None:
            return near._replace(score=near.score * 0.8)
    if target.at is None and target.role != "area":
        return None
    dx, dy = target.at if target.at is not None else _MIDDLE
    known = active is not None and active.width > 0 and active.height > 0
    frame = (active.x, active.y, active.width, active.height) if active is not None and known else (0, 0, *screen)
    if known and (target.window or target.at is None):
        x, y = frame[0] + dx * frame[2], frame[1] + dy * frame[3]
    else:
        x, y = dx * screen[0], dy * screen[1]
        if not (frame[0] <= x < frame[0] + frame[2] and frame[1] <= y < frame[1] + frame[3]):
            x, y = (
                frame[0] + _MIDDLE[0] * frame[2],
                frame[1] + _MIDDLE[1] * frame[3],
            )  # the window is elsewhere than it was then
    if target.role == "area":
        x, y = _free_spot(boxes, (x, y), frame)
    return Grounded(from_pixel(x, screen[0]), from_pixel(y, screen[1]), None, 0.7)


def _free_spot(
    boxes: Sequence[TextBox], wanted: tuple[float, float], frame: tuple[int, int, int, int]
) -> tuple[float, float]:
    """The point nearest to the wanted one that is clear of text and of the icons above captions, inside a window."""

    def clear(x: float, y: float) -> bool:
        return all(
            x < b.x0 - _CLEAR or x > b.x1 + _CLEAR or y < b.y0 - 2.5 * _CLEAR or y > b.y1 + _CLEAR for b in boxes
        )

    if clear(*wanted):
        return wanted
    steps = [(i + 0.5) / 16 for i in range(16)]
    spots = [(frame[0] + u * frame[2], frame[1] + v * frame[3]) for u in steps for v in steps[4:]]
    free = [spot for spot in spots if clear(*spot)]
    return min(free, key=lambda spot: (spot[0] - wanted[0]) ** 2 + (spot[1] - wanted[1]) ** 2, default=wanted)


def _spreadsheet_cell(boxes: Sequence[TextBox], column: str, row: str) -> TextBox | None:
    """The cell under a column's letter and beside a row's number, when both headings can be read."""
    letters = [b for b in boxes if b.text.strip() == column]
    numbers = sorted((b for b in boxes if b.text.strip() == row), key=lambda b: b.x0)
    for letter in sorted(letters, key=lambda b: b.y0):
        for number in numbers:
            if number.x1 < letter.x1 and number.y0 > letter.y0:
                cx, cy = letter.center[0], number.center[1]
                return TextBox(
                    text=column + row,
                    x0=cx - 20,
                    y0=cy - 8,
                    x1=cx + 20,
                    y1=cy + 8,
                    score=min(letter.score, number.score),
                )
    return None


def _around(pieces: Sequence[TextBox]) -> TextBox:
    return TextBox(
        text=" ".join(piece.text for piece in pieces),
        x0=min(p.x0 for p in pieces), y0=min(p.y0 for p in pieces), x1=max(p.x1 for p in pieces), y1=max(p.y1 for p in pieces),
        score=min(p.score for p in pieces),
    )  # fmt: skip
