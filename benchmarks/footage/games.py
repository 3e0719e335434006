"""Games and animations: a walk between textured walls, a platformer, a shooter, moving flat shapes."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from footage.drawing import Clip, Picture, font, texture, times
from PIL import Image, ImageDraw

SIZE = (1280, 720)


def _status(frame: Picture, t: float) -> Picture:
    """The bars and numbers that games show on top."""
    image = Image.fromarray(frame)
    pen = ImageDraw.Draw(image)
    pen.rectangle((30, 660, 330, 690), fill=(60, 0, 0), outline="white")
    pen.rectangle((32, 662, 32 + int(290 * (0.6 + 0.3 * np.sin(t / 3))), 688), fill=(200, 30, 30))
    pen.text((1080, 650), f"AMMO {30 - int(t) % 30}", fill="white", font=font(36))
    pen.text((40, 24), f"SCORE {int(t) * 120}", fill=(255, 240, 120), font=font(30))
    return np.asarray(image, np.uint8)


def walk(seed: int) -> Clip:
    """Corridors with textured walls, seen by who walks and turns."""

    def frames() -> Iterator[Picture]:
        random = np.random.default_rng([20, seed])
        world = (random.random((24, 24)) < 0.25).astype(np.uint8)
        world[[0, -1]], world[:, [0, -1]], world[11:13, 11:13] = 1, 1, 0
        wall, floor = texture(random, 256, 256, 1.2), texture(random, 512, 512, 1.4)
        x, y, heading = 12.0, 12.0, float(random.uniform(0, 6))
        columns = 320
        for t in times():
            heading += 0.06 * np.sin(1.3 * t) + 0.03
            step = (x + 0.08 * np.cos(heading), y + 0.08 * np.sin(heading))
            if not world[int(step[1]), int(step[0])]:
                x, y = step
            yield _status(_view(world, wall, floor, (x, y, heading), columns), t)

    return Clip("walk", seed, "game", SIZE, frames)


def _view(world: Picture, wall: Picture, floor: Picture, where: tuple[float, float, float], columns: int) -> Picture:
    x, y, heading = where
    rows = columns * SIZE[1] // SIZE[0]
    angles = heading + np.linspace(-0.55, 0.55, columns)
    reach = np.arange(0.05, 12, 0.02)
    xs, ys = x + np.outer(reach, np.cos(angles)), y + np.outer(reach, np.sin(angles))
    hit = world[np.clip(ys, 0, 23).astype(int), np.clip(xs, 0, 23).astype(int)] > 0
    first = np.argmax(hit, axis=0)
    distance = reach[first] * np.cos(angles - heading)
    hit_x, hit_y = xs[first, range(columns)], ys[first, range(columns)]
    across = np.where(np.abs(hit_x - np.round(hit_x)) < np.abs(hit_y - np.round(hit_y)), hit_y, hit_x) % 1
    half = np.minimum(rows * 2, rows / (2 * distance))
    v = np.arange(rows)[:, None]
    up = (v - (rows / 2 - half)) / (2 * half)
    shade = np.clip(1.2 / (1 + 0.35 * distance), 0, 1)[None, :, None]
    texel = wall[np.clip(up * 255, 0, 255).astype(int), np.broadcast_to((across * 255).astype(int), up.shape)] * shade
    depth = rows / (2 * np.maximum(1, np.abs(v - rows / 2)))
    ground = (
        floor[
            ((y + depth * np.sin(angles)[None]) * 60).astype(int) % 512,
            ((x + depth * np.cos(angles)[None]) * 60).astype(int) % 512,
        ]
        * np.clip(1 / (1 + 0.3 * depth), 0, 1)[..., None]
    )
    small = np.where(((up >= 0) & (up < 1))[..., None], texel, ground).astype(np.uint8)
    return np.asarray(cv2.resize(small, SIZE, interpolation=cv2.INTER_LINEAR), np.uint8)


def platformer(seed: int) -> Clip:
    """Square tiles that scroll by, a jumping figure, flat sky."""

    def frames() -> Iterator[Picture]:
        random = np.random.default_rng([21, seed])
        tile = int(random.choice([40, 48, 64]))
        heights = np.clip(np.cumsum(random.integers(-1, 2, 400)) + 3, 1, 6)
        earth = cv2.resize(
            texture(random, tile // 4 * 4, tile // 4 * 4, 1.1)[::4, ::4], (tile, tile), interpolation=cv2.INTER_NEAREST
        )
        sky, grass = tuple(map(int, random.integers(90, 220, 3))), tuple(map(int, random.integers(30, 180, 3)))
        speed = float(random.uniform(90, 300))
        for t in times():
            frame = np.full((SIZE[1], SIZE[0], 3), sky, np.uint8)
            offset = int(speed * t)
            for cloud in range(6):
                cv2.ellipse(
                    frame,
                    ((cloud * 300 - offset // 3) % 1500 - 100, 100 + 37 * cloud % 160),
                    (90, 30),
                    0,
                    0,
                    360,
                    (250, 250, 250),
                    -1,
                )
            for column in range(-1, SIZE[0] // tile + 2):
                index = (column + offset // tile) % 400
                left = column * tile - offset % tile
                for row in range(int(heights[index])):
                    top = SIZE[1] - (row + 1) * tile
                    _paste(frame, earth, left, top)
                    if row == heights[index] - 1:
                        cv2.rectangle(frame, (left, top), (left + tile, top + tile // 5), grass, -1)
            jump = int(160 * abs(np.sin(2.1 * t)))
            cv2.rectangle(frame, (560, 300 - jump // 2), (604, 372 - jump // 2), (200, 40, 40), -1)
            yield _status(frame, t)

    return Clip("platformer", seed, "game", SIZE, frames)


def _paste(frame: Picture, part: Picture, left: int, top: int) -> None:
    x0, x1 = max(0, left), min(frame.shape[1], left + part.shape[1])
    if x1 > x0 and top >= 0:
        frame[top : top + part.shape[0], x0:x1] = part[: frame.shape[0] - top, x0 - left : x1 - left]


def shooter(seed: int) -> Clip:
    """Sprites over a scrolling ground seen from above."""

    def frames() -> Iterator[Picture]:
        random = np.random.default_rng([22, seed])
        ground = texture(random, SIZE[0], SIZE[1] * 2, 1.3)
        place, drift = random.uniform(0, 1, (25, 2)) * SIZE, random.normal(0, 120, (25, 2))
        colours = random.integers(40, 255, (25, 3))
        for t in times():
            frame = np.roll(ground, int(80 * t), axis=0)[: SIZE[1]].copy()
            for where, colour in zip((place + drift * t) % SIZE, colours, strict=True):
                cv2.drawMarker(frame, tuple(map(int, where)), tuple(map(int, colour)), cv2.MARKER_TRIANGLE_UP, 44, 6)
            yield _status(frame, t)

    return Clip("shooter", seed, "game", SIZE, frames)


def animation(seed: int) -> Clip:
    """An explanatory cartoon: flat figures come, move and go on a plain ground, a few large words."""

    def frames() -> Iterator[Picture]:
        random = np.random.default_rng([23, seed])
        ground = tuple(map(int, random.integers(150, 255, 3)))
        parts = [
            (
                random.integers(0, 3),
                random.uniform(0.1, 0.9, 2),
                random.uniform(30, 130),
                random.integers(0, 255, 3),
                random.uniform(0, 6),
            )
            for _ in range(14)
        ]
        words = ["Think big", "Step one", "Grow fast", "Your idea"]
        for t in times():
            image = Image.new("RGB", SIZE, ground)
            pen = ImageDraw.Draw(image)
            for shape, (x, y), radius, colour, phase in parts:
                left = SIZE[0] * x + 160 * np.sin(0.8 * t + phase)
                top = SIZE[1] * y + 50 * np.cos(1.1 * t + phase)
                size = radius * (0.8 + 0.2 * np.sin(1.9 * t + phase))
                box = (left - size, top - size, left + size, top + size)
                fill = tuple(map(int, colour))
                if shape == 0:
                    pen.ellipse(box, fill=fill)
                elif shape == 1:
                    pen.rounded_rectangle(box, 18, fill=fill)
                else:
                    pen.polygon([(left, top - size), (left + size, top + size), (left - size, top + size)], fill=fill)
            pen.text((420, 80 + 20 * np.sin(t)), words[int(t / 6) % 4], fill=(20, 20, 20), font=font(80))
            yield np.asarray(image, np.uint8)

    return Clip("animation", seed, "animation", SIZE, frames)
