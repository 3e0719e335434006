"""From which size and sharpness on text on a recording can be read, and which limit of the screen gate tells: `python benchmarks/legibility.py` prints JSON.

Pages of known words are drawn, made smaller as publishers make screens smaller, encoded as H.264 and read; `blown`: made larger again before, as
videos of few lines are published anew. A page is readable when READABLE of its words are read right. `tuned`: fonts, colours and seeds on which the
limits were chosen (`sweep` shows what others would do); `held`: others, German and Chinese ones among them. A RECORDING given
is made smaller too: its words are those that are read of a whole frame at full size, surely.

`kept_readable` of the pages that the limits let through can be read; `readable_kept` of those that can be read get through.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from footage.drawing import Picture
from footage.screens import THEMES, WORDS
from PIL import Image, ImageDraw, ImageFont

from cuamaster.adapters.frames.ffmpeg import FfmpegFrames
from cuamaster.adapters.screens.rapidocr import RapidOcrReader
from cuamaster.ports import ScreenReader
from cuamaster.records.trajectory import TextBox
from cuamaster.seeding.screen_gate import LEAST_CONFIDENCE, LEAST_WORDS, READ_HEIGHT, READ_WIDTH
from cuamaster.vision.legibility import reading_of

READABLE = 0.8
"""Share of words: a procedure of five labels in which one is misread is still understood."""
SURE = 0.9  # confidence of a line whose words are taken for true
SCALES = (1.0, 0.75, 0.6, 0.5, 0.42, 0.35, 0.28)
RECORDING_SCALES = (0.75, 0.5, 0.4, 0.3)
CRFS = (20, 28, 34)
BLOWN = (0.6, 0.5, 0.42, 0.35)
ROWS, WORDS_A_ROW, SIZE = 9, 4, 15
"""Lines and words of a page, and pixels of its font before it is made smaller: what desktops show at a hundred percent."""
GERMAN = [
    "Übersicht",
    "Gebühr",
    "schließen",
    "größer",
    "Auswahl",
    "Einfügen",
    "Fußnote",
    "Zelle",
    "Tabelle",
    "rückgängig",
    "Öffnen",
    "speichern",
]
CHINESE = [
    "文件",
    "编辑",
    "查看",
    "插入",
    "格式",
    "工具",
    "窗口",
    "帮助",
    "保存",
    "打开",
    "关闭",
    "新建文件夹",
    "设置",
    "搜索",
    "复制",
    "粘贴",
]


@dataclass(frozen=True)
class Look:
    """How a page is drawn: font file ('' for the one that comes with Pillow), theme's number, words."""

    font: str
    theme: int
    words: Sequence[str]
    name: str


TUNED = [
    Look("", 0, WORDS, "plain"),
    Look("", 1, WORDS, "dark"),
    Look("DejaVuSans.ttf", 2, WORDS, "white"),
    Look("DejaVuSans.ttf", 3, WORDS, "grey"),
]
HELD = [
    Look("DejaVuSansMono.ttf", 1, WORDS, "mono, dark"), Look("NimbusSans-Regular.otf", 2, WORDS, "narrow, white"),
    Look("DejaVuSans.ttf", 0, GERMAN, "German"), Look("wqy-microhei.ttc", 2, CHINESE, "Chinese"),
]  # fmt: skip
Line = tuple[float, float, list[str]]
"""Top and bottom, as shares of the picture's height, and the words."""


def page(look: Look, seed: int, scale: float) -> tuple[Picture, list[Line]]:
    """A page as large as the gate reads at once after it was made smaller, and its lines."""
    random = np.random.default_rng([40, seed])
    size = (round(READ_WIDTH / scale), round(READ_HEIGHT / scale))
    _, ground, ink, _ = THEMES[look.theme]
    image = Image.new("RGB", size, ground)
    pen = ImageDraw.Draw(image)
    font = ImageFont.truetype(look.font, SIZE) if look.font else ImageFont.load_default(size=SIZE)
    lines: list[Line] = []
    for row in range(ROWS):
        words = [str(word) for word in random.choice(look.words, WORDS_A_ROW)]
        top = 12 + row * SIZE * 2.4
        pen.text((14, top), "   ".join(words), fill=ink, font=font)
        lines.append((top / size[1], (top + 1.3 * SIZE) / size[1], words))
    return np.asarray(image, np.uint8), lines


def shrunk(picture: Picture, scale: float) -> Picture:
    """The picture made smaller (even sides, as encoders want them)."""
    size = tuple(max(2, round(side * scale / 2) * 2) for side in (picture.shape[1], picture.shape[0]))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def encoded(picture: Picture, crf: int, folder: Path) -> Picture:
    """The picture as a recording shows it: the last of some frames of H.264."""
    path, (height, width) = folder / "page.mp4", picture.shape[:2]
    command = f"ffmpeg -v error -y -f rawvideo -pix_fmt rgb24 -s {width}x{height} -r 10 -i - -an -c:v libx264 -preset veryfast -crf {crf} -pix_fmt yuv420p"
    subprocess.run([*command.split(), str(path)], input=np.ascontiguousarray(picture).tobytes() * 5, check=True)
    return FfmpegFrames().at(path, 0.4)


def right(lines: Sequence[Line], boxes: Sequence[TextBox], height: int) -> float:
    """Share of the words that are read right; what stands between words is no matter."""
    read = 0
    for top, bottom, words in lines:
        here = [box for box in boxes if top <= (box.y0 + box.y1) / 2 / height <= bottom]
        text = _letters("".join(box.text for box in sorted(here, key=lambda box: box.x0)))
        read += sum(_letters(word) in text for word in words)
    return read / sum(len(words) for _, _, words in lines)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def measured(lines: Sequence[Line], picture: Picture, reader: ScreenReader) -> dict[str, Any]:
    """What the gate would know of a picture, and the share of words that are read right."""
    boxes = reader.read(picture)
    reading = reading_of(boxes)
    return {
        "words": reading.words, "height": round(reading.height, 1), "confidence": round(reading.confidence, 3),
        "right": round(right(lines, boxes, picture.shape[0]), 3),
    }  # fmt: skip


def pages(looks: Sequence[Look], seed: int, reader: ScreenReader, folder: Path) -> Iterator[dict[str, Any]]:
    """Rows of all sizes and qualities, and of those that were blown up again."""
    for number, look in enumerate(looks):
        for scale, crf in itertools.product(SCALES, CRFS):
            drawn, lines = page(look, seed + number, scale)
            shown = encoded(shrunk(drawn, scale), crf, folder)
            yield {"page": look.name, "scale": scale, "crf": crf, "blown": False, **measured(lines, shown, reader)}
        for scale in BLOWN:
            drawn, lines = page(look, seed + number, scale)
            small = encoded(shrunk(drawn, scale), 28, folder)
            large = np.asarray(
                cv2.resize(small, (0, 0), fx=1 / scale, fy=1 / scale, interpolation=cv2.INTER_CUBIC), np.uint8
            )
            shown = encoded(shrunk(large, 1.0), 28, folder)
            yield {"page": look.name, "scale": scale, "crf": 28, "blown": True, **measured(lines, shown, reader)}


def recorded(path: Path, reader: ScreenReader, folder: Path) -> Iterator[dict[str, Any]]:
    """Rows of one frame of a recording in several sizes."""
    frame = FfmpegFrames().at(path, FfmpegFrames().probe(path).duration / 2)
    height = frame.shape[0]
    boxes = reader.read(frame)
    sure = [box for box in boxes if box.score >= SURE and any(char.isalpha() for char in box.text)]
    for scale in RECORDING_SCALES:
        shown = encoded(shrunk(frame, scale), 28, folder)
        found = reader.read(shown)
        reading = reading_of(found)
        good = total = 0
        for box in sure:
            words = [word for word in box.text.split() if len(_letters(word)) > 1]
            near = [one for one in found if _overlap(one, box, shown.shape[0] / height)]
            text = _letters("".join(one.text for one in sorted(near, key=lambda one: one.x0)))
            good, total = good + sum(_letters(word) in text for word in words), total + len(words)
        if total:
            yield {
                "page": path.parent.name, "scale": scale, "crf": 28, "blown": False, "words": reading.words, "height": round(reading.height, 1),
                "confidence": round(reading.confidence, 3), "right": round(good / total, 3),
            }  # fmt: skip


def _overlap(found: TextBox, box: TextBox, scale: float) -> bool:
    """Whether the found line's middle lies in the box of the whole frame, made smaller."""
    middle = (found.y0 + found.y1) / 2
    wide = min(found.x1, box.x1 * scale) - max(found.x0, box.x0 * scale)
    return box.y0 * scale - 1 <= middle <= box.y1 * scale + 1 and wide > 0


def kept(row: dict[str, Any], confidence: float = LEAST_CONFIDENCE, height: float = 0.0) -> bool:
    """Whether the gate would call it readable; it has no limit of height, for none that was tried told anything."""
    return row["words"] >= LEAST_WORDS and row["height"] >= height and row["confidence"] >= confidence


def figures(
    rows: Sequence[dict[str, Any]], confidence: float = LEAST_CONFIDENCE, height: float = 0.0
) -> dict[str, Any]:
    """How well the limits tell readable pages from others."""
    passed = [row for row in rows if kept(row, confidence, height)]
    good = [row for row in rows if row["right"] >= READABLE]
    both = sum(row["right"] >= READABLE for row in passed)
    return {
        "pages": len(rows), "readable": len(good), "kept": len(passed), "kept_readable": round(both / len(passed), 3) if passed else None,
        "readable_kept": round(both / len(good), 3) if good else None,
        "words_right_of_kept": round(float(np.mean([row["right"] for row in passed])), 3) if passed else None,
        "least_right_of_kept": min((row["right"] for row in passed), default=None),
    }  # fmt: skip


def by_height(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Words right by the height of lines, in steps of two pixels, of what was not blown up."""
    found: dict[int, list[float]] = {}
    for row in rows:
        if not row["blown"]:
            found.setdefault(int(row["height"] // 2 * 2), []).append(row["right"])
    return {
        f"{low}-{low + 2}": {"pages": len(part), "mean": round(float(np.mean(part)), 3), "least": min(part)}
        for low, part in sorted(found.items())
    }


def sweep(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What other limits would do."""
    return [
        {"height": height, "confidence": confidence, **figures(rows, confidence, height)}
        for height in (0, 12, 13, 14, 15)
        for confidence in (0.8, 0.85, 0.9, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98)
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="*", type=Path, help="recordings to make smaller as well")
    parser.add_argument("--work", type=Path, help="keep readings here")
    arguments = parser.parse_args()
    reader = RapidOcrReader(arguments.work)
    with tempfile.TemporaryDirectory() as scratch:
        made = {
            "tuned": pages(TUNED, 0, reader, Path(scratch)), "held": pages(HELD, 100, reader, Path(scratch)),
            "recordings": (row for path in arguments.recordings for row in recorded(path, reader, Path(scratch))),
        }  # fmt: skip
        sets: dict[str, list[dict[str, Any]]] = {name: [] for name in made}
        for name, rows in made.items():
            for row in rows:
                sets[name].append(row)
                print(name, json.dumps(row, ensure_ascii=False), file=sys.stderr)
    machine = {"cpus": os.cpu_count(), "platform": platform.platform(), "python": platform.python_version()}
    found = {
        name: {**figures(rows), "by_height": by_height(rows), "by_page": {page: figures([row for row in rows if row["page"] == page]) for page in dict.fromkeys(row["page"] for row in rows)}}
        for name, rows in sets.items()
    }  # fmt: skip
    limits = {"words": LEAST_WORDS, "confidence": LEAST_CONFIDENCE}
    print(
        json.dumps(
            {
                "machine": machine,
                "readable": READABLE,
                "limits": limits,
                "sets": found,
                "sweep": sweep(sets["tuned"]),
                "rows": sets,
            },
            indent=1,
            ensure_ascii=False,
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
