"""What can be read where and when in a task span; each strip of screen is read once."""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.ports import ScreenReader
from cuamaster.records.spoken import named_target
from cuamaster.records.trajectory import TextBox
from cuamaster.seeding.footage import Footage
from cuamaster.seeding.triggers import SemanticTrigger, VisualTrigger
from cuamaster.seeding.window_titles import TitleStrip, title_strip
from cuamaster.vision.labels import label, similarity
from cuamaster.vision.naming import text_at

_BEFORE = 0.75  # seconds before a click, when the pointer does not cover the label yet (measured: named 9 of 10; at the click 3 of 10)
_CUT = 3  # pixels from the border of what is read
_LINE = 20  # pixels, about
_LARGE = 0.03  # of the screen: a dialog that closes
_COMMIT_AFTER, _COMMIT_WITHIN = 0.1, 2.0  # seconds between the last letter and the key that ends a text


class Scene:
    """The footage of a span and the reader of its screens; `written`: the words come from captions, not from a recognizer."""

    def __init__(self, footage: Footage, reader: ScreenReader, *, written: bool = True, language: str = "en") -> None:
        self.footage, self.reader, self.written, self.language = footage, reader, written, language

    @property
    def screen(self) -> tuple[int, int]:
        """Width, height in pixels."""
        return self.footage.width, self.footage.height

    def labels_before(self, seen: VisualTrigger) -> list[TextBox]:
        """Text around the pointer of a trigger, shortly before it, when the pointer was not yet there."""
        return self.labels_near(seen.x, seen.y, self.time_before(seen))

    def labels_near(self, x: float, y: float, t: float) -> list[TextBox]:
        """Text around a pixel at `t` seconds."""
        width, height = self.screen
        reach_x, reach_y = 0.15 * width, 0.075 * height
        area = (int(x - reach_x), int(y - reach_y), int(x + reach_x), int(y + 1.4 * reach_y))
        return uncut(self.reader.read(self.footage.frame(t), region=area), area, x, width)

    def title_strip(self, t: float) -> TitleStrip | None:
        """Where the title of the window under the pointer stands at `t` seconds."""
        pointer = self.footage.pointer_at(t)
        near = (pointer.x, pointer.y) if pointer.confidence > 0 else (self.screen[0] / 2, self.screen[1] / 2)
        return title_strip(self.reader.read(self.footage.frame(t)), near, self.screen)

    def time_before(self, seen: VisualTrigger) -> float:
        """A moment before the trigger at which its target already shows but the pointer is still away, if there is one."""
        earliest = max((c.t for c in self.footage.changes if not c.hovering and c.t < seen.t - 0.15), default=0.0)
        return max(seen.t - _BEFORE, min(earliest + 0.05, seen.t - 0.1))

    def agreement(self, said: SemanticTrigger, seen: VisualTrigger) -> float:
        """0-1: the text at the pointer is the thing that is named."""
        if said.kind in ("type", "scroll", "drag") or seen.shape in ("typing", "stroke"):
            return 0.0
        named = named_target(said.clause, self.language)
        if named is None or not named.text:
            return 0.0
        boxes = self.labels_before(seen)
        under = text_at(boxes, seen.x, seen.y)
        if under is None:
            return 0.0
        score = similarity(named.text, under.text)
        if score == 0.0:
            said_words, shown_words = set(label(named.text).split()), set(label(under.text).split())
            score = 0.8 * len(said_words & shown_words) / max(1, len(said_words | shown_words))
        return score

    def ends_text(self, before: VisualTrigger, seen: VisualTrigger) -> bool:
        """`seen` comes soon after the typing `before` and the pointer stayed where it was: likely a key."""
        soon = _COMMIT_AFTER <= seen.t - before.t_end <= _COMMIT_WITHIN
        if seen.shape != "change" or seen.effect is None or before.effect is None or not soon:
            return False
        text = before.effect
        beside = any(part.touches((text.x0, text.y0, text.x1, text.y1), pad=2 * _LINE) for part in seen.parts)
        if not beside and seen.effect.pixels < _LARGE * self.footage.width * self.footage.height:
            return False  # a button that lights up elsewhere
        return not any(sample.moved for sample in self.footage.pointer if before.t_end < sample.t <= seen.t)


def uncut(boxes: Sequence[TextBox], area: tuple[int, int, int, int], x: float, width: int) -> list[TextBox]:
    """The boxes without those that the left or right border of the read area cuts (`Buscar:` is no `ar:`), unless pixel x is on them."""

    def cut(box: TextBox) -> bool:
        left, right = area[0] > 0 and box.x0 <= area[0] + _CUT, area[2] < width and box.x1 >= area[2] - _CUT
        return left or right

    return [box for box in boxes if not cut(box) or box.x0 <= x <= box.x1]
