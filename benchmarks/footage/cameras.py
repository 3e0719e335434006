"""Camera-like footage: a talking head, a moving view, hands on a table, a filmed screen; and still photographs."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from footage.drawing import Clip, Picture, Random, Sensor, photo, shifted, texture, times

SIZE = (1280, 720)


def talker(random: Random, size: tuple[int, int]) -> Iterator[Picture]:
    """A person before a wall, a shelf or a blurred room: nods, blinks, speaks; the sensor adds noise."""
    width, height = size
    room = texture(random, width + 20, height + 20, float(random.uniform(1.2, 2.2)))
    kind = int(random.integers(3))
    if kind == 1:
        for x in range(0, width, max(8, width // 24)):
            colour = tuple(int(v) for v in random.integers(40, 200, 3))
            cv2.rectangle(room, (x, int(random.integers(0, height // 3))), (x + width // 26, height), colour, -1)
    if kind == 2:
        room = np.asarray(
            cv2.GaussianBlur(photo("china", width + 20, height + 20), (0, 0), max(2, width / 80)), np.uint8
        )
    skin = np.array([random.uniform(120, 235)] * 3) * (1.0, 0.78, 0.66)
    cloth = random.integers(20, 200, 3)
    sensor, still = Sensor(random, size, float(random.uniform(1.5, 6.0))), random.random() < 0.6
    phase = random.uniform(0, 6, 6)
    light = cv2.resize(random.uniform(0.7, 1.25, (3, 3)).astype(np.float32), size, interpolation=cv2.INTER_CUBIC)
    light = np.repeat(light[..., None], 3, axis=2)
    for t in times():
        sway = (0.0, 0.0) if still else (3 * np.sin(1.7 * t + phase[0]), 2 * np.sin(2.3 * t + phase[1]))
        frame = shifted(room, sway[0], sway[1], width, height)
        x = width * (0.5 + 0.05 * np.sin(0.9 * t + phase[2]) + 0.015 * np.sin(4.1 * t))
        y = height * (0.42 + 0.03 * np.sin(1.3 * t + phase[3]) + 0.01 * np.sin(5.3 * t + phase[4]))
        unit = min(width, height) * 0.17
        centre = (int(x), int(y + 3.3 * unit))
        cv2.ellipse(
            frame, centre, (int(2.1 * unit), int(2.0 * unit)), 0, 0, 360, tuple(map(int, cloth)), -1, cv2.LINE_AA
        )
        cv2.ellipse(
            frame,
            (int(x), int(y)),
            (int(unit), int(1.35 * unit)),
            5 * np.sin(1.1 * t),
            0,
            360,
            tuple(map(int, skin)),
            -1,
            cv2.LINE_AA,
        )
        cv2.ellipse(
            frame,
            (int(x), int(y - 0.9 * unit)),
            (int(1.05 * unit), int(0.6 * unit)),
            0,
            180,
            360,
            (40, 30, 25),
            -1,
            cv2.LINE_AA,
        )
        lid = 0.02 if int(t * 3 + phase[5]) % 11 == 0 else 0.12
        for side in (-1, 1):
            eye = (int(x + side * 0.4 * unit), int(y - 0.15 * unit))
            cv2.ellipse(
                frame,
                eye,
                (max(1, int(0.16 * unit)), max(1, int(lid * unit))),
                0,
                0,
                360,
                (30, 25, 25),
                -1,
                cv2.LINE_AA,
            )
        mouth = max(1, int(unit * 0.14 * abs(np.sin(7 * t) * np.sin(2.2 * t + 1))))
        cv2.ellipse(
            frame,
            (int(x), int(y + 0.7 * unit)),
            (max(1, int(0.35 * unit)), mouth),
            0,
            0,
            360,
            (110, 40, 45),
            -1,
            cv2.LINE_AA,
        )
        lit = cv2.multiply(frame, light, dtype=cv2.CV_8U)
        yield sensor.see(np.asarray(cv2.GaussianBlur(lit, (0, 0), 0.8), np.uint8))


def talking_head(seed: int) -> Clip:
    """A presenter fills the picture."""
    return Clip("talking-head", seed, "camera", SIZE, lambda: talker(np.random.default_rng([10, seed]), SIZE))


def moving_view(seed: int) -> Clip:
    """A hand-held camera goes over a scene: a photograph or clouds of colour."""

    def frames() -> Iterator[Picture]:
        random = np.random.default_rng([11, seed])
        width, height = SIZE
        scene = (
            photo(("china", "flower")[seed % 2], width * 3 // 2, height * 3 // 2)
            if seed % 3
            else texture(random, width * 3 // 2, height * 3 // 2, 1.3)
        )
        sensor, pace = Sensor(random, SIZE, float(random.uniform(2, 7))), float(random.uniform(0.1, 0.6))
        for t in times():
            x, y = 250 * np.sin(pace * t), 130 * np.sin(0.7 * pace * t + 1)
            jitter = random.normal(0, 1.5, 2)
            yield sensor.see(shifted(scene, x + jitter[0], y + jitter[1], width, height, 1 + 0.1 * np.sin(pace * t)))

    return Clip("moving-view", seed, "camera", SIZE, frames)


def hands(seed: int) -> Clip:
    """Hands do something on a table under a fixed camera."""

    def frames() -> Iterator[Picture]:
        random = np.random.default_rng([12, seed])
        table = texture(random, *SIZE, 2.4)
        sensor = Sensor(random, SIZE, float(random.uniform(1.5, 4)))
        colour = tuple(int(v) for v in np.array([200, 160, 135]) * random.uniform(0.5, 1.15))
        for t in times():
            frame = table.copy()
            for side in (-1, 1):
                x, y = 640 + side * (220 + 60 * np.sin(1.9 * t + side)), 430 + 60 * np.sin(2.7 * t + 2 * side)
                cv2.line(frame, (int(640 + side * 420), 740), (int(x), int(y)), colour, 90, cv2.LINE_AA)
                for finger in range(4):
                    end = (int(x + (finger - 1.5) * 26), int(y - 85 - 12 * np.sin(4 * t + finger)))
                    cv2.line(frame, (int(x), int(y)), end, colour, 24, cv2.LINE_AA)
            yield sensor.see(np.asarray(cv2.GaussianBlur(frame, (0, 0), 1.2), np.uint8))

    return Clip("hands", seed, "camera", SIZE, frames)


def filmed_screen(screen: Clip, seed: int) -> Clip:
    """A monitor as a hand-held camera sees it: aslant, soft, with noise."""

    def frames() -> Iterator[Picture]:
        random = np.random.default_rng([13, seed])
        sensor, (width, height) = Sensor(random, SIZE, float(random.uniform(2, 6))), screen.size
        corners = np.array([[150, 90], [1120, 60], [1160, 640], [110, 600]], np.float32) + random.normal(0, 25, (4, 2))
        room = texture(random, *SIZE, 2.0)
        for picture, _ in zip(screen.frames(), times(), strict=False):
            there = (corners + random.normal(0, 0.8, 2)).astype(np.float32)
            own = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
            view = cv2.warpPerspective(
                picture,
                cv2.getPerspectiveTransform(own, there),
                SIZE,
                dst=room.copy(),
                borderMode=cv2.BORDER_TRANSPARENT,
            )
            yield sensor.see(np.asarray(cv2.GaussianBlur(view, (0, 0), 1.6), np.uint8))

    return Clip(f"filmed-{screen.family}", seed, "camera", SIZE, frames)


def still(seed: int) -> Clip:
    """One photograph for the whole time, as music is published."""
    name = ("china", "flower")[seed % 2]
    return Clip("still", seed, "still", SIZE, lambda: (photo(name, *SIZE) for _ in times()))


def slow_zoom(seed: int) -> Clip:
    """Photographs under a slow zoom, one after the other."""

    def frames() -> Iterator[Picture]:
        for t in times():
            scene = photo(("china", "flower")[(int(t / 6) + seed) % 2], 1400, 800)
            yield shifted(scene, 0, 0, *SIZE, 1 + 0.01 * (t % 6))

    return Clip("slow-zoom", seed, "camera", SIZE, frames)


def blank(seed: int) -> Clip:
    """Nothing but one colour, sometimes with a name on it for some seconds."""

    def frames() -> Iterator[Picture]:
        for t in times():
            frame = np.full((SIZE[1], SIZE[0], 3), (0, 0, 0) if seed % 2 == 0 else (20, 30, 80), np.uint8)
            if seed % 4 >= 2 and t < 5:
                cv2.putText(
                    frame, "Chapter one", (420, 380), cv2.FONT_HERSHEY_DUPLEX, 2.2, (240, 240, 240), 3, cv2.LINE_AA
                )
            yield frame

    return Clip("blank", seed, "blank", SIZE, frames)
