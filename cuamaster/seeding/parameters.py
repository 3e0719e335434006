"""A reviewed candidate as an action: point and named target, text, keys, notches, path, each with its evidence."""

from __future__ import annotations

import re
from typing import Any

from cuamaster.action_space import CUAAction, from_pixel
from cuamaster.ports import Review
from cuamaster.records.spoken import Named, named_target, scroll_direction, typed_text
from cuamaster.records.spoken_keys import spoken_keys
from cuamaster.records.trajectory import Action, Target, TextBox
from cuamaster.seeding.align import Pair
from cuamaster.seeding.footage import Footage
from cuamaster.seeding.scene import Scene
from cuamaster.seeding.triggers import VisualTrigger
from cuamaster.seeding.typed_text import settle_text, shown_text, text_strips
from cuamaster.vision.grounding import find_target
from cuamaster.vision.labels import similarity
from cuamaster.vision.naming import name_at, text_at

_CLICKS: dict[str, dict[str, Any]] = {"click": {}, "double_click": {"count": 2}, "right_click": {"button": "right"}}
_CELL = re.compile(r"[A-Za-z]{1,2}\d{1,4}")
_TRUSTED_POINTER = 0.5
_NEXT_FIELD = 0.15  # of the screen's width: how far to the right the next cell or field may be
_LEAST_UNHEARD = 2  # letters: a single mark that nobody dictates may be anything
_DEFAULT_NOTCHES = 3
_MOST_NOTCHES = 20


def to_action(scene: Scene, pair: Pair, review: Review) -> Action | None:
    """The action of a kept candidate; None when its parameters cannot be found out."""
    clause = review.clause or (pair.said.clause if pair.said is not None else "")
    kind = review.kind or (pair.said.kind if pair.said is not None else "")
    seen = pair.seen
    if kind == "key" and _is_button(scene, pair, clause):
        kind = "click"
    if kind in _CLICKS:
        return _click(scene, pair, clause, kind, review) if seen is not None else None
    if kind == "type":
        return _type(scene, pair, clause, review)
    if kind == "key":
        return _key(scene, pair, clause, review)
    if kind == "scroll":
        return _scroll(scene, pair, clause, review)
    if kind == "drag":
        return _drag(scene, pair, review)
    if kind == "hover" and seen is not None:
        return _built("mouse.move", _point(scene, seen.x, seen.y), pair, review, 0.6)
    return None


# -- clicks ---------------------------------------------------------------------------------------------------------


def _click(scene: Scene, pair: Pair, clause: str, kind: str, review: Review) -> Action | None:
    seen = pair.seen
    if seen is None:
        return None
    named = (named_target(clause, scene.language) if clause else None) or Named(text="")
    boxes = scene.labels_before(seen)
    x, y, confidence = seen.x, seen.y, 0.55 + 0.4 * min(1.0, seen.sure)
    if seen.sure < _TRUSTED_POINTER:
        x, y, confidence = _without_pointer(scene, seen, named)
    target = _name(scene, seen, boxes, x, y, named)
    if named.text and target.text and similarity(named.text, target.text) < 0.8 and seen.effect is None:
        confidence -= 0.2
    if pair.said is None:
        confidence = min(confidence, 0.55)
    return _built("mouse.click", {**_point(scene, x, y), **_CLICKS[kind]}, pair, review, confidence, target)


def _name(scene: Scene, seen: VisualTrigger, boxes: list[TextBox], x: float, y: float, named: Named) -> Target:
    """What was clicked: a cell by its name, a field by its label, all else by the text at the point."""
    if named.role == "cell" and _CELL.fullmatch(named.text):
        return Target(text=named.text.upper(), role="cell")
    if named.role == "field" and named.text:
        wide = scene.reader.read(
            scene.footage.frame(scene.time_before(seen)), region=(0, int(y) - 40, scene.screen[0], int(y) + 40)
        )
        labels = [box for box in wide if similarity(named.text, box.text) >= 0.8 and box.x0 <= x + 8]
        if labels:
            return Target(text=labels[0].text.rstrip(" :") + ":" * labels[0].text.rstrip().endswith(":"), role="field")
    return name_at(boxes, x, y, scene.screen, role=_role(named), said=named.text)


def _without_pointer(scene: Scene, seen: VisualTrigger, named: Named) -> tuple[float, float, float]:
    """Where to click when no pointer was found: the named label on the screen before, else the middle of what changed."""
    if named.text:
        boxes = scene.reader.read(scene.footage.frame(scene.time_before(seen)))
        place = find_target(boxes, Target.model_validate({"text": named.text, "role": named.role}), scene.screen)
        if place is not None:
            return place.x * scene.screen[0] / 1000, place.y * scene.screen[1] / 1000, 0.5 * place.score
    if seen.effect is not None:
        return (seen.effect.x0 + seen.effect.x1) / 2, (seen.effect.y0 + seen.effect.y1) / 2, 0.3
    return seen.x, seen.y, 0.2


def _role(named: Named) -> str:
    return named.role if named.role in Target.model_fields["role"].annotation.__args__ else ""  # type: ignore[union-attr]


def _is_button(scene: Scene, pair: Pair, clause: str) -> bool:
    """`Press 8` with the pointer brought to an 8: a button of the screen, not of the keyboard."""
    seen, keys = pair.seen, spoken_keys(clause)
    if seen is None or seen.shape != "rest":
        return False
    if keys is None:
        return True
    if len(keys) > 1 or len(keys[0]) > 1:
        under = text_at(scene.labels_before(seen), seen.x, seen.y)
        return under is not None and bool(keys) and similarity("+".join(keys), under.text) == 1.0
    return seen.strong


# -- keyboard -------------------------------------------------------------------------------------------------------


def _type(scene: Scene, pair: Pair, clause: str, review: Review) -> Action | None:
    said = typed_text(clause, scene.language) if clause else None
    shown = shown_text(scene.footage, pair.seen, scene.reader, said) if pair.seen is not None else None
    settled = settle_text(said, shown, written=scene.written)
    if settled is None:
        return None
    text, confidence = settled
    if pair.said is None:
        if len(text) < _LEAST_UNHEARD or 2 * sum(letter.isalnum() for letter in text) < len(text):
            return None  # icons are read as signs: `-0×` was a menu that opened
        confidence = min(confidence, 0.55)
    named = named_target(clause, scene.language) if clause else None
    target = None
    if named is not None and named.role in ("field", "cell") and named.text and similarity(named.text, text) < 0.8:
        target = Target.model_validate({"text": named.text, "role": named.role})
    return _built("keyboard.type", {"text": text}, pair, review, confidence, target)


def _key(scene: Scene, pair: Pair, clause: str, review: Review) -> Action | None:
    keys = spoken_keys(clause) if clause else None
    if keys is not None:
        return _built("keyboard.press", {"keys": list(keys)}, pair, review, 0.9 if pair.seen is not None else 0.45)
    if pair.seen is None or pair.ends_text is None:
        return None
    key = _committing_key(pair.ends_text, pair.seen, scene.footage)
    return _built("keyboard.press", {"keys": [key]}, pair, review, 0.5)


def _committing_key(typed: VisualTrigger, seen: VisualTrigger, footage: Footage) -> str:
    """Tab if what changed after the typing begins to the right of a typed strip, on its line; else Enter."""
    for strip in text_strips(typed, footage):
        for part in seen.parts:
            shared = min(strip.y1, part.y1) - max(strip.y0, part.y0)
            near = -4 <= part.x0 - strip.x1 <= _NEXT_FIELD * footage.width
            if part.pixels >= 20 and near and shared >= 0.5 * strip.height:
                return "tab"
    return "enter"


# -- wheel and drag -------------------------------------------------------------------------------------------------


def _scroll(scene: Scene, pair: Pair, clause: str, review: Review) -> Action:
    direction = scroll_direction(clause, scene.language)
    notches = (
        min(_MOST_NOTCHES, pair.seen.frames) if pair.seen is not None and pair.seen.frames > 1 else _DEFAULT_NOTCHES
    )
    amount = {"down": {"dy": notches}, "up": {"dy": -notches}, "right": {"dx": notches}, "left": {"dx": -notches}}[
        direction
    ]
    point = _point(scene, pair.seen.x, pair.seen.y) if pair.seen is not None and pair.seen.sure > 0 else {}
    return _built("mouse.scroll", {**point, **amount}, pair, review, 0.8 if pair.seen is not None else 0.4)


def _drag(scene: Scene, pair: Pair, review: Review) -> Action | None:
    seen = pair.seen
    if seen is None or seen.start is None:
        return None
    ends = [_point(scene, *seen.start), _point(scene, seen.x, seen.y)]
    path = [[end["x"], end["y"]] for end in ends]
    return _built(
        "mouse.drag",
        {"path": path},
        pair,
        review,
        0.8,
        name_at(scene.labels_near(*seen.start, seen.t), *seen.start, scene.screen),
    )


# -- shared ---------------------------------------------------------------------------------------------------------


def _point(scene: Scene, x: float, y: float) -> dict[str, float]:
    width, height = scene.screen
    return {"x": round(from_pixel(round(x), width), 1), "y": round(from_pixel(round(y), height), 1)}


def _built(
    kind: str, args: dict[str, Any], pair: Pair, review: Review, confidence: float, target: Target | None = None
) -> Action:
    t = review.t if review.t is not None else pair.t
    seen = pair.seen
    support = []
    if pair.said is not None:
        support.append(f"narration at {pair.said.t:.1f} s: {pair.said.clause}")
    if seen is not None:
        support.append(
            f"{'pointer rest' if seen.shape == 'rest' else seen.shape} at {seen.t:.1f} s"
            + (", screen changed" if seen.strong else "")
        )
    if review.reason:
        support.append(f"review: {review.reason}")
    return Action(
        action=CUAAction(kind, args), target=target, t_start=round(t, 3), t_end=round(max(t, seen.t_end if seen is not None else t), 3),
        confidence=max(0.0, min(1.0, confidence)), evidence="; ".join(support),
    )  # fmt: skip
