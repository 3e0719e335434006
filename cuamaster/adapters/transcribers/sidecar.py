"""Transcripts from the caption files that came with a video: vtt, srt, json3; nothing is recognized."""

from __future__ import annotations

import logging
import re
from pathlib import Path

from cuamaster.adapters.transcribers.captions import parse
from cuamaster.errors import InvalidInput
from cuamaster.records.transcript import Transcript
from cuamaster.records.trust import repair, trust
from cuamaster.records.video import Media

log = logging.getLogger(__name__)
KINDS = {".vtt": "vtt", ".srt": "srt", ".json3": "json3"}
_LANGUAGE = re.compile(r"\.([a-z]{2,3}(?:-[A-Za-z0-9]+)*)\.(?:vtt|srt|json3)$")


class Sidecar:
    """Reads the first caption file of a video that has words in it; `language` is meant when the name does not say."""

    name = "sidecar"

    def __init__(self, language: str = "en") -> None:
        self._language = language

    def transcribe(self, media: Media, *, prompt: str = "") -> Transcript | None:  # noqa: ARG002 (captions need no prompt)
        """The transcript with its repairs in `problems`, or None if no caption file can be used."""
        for name in media.captions:
            path = Path(name)
            kind = KINDS.get(path.suffix.lower())
            if kind is None:
                continue
            try:
                text, guessed = _decode(path.read_bytes())
                cues = parse(text, kind)
            except (InvalidInput, FileNotFoundError) as exc:
                log.warning("%s: %s", path, exc)
                continue
            if not cues:
                continue
            sentences, found = repair(cues, media.info.duration or None)
            if guessed:
                found["guessed-encoding"] = guessed
            score, problems = trust(sentences, media.info.duration or None, found)
            return Transcript(
                video_id=media.video_id, language=self._language_of(path, cues[0].text), origin=kind,
                sentences=tuple(sentences), trust=score, problems=problems,
            )  # fmt: skip
        return None

    def _language_of(self, path: Path, sample: str) -> str:
        match = _LANGUAGE.search(path.name)
        if match:
            return match.group(1)
        return script_language(sample) or self._language


def script_language(text: str) -> str | None:
    """A language that its script gives away (ja, zh, ko, ru), else None."""
    for code, pattern in (("ja", "[぀-ヿ]"), ("ko", "[가-힯]"), ("zh", "[一-鿿]"), ("ru", "[а-яё]")):
        if len(re.findall(pattern, text.lower())) * 3 > len(text.replace(" ", "")):
            return code
    return None


def _decode(data: bytes) -> tuple[str, float]:
    """Text, and the share of it that is a guess: UTF-8 or UTF-16 by its mark is sure, Windows-1252 (old SubRip) is guessed.

    Of a European caption file a few accents are guessed; of one in GBK or Shift-JIS nearly everything is, and wrong.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace"), 0.0
    try:
        return data.decode("utf-8-sig"), 0.0
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
        letters = [char for char in text if not char.isspace() and not char.isdigit()]
        return text, sum(not char.isascii() for char in letters) / max(1, len(letters))
