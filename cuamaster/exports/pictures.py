"""Screenshots on their way into a dataset: read and checked, scaled down where wanted, each kept only as long as it may come again."""

from __future__ import annotations

import io
import struct
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cuamaster.errors import IntegrityError, MediaError
from cuamaster.ports import Store
from cuamaster.records.trajectory import Observation

if TYPE_CHECKING:
    from PIL import Image

MAX_ROW_BYTES = 512 << 20
"""Pictures of one row: far below the 2 GiB of an Arrow column, and more than a trainer can take."""
_RECENT_BYTES = 48 << 20
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_READERS = 2


@dataclass(frozen=True)
class Picture:
    """A screenshot that a row shows: the blob and its size in pixels, before any scaling."""

    digest: str
    width: int
    height: int

    @classmethod
    def of(cls, seen: Observation) -> Picture:
        """What an observation saw."""
        return cls(seen.screenshot, seen.width, seen.height)

    def fitted(self, max_side: int | None) -> Picture:
        """The same blob in the size it has once its longer side is at most `max_side` pixels."""
        longer = max(self.width, self.height)
        if max_side is None or longer <= max_side:
            return self
        width, height = (max(1, round(side * max_side / longer)) for side in (self.width, self.height))
        return Picture(self.digest, width, height)


class Album:
    """Gives the pictures of rows as `{"bytes", "path"}`; `max_side`: longer side in pixels, above which they are scaled down."""

    def __init__(self, store: Store, max_side: int | None = None) -> None:
        self._store, self._max_side = store, max_side
        self._recent: OrderedDict[Picture, dict[str, Any]] = OrderedDict()
        self._size = 0
        self._pool = ThreadPoolExecutor(_READERS)

    def __enter__(self) -> Album:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    def show(self, pictures: Sequence[Picture]) -> list[dict[str, Any]]:
        """All pictures of one row, in order.

        Raises IntegrityError for a blob that is missing or changed; MediaError with reason `undecodable-picture`,
        `picture-size` or `too-large` for what nobody could train on.
        """
        missing = list(dict.fromkeys(picture for picture in pictures if picture not in self._recent))
        there = {picture: self._recent[picture] for picture in pictures if picture in self._recent}
        total = sum(len(image["bytes"]) for image in there.values())
        # A few at a time: an episode of 40,000 steps must not be in memory before it is known to be too large.
        for start in range(0, len(missing), 8 * _READERS):
            some = missing[start : start + 8 * _READERS]
            for picture, image in zip(some, self._pool.map(self._load, some), strict=True):
                there[picture] = image
                total += len(image["bytes"])
                self._remember(picture, image)
            if total > MAX_ROW_BYTES:
                raise MediaError(
                    f"{len(pictures)} pictures have more than {MAX_ROW_BYTES >> 20} MiB",
                    reason="too-large",
                    hint="export a history of a few pictures, or scale them down",
                )
        return [there[picture] for picture in pictures]

    def _load(self, picture: Picture) -> dict[str, Any]:
        data = self._store.get(picture.digest)
        size = png_size(data)
        if size != (picture.width, picture.height):
            raise MediaError(
                f"{picture.digest} is {size[0]}x{size[1]}, its step says {picture.width}x{picture.height}",
                reason="picture-size",
            )
        fitted = picture.fitted(self._max_side)
        if fitted == picture:
            return {"bytes": data, "path": f"{picture.digest}.png"}
        return {"bytes": _scaled(data, fitted), "path": f"{picture.digest}-{fitted.width}x{fitted.height}.png"}

    def _remember(self, picture: Picture, image: dict[str, Any]) -> None:
        self._recent[picture] = image
        self._size += len(image["bytes"])
        while self._size > _RECENT_BYTES:
            self._size -= len(self._recent.popitem(last=False)[1]["bytes"])


def png_size(data: bytes) -> tuple[int, int]:
    """(width, height) of a PNG whose chunks go on to its end; raises MediaError `undecodable-picture`.

    The content of the chunks is not looked at: a blob's hash says that it is what was stored, so what remains to be found is a
    picture that was cut off before it was stored, or never was one (PNG specification, section 5).
    """
    place, size = len(_SIGNATURE), (0, 0)
    if data.startswith(_SIGNATURE):
        while place + 12 <= len(data):
            length, kind = struct.unpack_from(">I4s", data, place)
            if kind == b"IHDR" and length == 13 and place + 25 <= len(data):
                size = struct.unpack_from(">II", data, place + 8)
            place += 12 + length
            if kind == b"IEND" and place <= len(data) and min(size) > 0:
                return size
    raise MediaError("not a PNG, or cut off", reason="undecodable-picture")


def _scaled(data: bytes, wanted: Picture) -> bytes:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            small = scaled(image.convert("RGB"), wanted)
    except (OSError, SyntaxError, ValueError) as exc:
        raise MediaError(f"{wanted.digest} does not decode: {exc}", reason="undecodable-picture") from exc
    out = io.BytesIO()
    small.save(out, "PNG")
    return out.getvalue()


def scaled(image: Image.Image, wanted: Picture) -> Image.Image:
    """A screenshot in the size of `wanted`, as rows show it."""
    from PIL.Image import Resampling

    return image.resize((wanted.width, wanted.height), Resampling.LANCZOS)


def lost(fault: IntegrityError | MediaError) -> str:
    """Why a row was dropped, as a slug."""
    return fault.reason if isinstance(fault, MediaError) else "missing-picture"
