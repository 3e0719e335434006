"""Drawn screens with a pointer, as a recording in stills, and the text that stands on them; used by the seeding tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from cuamaster.ports import Image
from cuamaster.records.speech import spread
from cuamaster.records.trajectory import TextBox
from cuamaster.records.transcript import Sentence, Transcript
from cuamaster.vision.cursor_shapes import templates

SIZE = (800, 500)
FONT = ImageFont.load_default(size=16)
ARROW = next(template for template in templates(1.0) if template.name == "arrow-dark")


@dataclass
class Film:
    """A recording in the making, ten pictures a second: labels come, go and are typed; the pointer moves and rests."""

    labels: dict[str, tuple[int, int]]
    pointer: tuple[int, int] = (60, 60)
    pictures: list[tuple[float, Image]] = field(default_factory=list)
    done: list[float] = field(default_factory=list)
    """Seconds at which something was clicked or typing began."""
    _texts: dict[bytes, list[TextBox]] = field(default_factory=dict)

    @property
    def t(self) -> float:
        """Seconds so far."""
        return len(self.pictures) / 10

    def show(self, seconds: float = 0.1) -> None:
        """Film what is there now."""
        for _ in range(max(1, round(seconds * 10))):
            self.pictures.append((self.t, self._draw()))

    def move(self, x: int, y: int, seconds: float = 0.5) -> None:
        """Bring the pointer to a place."""
        (x0, y0), steps = self.pointer, round(seconds * 10)
        for step in range(1, steps + 1):
            self.pointer = (round(x0 + (x - x0) * step / steps), round(y0 + (y - y0) * step / steps))
            self.show()

    def type(self, text: str, at: tuple[int, int]) -> None:
        """Let text appear letter by letter."""
        self.done.append(self.t)
        for end in range(1, len(text) + 1):
            self.labels = {**self.labels, text[:end]: at}
            self.labels.pop(text[: end - 1], None)
            self.show()

    def click(self) -> None:
        """Note that a click happens now; what it changes is up to the caller."""
        self.done.append(self.t)

    def text_of(self, image: Image) -> list[TextBox]:
        """The labels of one of the pictures."""
        return self._texts[image.tobytes()]

    def _draw(self) -> Image:
        picture = Pictures.new("L", SIZE, 235)
        pen = ImageDraw.Draw(picture)
        boxes = []
        for text, at in self.labels.items():
            pen.text(at, text, fill=20, font=FONT)
            x0, y0, x1, y1 = pen.textbbox(at, text, font=FONT)
            boxes.append(TextBox(text=text, x0=x0, y0=y0, x1=x1, y1=y1))
        shown = np.asarray(picture).copy()
        x, y = round(self.pointer[0] - ARROW.hot_x), round(self.pointer[1] - ARROW.hot_y)
        height, width = ARROW.picture.shape
        part = shown[y : y + height, x : x + width]
        part[ARROW.mask > 0] = ARROW.picture[ARROW.mask > 0].astype(np.uint8)
        image = np.repeat(shown[:, :, None], 3, axis=2)
        self._texts[image.tobytes()] = boxes
        return image


def spoken(*sentences: tuple[float, float, str], origin: str = "vtt") -> Transcript:
    """A transcript of (start, end, text) sentences with words spread over their time."""
    return Transcript(
        video_id="v",
        language="en",
        origin=origin,
        trust=1.0,
        sentences=tuple(Sentence(text=s, start=a, end=b, words=spread(s, a, b)) for a, b, s in sentences),
    )


def center(film: Film, label: str) -> tuple[int, int]:
    """The middle of a label."""
    x, y = film.labels[label]
    x0, y0, x1, y1 = FONT.getbbox(label)
    return int(x + (x0 + x1) / 2), int(y + (y0 + y1) / 2)


def kinds(actions: Sequence[object]) -> list[str]:
    """Types of actions in order."""
    return [action.action.type for action in actions]  # type: ignore[attr-defined]
