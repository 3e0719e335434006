"""Speech without words is noticed, and near stretches of it are heard together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from faster_whisper.transcribe import Segment
from faster_whisper.transcribe import Word as Heard

from cuamaster.adapters.transcribers.coverage import lost_seconds, lost_speech
from cuamaster.adapters.transcribers.faster_whisper import FasterWhisper
from cuamaster.assets import samples_folder
from cuamaster.records.transcript import Word
from cuamaster.records.video import Media, MediaInfo


def _words(*spans: tuple[float, float]) -> list[Word]:
    return [Word(text="word", start=start, end=end) for start, end in spans]


def test_the_longest_silence_of_the_transcript_within_a_voiced_stretch() -> None:
    words = _words((1.4, 2.0), (2.1, 3.0), (6.0, 6.5))
    assert lost_seconds(1.0, 3.3, words) == pytest.approx(0.4)
    assert lost_seconds(1.0, 7.0, words) == 3.0
    assert lost_seconds(8.0, 10.0, words) == 2.0
    assert lost_seconds(8.0, 10.0, []) == 2.0


def test_near_stretches_are_heard_together_and_long_ones_apart() -> None:
    assert lost_speech([(1.0, 3.0), (4.0, 6.0), (10.0, 12.0)], []) == [(1.0, 6.0), (10.0, 12.0)]
    assert lost_speech([(0.0, 15.0), (16.0, 30.0)], []) == [(0.0, 15.0), (16.0, 30.0)]
    whole = _words((1.2, 2.0), (2.2, 2.8))
    assert lost_speech([(1.0, 3.0)], whole) == []
    assert lost_speech([], whole) == [] == lost_speech([(1.0, 1.5)], [])


class _Forgetful:
    """A recognizer that, when prompted, hears the first ten seconds only; real sound and a real voice detector around it."""

    model = SimpleNamespace(is_multilingual=False)

    def transcribe(self, audio: npt.NDArray[np.float32], *, initial_prompt: str | None, **_: Any) -> tuple[Any, Any]:
        seconds = 10.0 if initial_prompt else len(audio) / 16_000
        words = [
            Heard(start=float(t), end=t + 0.9, word=" word" if initial_prompt else " again", probability=1.0)
            for t in range(1 if initial_prompt else 0, int(seconds))
        ]
        segment = Segment(
            id=1, seek=0, start=0.0, end=seconds, text="", tokens=[], avg_logprob=-0.1, compression_ratio=1.0, no_speech_prob=0.0, words=words,
            temperature=0.0,
        )  # fmt: skip
        return iter([segment] if words else []), SimpleNamespace(language="en")


def test_what_a_prompted_recognizer_lost_is_heard_again_without_the_prompt() -> None:
    path = samples_folder() / "pcmanfm-folders" / "tutorial.mp4"
    whisper = FasterWhisper()
    whisper._model = _Forgetful()
    info = MediaInfo(duration=35.0, fps=30, width=1280, height=800, has_audio=True)
    transcript = whisper.transcribe(Media(video_id="v", path=str(path), sha256="", info=info))
    assert transcript is not None
    words = [word for sentence in transcript.sentences for word in sentence.words]
    assert {word.text for word in words} == {"word", "again"}
    assert [word.start for word in words] == sorted(word.start for word in words)
    assert words[-1].start > 30.0  # on the clock of the whole, not of the piece
    assert max(word.start for word in words if word.text == "word") < min(
        word.start for word in words if word.text == "again"
    )
