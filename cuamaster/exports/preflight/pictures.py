"""Pictures of a row: each is there, decodes, is the one its step names, shows something, and the screen moves on."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cuamaster.ports import Image

Found = Iterator[tuple[str, str]]
"""(check, detail) pairs."""

UNIFORM_SHARE = 0.995
"""A picture with at least this share of pixels close to its most frequent colour shows nothing."""
UNIFORM_STEP = 8
"""How far from that colour (0-255, each channel) still counts as close; a picture this close to 0 is black."""
MAX_PIXELS = 64 << 20
"""A larger picture is refused before it is decoded: no screen has it, a decompression bomb does."""
_SEEN = 4096


@dataclass(frozen=True)
class Picture:
    """What one picture turned out to be: size in pixels, or the fault that keeps it from being one."""

    digest: str
    size: tuple[int, int] = (0, 0)
    fault: str = ""
    black: bool = False
    blank: bool = False


class Pictures:
    """Looks at pictures; the last few thousand distinct ones are remembered, since screens come back."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, Picture] = OrderedDict()

    def look(self, data: bytes) -> Picture:
        """Decode and judge encoded bytes; never raises."""
        digest = hashlib.sha256(data).hexdigest()
        if digest in self._seen:
            self._seen.move_to_end(digest)
            return self._seen[digest]
        picture = _look(data, digest)
        self._seen[digest] = picture
        if len(self._seen) > _SEEN:
            self._seen.popitem(last=False)
        return picture


def decode(data: bytes) -> Image:
    """RGB pixels; raises ValueError for bytes that are no complete picture or one larger than MAX_PIXELS."""
    import PIL.Image

    try:
        with PIL.Image.open(io.BytesIO(data)) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise ValueError(f"{picture.width}x{picture.height} is no screen")
            return np.asarray(picture.convert("RGB"))
    except (OSError, SyntaxError, PIL.Image.DecompressionBombError) as exc:
        raise ValueError(str(exc)) from exc


def _look(data: bytes, digest: str) -> Picture:
    try:
        image = decode(data)
    except ValueError as exc:
        return Picture(digest, fault=str(exc))
    few = image[:: max(1, image.shape[0] // 200), :: max(1, image.shape[1] // 320)].reshape(-1, 3)
    colour = np.median(few, axis=0)
    close = np.abs(few - colour).max(axis=1) <= UNIFORM_STEP
    blank = bool(close.mean() >= UNIFORM_SHARE) and _whole(image, colour)
    return Picture(
        digest, (image.shape[1], image.shape[0]), blank=blank, black=blank and bool(colour.max() <= UNIFORM_STEP)
    )


def _whole(image: Image, colour: np.ndarray[Any, Any]) -> bool:
    """The same question to all pixels: a few hundred may have missed a window."""
    return bool((np.abs(image.astype(np.int16) - colour).max(axis=2) <= UNIFORM_STEP).mean() >= UNIFORM_SHARE)


def check_pictures(images: Sequence[Mapping[str, Any]], seen: Pictures, names: Sequence[str] = ()) -> Found:
    """Faults of `{bytes, path}` pictures; `names` tells them apart where they have better names than numbers."""
    digests: list[str] = []
    for index, image in enumerate(images):
        name = f"picture {names[index] if index < len(names) else index}"
        data = image.get("bytes")
        if not data:
            yield "images", f"{name} is missing"
            continue
        picture = seen.look(data)
        digests.append(picture.digest)
        if picture.fault:
            yield "images", f"{name} does not decode: {picture.fault}"
        elif picture.black:
            yield "black", f"{name} is black"
        elif picture.blank:
            yield "blank", f"{name} is of a single colour"
    if len(digests) > 2 and len(set(digests)) == 1:
        yield "frozen", f"all {len(digests)} pictures are the same"


def pictures_in(values: Mapping[str, Any], folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Pictures of a row of any shape, with their names: columns `images` and `image`, data URLs in messages, AgentNet's files.

    A path is read relative to `folder` (or its `images`); one that leads out of it counts as missing.
    """
    found: list[dict[str, Any]] = []
    names: list[str] = []

    def take(value: Any, name: str) -> None:
        if isinstance(value, Mapping) and {"bytes", "path"} & set(value):
            data = value.get("bytes") or _read(folder, value.get("path"))
        elif isinstance(value, bytes):
            data = value
        elif isinstance(value, str):
            data = _inline(value) if value.startswith("data:") else _read(folder, value)
        else:
            return
        found.append({"bytes": data})
        names.append(name)

    for column in ("images", "image", "screenshot"):
        value = values.get(column)
        if value is not None:
            for index, item in enumerate(value if isinstance(value, list) else [value]):
                take(item, f"{index} of {column}")
    steps = values.get("traj")
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, Mapping) and isinstance(step.get("image"), str):
            take(step["image"], f"of step {index}")
    for index, url in enumerate(_urls(values.get("messages"))):
        take(url, f"{index} of messages")
    return found, names


def _urls(messages: Any) -> Iterator[str]:
    """Data URLs in chat messages, as OpenAI writes them."""
    for message in messages if isinstance(messages, list) else ():
        parts = message.get("content") if isinstance(message, Mapping) else None
        for part in parts if isinstance(parts, list) else ():
            shown = part.get("image_url") if isinstance(part, Mapping) else None
            url = shown.get("url") if isinstance(shown, Mapping) else shown
            if isinstance(url, str) and url.startswith("data:"):
                yield url


def _inline(url: str) -> bytes | None:
    try:
        return base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error:
        return None


def _read(folder: Path, path: Any) -> bytes | None:
    if not isinstance(path, str) or not path or "\x00" in path:
        return None
    for place in (folder / path, folder / "images" / path):
        if place.is_file() and place.resolve().is_relative_to(folder.resolve()):
            return place.read_bytes()
    return None
