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
PAIRS = ("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr")
ENCODINGS = (
    "cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp1256", "koi8_r", *PAIRS,
)  # fmt: skip
"""What subtitle editors wrote before UTF-8, in the languages that are searched for."""
LIKELY = 0.3
"""How much of a guess it still is, if the words of a text look like a language in its encoding."""
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
    """Text, and the share of it that is a guess: UTF-8 or UTF-16 by its mark is sure, anything else is told by its words.

    Where no encoding makes words of it, Windows-1252 (old SubRip) is taken: of a European file a few accents are guessed then, of one
    in another script nearly everything is, and wrong.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace"), 0.0
    try:
        return data.decode("utf-8-sig"), 0.0
    except UnicodeDecodeError:
        encoding = _encoding_of(data)
        text = data.decode(encoding or "cp1252", errors="replace")
        letters = [char for char in text if not char.isspace() and not char.isdigit()]
        guessed = sum(not char.isascii() for char in letters) / max(1, len(letters))
        return text, guessed * (LIKELY if encoding else 1.0)


def _encoding_of(data: bytes) -> str | None:
    """The old encoding in which the words of a caption file look like a language; times and numbers are alike in all."""
    from charset_normalizer import from_bytes

    words = re.sub(rb"[\d:,.>\- \r\n]+", b" ", data)
    found = from_bytes(words, cp_isolation=list(ENCODINGS), threshold=0.4).best()
    # Any bytes are letters in a table of 256; a run of valid pairs is no accident.
    return found.encoding if found and (found.coherence > 0 or found.encoding in PAIRS) else None
