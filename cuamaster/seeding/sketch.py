"""Turns candidates into rows of numbers that one set-based pass can compare: hashes of what must be equal, MinHash bands of the title."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cuamaster.seeding.titles import TAGS, identity, normalized_title, slots

GRAM = 3
"""Characters a shingle of a title: short enough that one typo in a title of six words leaves most of them."""
BANDS, ROWS = 20, 4
"""Two titles that share .7 of their shingles meet in a band with .996 probability, at .8 with .99997; at .3 with .15."""
ABOUT = 200
"""Characters of a description kept to compare two candidates: what is said first is about the video, later come links."""
BEGINS = 60
"""Characters of it that are hashed to find cuts of one recording."""
EMPTY = np.uint64(0)
_ADDRESS = re.compile(r"https?://\S+|www\.\S+")
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_FACTORS = (np.random.default_rng(20261130).integers(1, 1 << 31, BANDS * ROWS, dtype=np.uint32) << 1) | np.uint32(1)

Unsigned = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]


def band_names() -> list[str]:
    """Columns of the bands."""
    return [f"band_{index:02d}" for index in range(BANDS)]


def sketch(columns: Mapping[str, Sequence[Any]], *, first_row: int, tags: Iterable[str] = ()) -> dict[str, Any]:
    """Key columns of a slice of candidates (columns of `Video`), one row each.

    `row` counts from `first_row`; `identity`, `title`, `owner` are hashes (0: unknown, equal to nothing), `key` is the normalized
    title, `about` the start of the description (`begins`: the hash of its first words), `duration` seconds (-1: unknown), `date` days as YYYYMMDD (99999999: unknown),
    `tie` a hash of the row's content: with `date` it says which of two candidates came first, whatever the order they are read in.
    `band_NN` are hashes of MinHash values mixed with the title's slots: candidates that share one may be the same video.
    """
    ignored = TAGS | {tag.casefold() for tag in tags}
    keys = [
        normalized_title(title, uploader=uploader, tags=ignored)
        for title, uploader in zip(columns["title"], columns["uploader"], strict=True)
    ]
    size = len(keys)
    sources = zip(columns["source"], columns["source_id"], columns["url"], strict=True)
    bands = mixed_bands(keys)
    about = [_about(text) for text in columns["description"]]
    found: dict[str, Any] = {
        "row": np.arange(first_row, first_row + size, dtype=np.int64),
        "id": list(columns["id"]),
        "identity": _hashes("\x1f".join(identity(*source)) for source in sources),
        "title": _hashes(keys),
        "key": keys,
        "owner": _hashes((name or "").strip().casefold() for name in columns["uploader"]),
        "about": about,
        "begins": _hashes(text[:BEGINS] for text in about),
        "duration": np.array([-1 if value is None else value for value in columns["duration"]], np.float32),
        "date": np.array([_date(value) for value in columns["upload_date"]], np.int32),
        "tie": _hashes(
            "\x1f".join(part or "" for part in parts)
            for parts in zip(*(columns[name] for name in ("id", "url", "title", "app", "query")), strict=True)
        ),
    }
    return found | {name: bands[:, index] for index, name in enumerate(band_names())}


def mixed_bands(keys: Sequence[str]) -> Unsigned:
    """`title_bands` mixed with each title's slots: part 1 and part 2 do not meet."""
    bands = title_bands(keys)
    family = _hashes("\x1f".join(slots(key)) for key in keys)
    return np.where(bands == EMPTY, EMPTY, _scrambled(bands ^ family[:, None]))


def title_bands(keys: Sequence[str]) -> Unsigned:
    """MinHash bands [n, BANDS] of normalized titles; an empty title has 0 in all, which meets nothing."""
    hashes, offsets = shingles([key.replace(" ", "") for key in keys], GRAM)
    bands = np.zeros((len(keys), BANDS), np.uint64)
    full = np.flatnonzero(np.diff(offsets))
    if not len(full):
        return bands
    starts = offsets[:-1][full]
    low = (hashes >> np.uint64(32)).astype(np.uint32)
    value = np.empty_like(low)
    for band in range(BANDS):
        mixed = np.full(len(full), band + 1, np.uint64)
        for factor in _FACTORS[band * ROWS : (band + 1) * ROWS]:
            np.multiply(low, factor, out=value)
            np.bitwise_xor(value, value >> np.uint32(15), out=value)
            mixed = (mixed ^ np.minimum.reduceat(value, starts)) * _MIX[1]
            mixed ^= mixed >> np.uint64(29)
        bands[full, band] = mixed | np.uint64(1)
    return bands


def shingles(texts: Sequence[str], size: int) -> tuple[Unsigned, Offsets]:
    """Hashes of all runs of `size` characters of each text, a shorter text being one run, and n+1 offsets."""
    ((hashes, offsets),) = runs(
        [text if not text or len(text) >= size else text.ljust(size) for text in texts], (size,)
    )
    return _scrambled(hashes), offsets


def runs(texts: Sequence[str], sizes: Sequence[int]) -> Iterator[tuple[Unsigned, Offsets]]:
    """For each size, ascending, a polynomial (poorly mixed) of every run of so many code points, and n+1 offsets; text i owns
    values[offsets[i]:offsets[i + 1]]. A shorter text has none."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    begins = np.cumsum(lengths) - lengths
    values = np.zeros(len(points), np.uint64)
    for size in range(1, max(sizes) + 1):
        values *= _MIX[0]
        if len(points) >= size:
            values[: len(points) - size + 1] += points[size - 1 :]
        if size in sizes:
            counts = np.maximum(lengths - size + 1, 0)
            offsets = np.concatenate(([0], np.cumsum(counts)))
            yield values[np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], counts)], offsets


def _scrambled(values: Unsigned) -> Unsigned:
    """Every bit of the result depends on every bit of the value (the finalizer of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * _MIX[1]
    values = (values ^ (values >> np.uint64(27))) * _MIX[2]
    found: Unsigned = values ^ (values >> np.uint64(31))
    return found


def _hashes(texts: Iterable[str]) -> Unsigned:
    """64-bit hashes; 0 for an empty text only. Among 10^7 texts two differ and collide with probability 3e-6."""
    return np.array([_hash(text) for text in texts], np.uint64)


def _hash(text: str) -> int:
    if not text:
        return 0
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") or 1


def _about(description: str) -> str:
    """The start of a description without addresses and line breaks, lower case."""
    head = description[: 3 * ABOUT]
    if "http" in head or "www." in head:
        head = _ADDRESS.sub(" ", head)
    return " ".join(head.lower().split())[:ABOUT]


def _date(text: str | None) -> int:
    digits = (text or "").replace("-", "")
    return int(digits) if len(digits) == 8 and digits.isascii() and digits.isdigit() else 99_999_999
