"""Frames, what is written on them, and what texts mean."""

from __future__ import annotations

from cuamaster.ports import Embedder, FrameReader, ScreenReader
from cuamaster.settings import Settings


def frames() -> FrameReader:
    """Decoding by ffmpeg."""
    from cuamaster.adapters.frames.ffmpeg import FfmpegFrames

    return FfmpegFrames()


def reader(settings: Settings) -> ScreenReader:
    """OCR with a cache of what was read before."""
    from cuamaster.adapters.screens.rapidocr import RapidOcrReader

    return RapidOcrReader(settings.cache / "ocr")


def live_reader(settings: Settings) -> ScreenReader:
    """For desktops: reads only what changed since one of the last screens."""
    from cuamaster.adapters.screens.live import LiveReader
    from cuamaster.adapters.screens.rapidocr import RapidOcrReader

    return LiveReader(RapidOcrReader(settings.cache / "ocr"))


def embedder() -> Embedder:
    """Meaning of texts by the embedded MiniLM."""
    from cuamaster.adapters.embedders.minilm import MiniLmEmbedder

    return MiniLmEmbedder()


def title_embedder() -> Embedder:
    """Meaning of titles in many languages by the embedded multilingual-e5-small."""
    from cuamaster.adapters.embedders.e5 import E5Embedder

    return E5Embedder()
