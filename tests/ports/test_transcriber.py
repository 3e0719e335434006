"""The conformance suite of the Transcriber port: captions and speech recognition hear the same tutorial."""

from __future__ import annotations

import itertools
import json

import pytest

from cuamaster.adapters.transcribers.faster_whisper import FasterWhisper
from cuamaster.adapters.transcribers.sidecar import Sidecar
from cuamaster.assets import samples_folder
from cuamaster.ports import Transcriber
from cuamaster.records.speech import operations, words_of
from cuamaster.records.video import Media, MediaInfo

FOLDER = samples_folder() / "mousepad-notes"


@pytest.fixture(params=["sidecar", pytest.param("faster_whisper", marks=pytest.mark.slow)])
def transcriber(request: pytest.FixtureRequest) -> Transcriber:
    return Sidecar() if request.param == "sidecar" else FasterWhisper()


def test_words_lie_in_order_inside_the_video_and_tell_the_operations(transcriber: Transcriber) -> None:
    truth = json.loads((FOLDER / "truth.json").read_text())
    info = MediaInfo(duration=truth["duration"], fps=30, width=1280, height=800, has_audio=True)
    media = Media(
        video_id="v", path=str(FOLDER / "tutorial.mp4"), sha256="0", captions=(str(FOLDER / "tutorial.vtt"),), info=info
    )
    transcript = transcriber.transcribe(media, prompt="Mousepad")
    assert transcript is not None
    assert transcript.video_id == "v" and transcript.language == "en" and transcript.trust >= 0.8
    words = words_of(transcript)
    assert all(0 <= word.start <= word.end <= truth["duration"] + 0.1 for word in words)
    assert all(one.start <= two.start for one, two in itertools.pairwise(words))
    assert [sentence.text for sentence in transcript.sentences] == [
        " ".join(word.text for word in item.words) for item in transcript.sentences
    ]
    kinds = [item.kind for item in operations(words)]
    true = len(truth["actions"])
    assert true - 3 <= len(kinds) <= true + 3 and kinds.count("type") >= 3
