"""Drawn screens that are worked on, whole recordings, and what publishers do to them: camera insets, bars, portrait frames, talk before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from footage.cameras import talker
from footage.drawing import FPS, SECONDS, Clip, Picture, Random, font, photo, times
from PIL import Image, ImageDraw

MENUS = ["File", "Edit", "View", "Insert", "Format", "Tools", "Window", "Help"]
WORDS = [
    "budget",
    "total",
    "report",
    "invoice",
    "layer",
    "select",
    "window",
    "March",
    "revenue",
    "export",
    "settings",
    "folder",
    "notes",
    "draft",
    "table",
    "column",
    "value",
    "import",
    "chart",
    "filter",
    "search",
    "result",
    "page",
    "margin",
    "image",
    "shape",
    "color",
    "server",
    "query",
    "branch",
    "commit",
    "deploy",
    "update",
    "project",
    "client",
    "order",
    "review",
]
THEMES = (  # ground, panel, text, accent
    ((236, 236, 236), (250, 250, 250), (30, 30, 30), (53, 132, 228)),
    ((43, 43, 48), (30, 30, 34), (214, 214, 214), (90, 160, 250)),
    ((255, 255, 255), (243, 243, 243), (20, 20, 20), (0, 103, 192)),
    ((58, 64, 72), (46, 52, 60), (230, 230, 230), (110, 200, 120)),
)
_ARROW = np.array([[0, 0], [0, 16], [4, 12], [7, 18], [9, 17], [6, 11], [11, 11]])


class Desk:
    """An application on a desktop: menus, tools, a side list, a page of text or cells; someone points, opens menus and types."""

    def __init__(self, random: Random, size: tuple[int, int], *, viewport: bool = False) -> None:
        self.random, self.size, self.viewport = random, size, viewport
        self.ground, self.panel, self.ink, self.accent = THEMES[int(random.integers(len(THEMES)))]
        self.text = int(random.integers(13, 18)) * size[1] // 800 + 1
        self.margin = int(random.choice([0, 0, 40, 70]) * size[1] // 800)
        self.wallpaper = random.random() < 0.5
        self.grid = random.random() < 0.5
        self.lines = [" ".join(random.choice(WORDS, int(random.integers(2, 9)))) for _ in range(80)]
        self.side = [str(random.choice(WORDS)).capitalize() for _ in range(60)]
        self.plan = self._plan()

    def _plan(self) -> list[tuple[float, str, tuple[int, int]]]:
        """(seconds, what, where): a rest, a menu that opens or closes, typing."""
        t, plan = 0.0, []
        while t < SECONDS:
            place = (int(self.random.integers(40, self.size[0] - 60)), int(self.random.integers(60, self.size[1] - 60)))
            plan.append((t, str(self.random.choice(["rest", "menu", "type", "dialog", "rest"])), place))
            t += float(self.random.uniform(1.5, 5.0))
        return plan

    def at(self, t: float) -> Picture:
        """The screen at `t` seconds."""
        index = max(n for n, step in enumerate(self.plan) if step[0] <= t)
        begun, what, place = self.plan[index]
        typed = sum(step[1] == "type" for step in self.plan[:index])
        letters = int((t - begun) * 6) if what == "type" else 0
        image = Image.fromarray(
            self._window(typed, letters, t if self.viewport and what != "rest" else begun if self.viewport else 0.0)
        )
        if what in ("menu", "dialog") and t - begun > 0.8:
            self._popup(image, place, what)
        before = self.plan[index - 1][2] if index else place
        part = min(1.0, (t - begun) / 0.7)
        ease = part * part * (3 - 2 * part)
        x, y = (round(a + (b - a) * ease) for a, b in zip(before, place, strict=True))
        pen = ImageDraw.Draw(image)
        pen.polygon([(x + int(a), y + int(b)) for a, b in _ARROW], fill="white", outline="black")
        return np.asarray(image, np.uint8)

    @lru_cache(maxsize=2)  # noqa: B019  a desk lives as long as its clip
    def _window(self, typed: int, letters: int, t: float) -> Picture:
        width, height = self.size
        image = (
            Image.fromarray(photo("china", width, height))
            if self.wallpaper
            else Image.new("RGB", self.size, (40, 70, 110))
        )
        pen, type_, line = ImageDraw.Draw(image), font(self.text), int(self.text * 1.5)
        x0, y0, x1, y1 = self.margin, self.margin, width - self.margin, height - self.margin
        pen.rectangle((x0, y0, x1, y1), fill=self.ground, outline=self.ink)
        pen.rectangle((x0, y0, x1, y0 + line), fill=self.accent)
        pen.text((x0 + 8, y0 + 2), f"{self.lines[0]} - Editor", fill="white", font=type_)
        for index, menu in enumerate(MENUS):
            pen.text((x0 + 10 + index * self.text * 5, y0 + line + 2), menu, fill=self.ink, font=type_)
        for index in range(18):
            left = x0 + 10 + index * line * 3 // 2
            pen.rectangle((left, y0 + 2 * line + 4, left + line, y0 + 3 * line), outline=self.ink)
        top, side = y0 + 3 * line + 8, x0 + width // 6
        pen.rectangle((side, top, x1 - 2, y1 - line), fill=self.panel, outline=self.ink)
        rows = (y1 - line - top) // line - 1
        for row in range(rows):
            pen.text((x0 + 8, top + row * line + 2), self.side[row % 60], fill=self.ink, font=type_)
            text = self.lines[(row + 1) % 80]
            if row == 2 + typed % 5:
                text = (text + " " + self.lines[7 + typed % 9])[: len(text) + letters]
            if not self.viewport:
                pen.text((side + 10, top + row * line + 2), text, fill=self.ink, font=type_)
            if self.grid:
                pen.line((side, top + row * line, x1 - 2, top + row * line), fill=self.ground)
        pen.text((x0 + 8, y1 - line + 2), f"Ready   Line {typed}, column {letters}", fill=self.ink, font=type_)
        shown = np.array(image, np.uint8)
        if self.viewport:
            box = (side + 6, top + 6, x1 - 8, y1 - line - 6)
            seen = photo("flower", box[2] - box[0] + 80, box[3] - box[1] + 80)
            dx, dy = int(40 + 35 * np.sin(t)), int(40 + 35 * np.cos(0.7 * t))
            shown[box[1] : box[3], box[0] : box[2]] = seen[dy : dy + box[3] - box[1], dx : dx + box[2] - box[0]]
        return shown

    def _popup(self, image: Image.Image, place: tuple[int, int], what: str) -> None:
        pen, line = ImageDraw.Draw(image), int(self.text * 1.6)
        wide, rows = (self.text * 12, 8) if what == "menu" else (self.text * 24, 6)
        x, y = min(place[0], self.size[0] - wide - 4), min(place[1], self.size[1] - rows * line - 4)
        pen.rectangle((x, y, x + wide, y + rows * line), fill=self.panel, outline=self.ink)
        for row in range(rows):
            pen.text((x + 10, y + row * line + 3), self.lines[20 + row], fill=self.ink, font=font(self.text))


def desk(seed: int, *, viewport: bool = False) -> Clip:
    """A drawn application that is used; with `viewport` it shows a picture that turns while it is worked on."""
    random = np.random.default_rng([1, seed])
    size = ((1280, 720), (1280, 800), (1600, 900), (1024, 768))[int(random.integers(4))]
    drawn = Desk(random, size, viewport=viewport)
    family = "viewport" if viewport else "desk"
    return Clip(family, seed, "screen", size, lambda: (drawn.at(t) for t in times()), 1.0, (0, 0, *size))


def terminal(seed: int) -> Clip:
    """A full-screen terminal, most of it black, in which lines come and scroll."""
    random = np.random.default_rng([2, seed])
    size, text = (1280, 720), int(random.integers(14, 24))
    lines = [f"$ {' '.join(random.choice(WORDS, int(random.integers(1, 8))))}" for _ in range(200)]
    pace = float(random.uniform(0.7, 4.0))

    def at(t: float) -> Picture:
        image = Image.new("RGB", size, (12, 12, 12))
        pen, rows, last = ImageDraw.Draw(image), size[1] // (text + 6), int(t * pace)
        for row, index in enumerate(range(max(0, last - rows + 2), last + 1)):
            pen.text((8, 4 + row * (text + 6)), lines[index % 200], fill=(204, 204, 204), font=font(text))
        return np.asarray(image, np.uint8)

    return Clip("terminal", seed, "screen", size, lambda: (at(t) for t in times()), 1.0, (0, 0, *size))


def recorded(path: Path, seed: int, size: tuple[int, int] = (1280, 800), start: float = 8.0) -> Clip:
    """A stretch of a recording of a real screen."""

    def frames() -> Iterator[Picture]:
        film = cv2.VideoCapture(str(path))
        film.set(cv2.CAP_PROP_POS_MSEC, 1000 * start)
        rate = film.get(cv2.CAP_PROP_FPS)
        read = 0
        for t in times():
            while read <= t * rate and film.grab():
                read += 1
            good, frame = film.retrieve()
            if not good:
                break
            shown = cv2.cvtColor(np.asarray(frame, np.uint8), cv2.COLOR_BGR2RGB)
            yield np.asarray(cv2.resize(shown, size, interpolation=cv2.INTER_AREA), np.uint8)
        film.release()

    return Clip("recorded", seed, "screen", size, frames, 1.0, (0, 0, *size))


def with_corner_camera(clip: Clip, seed: int, *, round_: bool = False) -> Clip:
    """A presenter's camera over a corner of the screen."""
    random = np.random.default_rng([3, seed])
    width, height = clip.size
    wide = int(width * random.uniform(0.13, 0.28))
    tall = wide if round_ else int(wide * random.choice([9 / 16, 3 / 4, 1.0]))
    gap = int(random.choice([0, 0.012, 0.03]) * width)
    x = gap if random.random() < 0.5 else width - wide - gap
    y = gap if random.random() < 0.5 else height - tall - gap
    mask = np.ones((tall, wide, 1), bool)
    if round_:
        ys, xs = np.ogrid[:tall, :wide]
        mask[..., 0] = (xs - wide / 2 + 0.5) ** 2 + (ys - tall / 2 + 0.5) ** 2 <= (wide / 2) ** 2

    def frames() -> Iterator[Picture]:
        for screen, person in zip(clip.frames(), talker(random, (wide, tall)), strict=False):
            whole = screen.copy()
            part = whole[y : y + tall, x : x + wide]
            np.copyto(part, person, where=mask)
            yield whole

    family = f"{clip.family}+{'round' if round_ else 'corner'}-camera"
    return replace(clip, family=family, seed=seed, frames=frames, camera=(x, y, x + wide, y + tall))


def with_side_camera(clip: Clip, seed: int) -> Clip:
    """The screen beside a presenter as tall as the picture."""
    random = np.random.default_rng([4, seed])
    width, height = clip.size
    wide = int(width * random.uniform(0.2, 0.3))
    total, left = width + wide, random.random() < 0.5
    total += total % 2
    wide = total - width

    def frames() -> Iterator[Picture]:
        for screen, person in zip(clip.frames(), talker(random, (wide, height)), strict=False):
            yield np.concatenate([person, screen] if left else [screen, person], axis=1)

    region = (wide, 0, total, height) if left else (0, 0, width, height)
    return replace(
        clip, family=f"{clip.family}+side-camera", seed=seed, size=(total, height), frames=frames, region=region
    )


def with_bars(clip: Clip, seed: int, style: str) -> Clip:
    """The screen inside a larger frame: `pillar` or `letter` (black bars), `portrait` (a tall frame, plain), `blur` (a tall frame filled with its own blurred picture)."""
    random = np.random.default_rng([5, seed])
    width, height = clip.size
    if style == "pillar":
        size = (int(width * random.uniform(1.15, 1.4)) // 2 * 2, height)
    elif style == "letter":
        size = (width, int(height * random.uniform(1.15, 1.4)) // 2 * 2)
    else:
        size = (width, int(width * random.choice([16 / 9, 5 / 4])) // 2 * 2)
    x, y = (size[0] - width) // 2, (size[1] - height) // 2
    colour = (0, 0, 0) if style in ("pillar", "letter") else tuple(int(v) for v in random.integers(0, 255, 3))

    def frames() -> Iterator[Picture]:
        for screen in clip.frames():
            if style == "blur":
                small = cv2.resize(screen, (size[0] // 16, size[1] // 16), interpolation=cv2.INTER_AREA)
                whole = np.asarray(
                    cv2.resize(cv2.GaussianBlur(small, (0, 0), 2), size, interpolation=cv2.INTER_CUBIC), np.uint8
                )
            else:
                whole = np.full((size[1], size[0], 3), colour, np.uint8)
            whole[y : y + height, x : x + width] = screen
            yield whole

    region = (x, y, x + width, y + height)
    return replace(clip, family=f"{clip.family}+{style}", seed=seed, size=size, frames=frames, region=region)


def after(talk: Clip, clip: Clip, seed: int, part: float) -> Clip:
    """`talk` for a `part` of the time, then the screen."""
    switch = int(part * SECONDS * FPS)

    def frames() -> Iterator[Picture]:
        for index, (one, two) in enumerate(zip(talk.frames(), clip.frames(), strict=False)):
            yield np.asarray(cv2.resize(one, clip.size), np.uint8) if index < switch else two

    return replace(clip, family=f"{talk.family}>{clip.family}", seed=seed, frames=frames, share=1 - part)
