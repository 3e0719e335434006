"""Screenshots of other datasets as observations: found in folders without leaving them, checked, stored as PNG."""

from __future__ import annotations

import io
import warnings
from pathlib import Path, PurePosixPath

from cuamaster.errors import Unmappable
from cuamaster.ports import Store
from cuamaster.records.trajectory import Observation

_MAX_BYTES = 64 << 20
_MAX_PIXELS = 64_000_000
_SIDES = (16, 16_384)


def observe(data: bytes, store: Store, where: str, *, t: float = 0.0, response: str = "") -> Observation:
    """Store a picture and describe it; anything but a sound PNG is decoded and stored as one.

    `t` in seconds. Raises Unmappable (bad-picture) for what is truncated, no picture, or absurdly large or small.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data)) as picture:
                width, height = picture.size
                kind = picture.format
                if width * height > _MAX_PIXELS or not all(_SIDES[0] <= side <= _SIDES[1] for side in (width, height)):
                    raise Unmappable(f"{where}: {width} x {height} pixels are no screenshot", reason="bad-picture")
                if kind == "PNG":
                    picture.verify()  # every chunk is there and sound; much faster than decoding
                else:
                    out = io.BytesIO()
                    picture.convert("RGB").save(out, "PNG")
                    data = out.getvalue()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombWarning) as exc:
        if isinstance(exc, Unmappable):
            raise
        raise Unmappable(f"{where}: not a picture: {exc}", reason="bad-picture") from exc
    except Image.DecompressionBombError as exc:
        raise Unmappable(f"{where}: {exc}", reason="bad-picture") from exc
    if kind == "PNG" and not data.rstrip(b"\0").endswith(b"IEND\xaeB`\x82"):
        raise Unmappable(f"{where}: the picture is cut off", reason="bad-picture")
    return Observation(screenshot=store.put(data), width=width, height=height, t=t, response=response)


class PictureFolders:
    """Pictures by the name a record gives them, looked for in some folders and never outside them."""

    def __init__(self, *folders: Path) -> None:
        self._folders = tuple(dict.fromkeys(folders))

    def read(self, name: str, where: str) -> bytes:
        """The bytes; raises Unmappable (no-picture) when no folder has it, (bad-picture) when it is too large."""
        pure = PurePosixPath(name.replace("\\", "/"))
        if not name or pure.is_absolute() or ".." in pure.parts:
            raise Unmappable(f"{where}: {name!r} is no name of a picture", reason="no-picture")
        for folder in self._folders:
            path = folder / pure
            try:
                if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                    if path.stat().st_size > _MAX_BYTES:
                        raise Unmappable(f"{where}: {path} has more than {_MAX_BYTES >> 20} MiB", reason="bad-picture")
                    return path.read_bytes()
            except Unmappable:
                raise
            except (OSError, ValueError):  # a name that no file can have, or no permission: as good as not there
                continue
        places = ", ".join(map(str, self._folders))
        raise Unmappable(f"{where}: no picture {name} in {places}", reason="no-picture", hint="give --images FOLDER")


def picture_folders(beside: Path, images: Path | None) -> PictureFolders:
    """`images` if given; else the folder a file lies in, and those beside it that are named for images."""
    if images is not None:
        return PictureFolders(images)
    here = beside.parent
    try:
        named = sorted(path for path in here.iterdir() if path.is_dir() and "image" in path.name.lower())
    except OSError:
        named = []
    return PictureFolders(here, *named)
