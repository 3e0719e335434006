"""Chooses the one caption track of a video that is worth a request: people's before automatic ones, the wanted languages in their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

KINDS = ("json3", "vtt", "srt")
"""What the transcriber reads, best first: json3 has the time of every word."""


class Track(NamedTuple):
    """A caption file to fetch: its language without marks (`en`, `pt-BR`), its kind, and yt-dlp's dictionary (`url` or `data`)."""

    language: str
    kind: str
    part: Mapping[str, Any]


def best_track(info: Mapping[str, Any], languages: Sequence[str]) -> Track | None:
    """The track to take of yt-dlp's `subtitles` and `automatic_captions`, or None.

    Automatic translations (`tlang` in the address) are left out: recognizing the speech ourselves is closer to what was said.
    Live chats and comments come as tracks too, in kinds that nobody reads.
    """
    for wanted in languages:
        for name, kept in (("subtitles", _any), ("automatic_captions", _original)):
            found = _of_language(info.get(name), wanted)
            for code, parts in found:
                for kind in KINDS:
                    part = next((part for part in parts if part.get("ext") == kind and kept(part)), None)
                    if part is not None:
                        return Track(code.removesuffix("-orig"), kind, part)
    return None


def _of_language(tracks: Any, wanted: str) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Tracks of a language, the plain code first, then its regions."""
    if not isinstance(tracks, Mapping):
        return []
    base = wanted.replace("_", "-").split("-")[0].lower()
    codes = [code for code in tracks if isinstance(code, str) and code.replace("_", "-").split("-")[0].lower() == base]
    ranked = sorted(codes, key=lambda code: (code != f"{wanted}-orig", code != wanted, code != base, code))
    return [(code, list(_parts(tracks[code]))) for code in ranked]


def _parts(value: Any) -> Iterable[Mapping[str, Any]]:
    return (part for part in value if isinstance(part, Mapping)) if isinstance(value, (list, tuple)) else ()


def _any(part: Mapping[str, Any]) -> bool:
    return bool(part.get("url") or part.get("data"))


def _original(part: Mapping[str, Any]) -> bool:
    return _any(part) and "tlang=" not in str(part.get("url") or "")
