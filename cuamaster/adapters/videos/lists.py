"""Addresses of videos, accounts, channels and playlists: which are given, and which videos they list, however deep."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cuamaster.adapters.videos.metadata import video_from_info
from cuamaster.errors import InvalidInput, MediaError, UnknownName
from cuamaster.records.video import Video

log = logging.getLogger(__name__)
LIST_LIMIT = 5_000
"""Videos that are read of one address."""
NESTED, LISTS = 3, 50
"""How deep lists may lie in lists (channel, tab, playlist), and how many lists are opened for one address."""


def addresses(places: Sequence[str]) -> list[str]:
    """Addresses of `places`: each is one, or a text file with one a line (# comments). Raises UnknownName, InvalidInput."""
    found: list[str] = []
    for place in places:
        if re.match(r"https?://", place):
            found.append(place)
        elif Path(place).is_file():
            try:
                lines = Path(place).read_text(encoding="utf-8-sig").splitlines()
            except UnicodeDecodeError as exc:
                raise InvalidInput(f"{place}: not a text file in UTF-8: {exc.reason}") from exc
            for number, line in enumerate(lines, 1):
                text = line.strip()
                if text and not text.startswith("#"):
                    if not re.match(r"https?://\S+$", text):
                        raise InvalidInput(f"{place}, line {number}, field address: not one: {text[:100]!r}")
                    found.append(text)
        else:
            raise UnknownName(f"neither an address nor a file of addresses: {place}")
    return list(dict.fromkeys(found))


def listed(
    listing: Callable[[str, int, int], Mapping[str, Any]], address: str, limit: int = LIST_LIMIT
) -> Iterator[Video]:
    """Videos of an address, at most `limit`; lists in lists are opened, each once, so that one that holds itself ends."""
    from cuamaster.adapters.videos.extractors import is_list, plain_address

    opened: set[str] = set()
    seen: set[str] = set()
    todo: list[tuple[str, int]] = [(address, 0)]
    while todo and len(opened) < LISTS and len(seen) < limit:
        place, depth = todo.pop(0)
        if place.rstrip("/") in opened:
            continue
        opened.add(place.rstrip("/"))
        try:
            info = listing(place, 1, limit - len(seen))
        except MediaError as exc:
            if depth == 0:
                raise
            log.warning("a list in %s is left out: %s", address, exc)
            continue
        for entry, parent in _flat(info):
            inner = plain_address(entry.get("url"))
            if inner is not None and parent is not None and is_list(entry, parent):
                if depth < NESTED:
                    todo.append((inner, depth + 1))
                continue
            video = video_of(entry, info)
            if video is not None and video.id not in seen and len(seen) < limit:
                seen.add(video.id)
                yield video


def _flat(info: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[Mapping[str, Any], str | None]]:
    """(entry, extractor of the list it stands in), or the video itself; lists that came whole are gone through."""
    entries = info.get("entries")
    if entries is None:
        yield info, None
        return
    for entry in entries:
        if isinstance(entry, Mapping):
            if entry.get("entries") is not None:
                yield from _flat(entry, depth + 1) if depth < NESTED else ()
            else:
                yield entry, str(info.get("extractor_key") or "")


def video_of(entry: Mapping[str, Any], info: Mapping[str, Any]) -> Video | None:
    """A listed entry; None for one without an address."""
    from cuamaster.adapters.videos.extractors import extractor_of, plain_address

    url = plain_address(entry.get("webpage_url")) or plain_address(entry.get("url"))
    if url is None:
        log.info("an entry without an address is left out: %s", str(entry.get("url"))[:200])
        return None
    key = entry.get("extractor_key") or entry.get("ie_key")
    name, identity = str(key or "").lower(), entry.get("id")
    if not key:
        name, identity = extractor_of(url) or (str(info.get("extractor_key") or "generic").lower(), identity or url)
    return video_from_info(entry, source=name, source_id=str(identity or url), url=url)
