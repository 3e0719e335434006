"""Pictures of a row: each is there, decodes, is the one its step names, shows something, and the screen moves on."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cuamaster.ports import Image

if TYPE_CHECKING:
    import PIL.Image

Found = Iterator[tuple[str, str]]
"""(check, detail) pairs."""

BLACK_SHARE = 0.995
"""A picture with at least this share of black pixels shows no desktop; the share of the gate that screenshots pass on a guest."""
BLANK_SHARE = 0.9995
"""Of any other colour: a pointer and a clock leave more than this of an empty screen, three words on a page do not."""
COLOUR_STEP = 8
"""How far from a colour (0-255, each channel) still counts as that colour."""
MAX_PIXELS = 64 << 20
"""A larger picture is refused before it is decoded: no screen has it, a decompression bomb does."""
_SEEN = 4096
_FEW = (128, 80)


@dataclass(frozen=True)
class Picture:
    """What one picture turned out to be: size in pixels, or the fault that keeps it from being one."""

    digest: str
    size: tuple[int, int] = (0, 0)
    fault: str = ""
    black: bool = False
    blank: bool = False


class Pictures:
    """Looks at pictures, several at a time; the last few thousand distinct ones are remembered, since screens come back.

    A context, for the threads that decode.
    """

    def __init__(self, workers: int | None = None) -> None:
        """`workers`: threads; by default one for each processor."""
        self._seen: OrderedDict[str, Picture] = OrderedDict()
        self._pool = ThreadPoolExecutor(workers or os.cpu_count() or 1)

    def __enter__(self) -> Pictures:
        return self

    def __exit__(self, *fault: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def look(self, all_data: Sequence[bytes | None]) -> list[Picture]:
        """Decode and judge encoded bytes; None and nothing are pictures with a fault. Never raises."""
        digests = [hashlib.sha256(data or b"").hexdigest() for data in all_data]
        fresh = {digest: data for digest, data in zip(digests, all_data, strict=True) if digest not in self._seen}
        looked = dict(zip(fresh, self._pool.map(_look, fresh.values(), fresh), strict=True))
        pictures = [self._seen.get(digest) or looked[digest] for digest in digests]
        for picture in pictures:
            self._seen[picture.digest] = picture
            self._seen.move_to_end(picture.digest)
        while len(self._seen) > _SEEN:
            self._seen.popitem(last=False)
        return pictures


def decode(data: bytes) -> Image:
    """RGB pixels; raises ValueError for bytes that are no complete picture or one larger than MAX_PIXELS."""
    return np.asarray(_opened(data).convert("RGB"))


def _opened(data: bytes) -> PIL.Image.Image:
    import PIL.Image

    if data.startswith(b"\x89PNG") and b"IEND" not in data[-16:]:
        raise ValueError("cut off before its end")  # the missing part would be decoded as grey
    try:
        picture = PIL.Image.open(io.BytesIO(data))
        if picture.width * picture.height > MAX_PIXELS:
            raise ValueError(f"{picture.width}x{picture.height} is no screen")
        picture.load()
    except (OSError, SyntaxError, PIL.Image.DecompressionBombError) as exc:
        raise ValueError(str(exc)) from exc
    return picture


def _look(data: bytes | None, digest: str) -> Picture:
    import PIL.Image

    if not data:
        return Picture(digest, fault="is missing")
    try:
        picture = _opened(data)
    except ValueError as exc:
        return Picture(digest, fault=f"does not decode: {exc}")
    # A few thousand pixels tell nearly all pictures from one colour; the rest is looked at whole.
    colour, share = _main_colour(picture.resize(_FEW, PIL.Image.Resampling.NEAREST))
    if share >= BLACK_SHARE:
        colour, share = _main_colour(picture)
    black = share >= BLACK_SHARE and max(colour) <= COLOUR_STEP
    return Picture(digest, picture.size, black=black, blank=share >= BLANK_SHARE and not black)


def _main_colour(picture: PIL.Image.Image) -> tuple[list[int], float]:
    """(median colour, share of the pixels that have it)."""
    pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    colour = np.median(pixels, axis=0).astype(np.int16)
    return colour.tolist(), float((np.abs(pixels - colour) <= COLOUR_STEP).all(axis=1).mean())


def check_pictures(images: Sequence[Mapping[str, Any]], seen: Pictures, names: Sequence[str] = ()) -> Found:
    """Faults of `{bytes, path}` pictures; `names` tells them apart where they have better names than numbers."""
    looked = seen.look([image.get("bytes") for image in images])
    for index, picture in enumerate(looked):
        name = f"picture {names[index] if index < len(names) else index}"
        if picture.fault:
            yield "images", f"{name} {picture.fault}"
        elif picture.black:
            yield "black", f"{name} is black"
        elif picture.blank:
            yield "blank", f"{name} is of a single colour"
    if len(looked) > 2 and len({picture.digest for picture in looked}) == 1:
        yield "frozen", f"all {len(looked)} pictures are the same"


def pictures_in(values: Mapping[str, Any], folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Pictures of a row of any shape, with their names: columns `images` and `image`, data URLs in messages, AgentNet's files.

    A path is read relative to `folder`, the dataset's, or its `images`; one that leads out of it counts as missing.
    """
    found: list[dict[str, Any]] = []
    names: list[str] = []

    def take(value: Any, name: str) -> None:
        if isinstance(value, Mapping) and {"bytes", "path"} & set(value):
            inside = value.get("bytes")
            data = inside if inside and isinstance(inside, bytes) else _read(folder, value.get("path"))
        elif isinstance(value, bytes):
            data = value
        elif isinstance(value, str):
            data = inline(value) if value.startswith("data:") else _read(folder, value)
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


def inline(url: str) -> bytes | None:
    """The bytes of a data URL, None for what is none."""
    try:
        return base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error:
        return None


def _read(folder: Path, path: Any) -> bytes | None:
    found = find_beside(folder, path)
    return found.read_bytes() if found else None


def find_beside(folder: Path, path: Any) -> Path | None:
    """The picture that a row names, in the dataset's folder or its `images`; None where there is none, or outside of it."""
    if not isinstance(path, str) or not path or "\x00" in path:
        return None
    for place in (folder / path, folder / "images" / path):
        if place.is_file() and place.resolve().is_relative_to(folder.resolve()):
            return place
    return None
