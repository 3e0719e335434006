"""Speech recognition with the embedded model on the bundled recordings, and model folders that are not whole."""

from __future__ import annotations

import itertools
import json
import re
import wave
from pathlib import Path

import pytest

from cuamaster.adapters.transcribers.faster_whisper import FasterWhisper, check_weights, embedded_model
from cuamaster.assets import samples_folder
from cuamaster.errors import IntegrityError, MediaError, MissingDependency
from cuamaster.records.video import Media, MediaInfo


def media(path: Path, *, duration: float = 36.0, has_audio: bool = True) -> Media:
    return Media(
        video_id="v",
        path=str(path),
        sha256="0" * 64,
        info=MediaInfo(duration=duration, fps=30, width=1280, height=800, has_audio=has_audio),
    )


def errors(said: list[str], heard: list[str]) -> int:
    """Edit distance in words."""
    row = list(range(len(heard) + 1))
    for i, one in enumerate(said, 1):
        last, row[0] = row[0], i
        for j, two in enumerate(heard, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (one != two))
    return row[-1]


def test_model_folders_are_checked_before_the_library_sees_them(tmp_path: Path) -> None:
    with pytest.raises(MissingDependency, match=r"model\.bin, config\.json, tokenizer\.json missing"):
        FasterWhisper(tmp_path / "nowhere")
    for name in ("model.bin", "config.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(MissingDependency, match=r"tokenizer\.json missing"):
        FasterWhisper(tmp_path)
    with pytest.raises(IntegrityError, match="published"):
        check_weights(tmp_path)
    check_weights(embedded_model())


def test_no_sound_and_broken_files_are_media_errors(tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"\x00\x00\x00 ftypisom" + b"junk" * 50)
    whisper = FasterWhisper()
    with pytest.raises(MediaError) as fault:
        whisper.transcribe(media(broken, has_audio=False))
    assert fault.value.reason == "no-audio"
    with pytest.raises(MediaError) as fault:
        whisper.transcribe(media(broken))
    assert fault.value.reason == "corrupt-audio"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mousepad-notes", "pcmanfm-folders"])
def test_words_and_times_of_the_bundled_recordings(name: str) -> None:
    folder = samples_folder() / name
    truth = json.loads((folder / "truth.json").read_text())
    transcript = FasterWhisper().transcribe(
        media(folder / "tutorial.mp4", duration=truth["duration"]), prompt="Mousepad, PCManFM, Linux."
    )
    assert transcript is not None
    said = [word for row in truth["narration"] for word in re.findall(r"[\w.]+\w|\w", row["text"].lower())]
    heard = re.findall(r"[\w.]+\w|\w", transcript.text.lower())
    assert errors(said, heard) / len(said) <= 0.12
    assert transcript.trust >= 0.8 and transcript.language == "en"
    words = [word for item in transcript.sentences for word in item.words]
    assert all(one.start <= two.start for one, two in itertools.pairwise(words))
    starts = [min(abs(row["t_start"] - word.start) for word in words) for row in truth["narration"]]
    assert sorted(starts)[len(starts) // 2] <= 0.5


@pytest.mark.slow
def test_silence_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "silence.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(b"\x00\x00" * 16000 * 20)
    transcript = FasterWhisper().transcribe(media(path, duration=20.0))
    assert transcript is not None and transcript.sentences == ()
    assert transcript.trust == 0 and transcript.problems == ("no-speech",)
