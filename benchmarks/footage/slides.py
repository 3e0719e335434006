"""Slides that are talked about: bullet points, a table or a picture now and then, plain or on a decorated ground."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from footage.drawing import SECONDS, Clip, Picture, font, photo, texture, times
from footage.screens import WORDS
from PIL import Image, ImageDraw

SIZE = (1280, 720)


def slides(seed: int, *, decorated: bool = False) -> Clip:
    """A new slide every three to eight seconds, cut or faded; `decorated`: on a gradient, with pictures."""

    def frames() -> Iterator[Picture]:
        random = np.random.default_rng([30, seed])
        dark = random.random() < 0.4
        ground = np.full((SIZE[1], SIZE[0], 3), (24, 28, 46) if dark else (255, 255, 255), np.uint8)
        if decorated:
            soft = cv2.GaussianBlur(texture(random, *SIZE, 3.0), (0, 0), 30)
            ground = np.asarray(np.clip(soft * (0.4 if dark else 0.5) + (0 if dark else 130), 0, 255), np.uint8)
        ink, accent = ((235, 235, 235) if dark else (25, 25, 25)), tuple(map(int, random.integers(30, 200, 3)))
        fade = random.random() < 0.5
        shown: list[tuple[float, Picture]] = []
        t = 0.0
        while t < SECONDS:
            shown.append((t, _slide(random, ground, ink, accent, decorated)))
            t += float(random.uniform(3, 8))
        for now in times():
            index = max(n for n, (start, _) in enumerate(shown) if start <= now)
            start, picture = shown[index]
            part = (now - start) / 0.6
            if fade and index and part < 1:
                picture = np.asarray(cv2.addWeighted(shown[index - 1][1], 1 - part, picture, part, 0), np.uint8)
            yield picture

    return Clip("decorated-slides" if decorated else "slides", seed, "slides", SIZE, frames)


def _slide(
    random: np.random.Generator, ground: Picture, ink: tuple[int, int, int], accent: tuple[int, ...], decorated: bool
) -> Picture:
    image = Image.fromarray(ground)
    pen = ImageDraw.Draw(image)
    pen.text(
        (80, 50), " ".join(random.choice(WORDS, 3)).capitalize(), fill=accent, font=font(int(random.integers(46, 66)))
    )
    pen.rectangle((80, 130, 1200, 134), fill=accent)
    size, wide = int(random.integers(26, 40)), 620 if decorated else 1100
    for row in range(int(random.integers(3, 7))):
        text = " ".join(random.choice(WORDS, int(random.integers(3, 8))))
        pen.ellipse((90, 178 + row * 78, 104, 192 + row * 78), fill=accent)
        pen.text((130, 165 + row * 78), text[: wide // (size // 2)], fill=ink, font=font(size))
    if decorated:
        image.paste(Image.fromarray(photo("flower" if random.random() < 0.5 else "china", 440, 330)), (780, 220))
    pen.text((1180, 680), str(random.integers(1, 60)), fill=ink, font=font(18))
    return np.asarray(image, np.uint8)
