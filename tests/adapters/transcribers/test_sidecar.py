"""Caption files to transcripts: all kinds, rolling lines, word times, backward and overlapping cues, odd encodings."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from cuamaster.adapters.transcribers.captions import parse
from cuamaster.adapters.transcribers.sidecar import Sidecar
from cuamaster.assets import samples_folder
from cuamaster.errors import InvalidInput
from cuamaster.records.transcript import Transcript
from cuamaster.records.video import Media, MediaInfo

# As YouTube serves automatic captions: each cue repeats the line before, 10 ms cues in between.
ROLLING = """WEBVTT
Kind: captions
Language: en

00:00:00.160 --> 00:00:02.389 align:start position:0%
~
hello<00:00:00.560><c> and</c><00:00:00.960><c> welcome</c><00:00:01.520><c> back</c>

00:00:02.389 --> 00:00:02.399 align:start position:0%
hello and welcome back
~

00:00:02.399 --> 00:00:05.309 align:start position:0%
hello and welcome back
click<00:00:02.800><c> the</c><00:00:03.200><c> file</c><00:00:03.600><c> menu</c>

00:00:05.309 --> 00:00:05.319 align:start position:0%
click the file menu
~

00:00:05.319 --> 00:00:07.000 align:start position:0%
click the file menu
and<00:00:05.600><c> choose</c><00:00:06.000><c> save</c>
""".replace("~", " ")


def read(tmp_path: Path, name: str, text: str | bytes, duration: float = 10.0) -> Transcript | None:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    info = MediaInfo(duration=duration, fps=30, width=1280, height=800, has_audio=True)
    return Sidecar().transcribe(Media(video_id="v", path="x.mp4", sha256="0" * 64, captions=(str(path),), info=info))


def cues(*rows: tuple[str, str, str]) -> str:
    return "WEBVTT\n\n" + "\n\n".join(f"{start} --> {end}\n{text}" for start, end, text in rows)


def test_rolling_captions_are_said_once_with_their_own_word_times(tmp_path: Path) -> None:
    transcript = read(tmp_path, "a.en.vtt", ROLLING)
    assert transcript is not None
    assert transcript.text == "hello and welcome back click the file menu and choose save"
    words = [word for item in transcript.sentences for word in item.words]
    assert [(word.text, word.start) for word in words if word.text in ("click", "menu", "save")] == [
        ("click", 2.399),
        ("menu", 3.6),
        ("save", 6.0),
    ]
    assert transcript.trust > 0.9


def test_plain_cues_get_interpolated_words_inside_their_cue(tmp_path: Path) -> None:
    transcript = read(
        tmp_path,
        "a.vtt",
        cues(("00:01.000", "00:03.000", "Click the <b>File</b> menu"), ("00:04.000", "00:05.000", "[Music]")),
    )
    assert transcript is not None and len(transcript.sentences) == 1
    sentence = transcript.sentences[0]
    assert sentence.text == "Click the File menu" and (sentence.words[0].start, sentence.words[-1].end) == (1.0, 3.0)
    assert all(one.end <= two.start for one, two in itertools.pairwise(sentence.words))
    assert (transcript.trust, transcript.problems, transcript.language) == (1.0, (), "en")


def test_overlapping_and_backward_cues_are_repaired_and_reported(tmp_path: Path) -> None:
    rows = (
        ("00:01.000", "00:04.000", "Click the File menu."),
        ("00:03.000", "00:05.000", "Choose Save As."),
        ("00:09.000", "00:08.000", "Type the name."),
        ("00:06.000", "00:07.000", "Press enter."),
        ("05:00.000", "05:02.000", "Long after the end."),
    )
    transcript = read(tmp_path, "a.vtt", cues(*rows))
    assert transcript is not None
    spans = [(item.start, item.end) for item in transcript.sentences]
    assert spans == sorted(spans) and all(one[1] <= two[0] for one, two in itertools.pairwise(spans))
    assert [item.text for item in transcript.sentences] == [
        "Click the File menu.",
        "Choose Save As.",
        "Press enter.",
        "Type the name.",
    ]
    assert {"overlap", "backward-times", "out-of-range"} <= set(transcript.problems)
    assert transcript.trust < 0.9


def test_srt_in_an_old_encoding_and_json3_with_word_offsets(tmp_path: Path) -> None:
    srt = "1\r\n00:00:01,500 --> 00:00:02,500\r\n{\\an8}Café öffnen &amp; <i>speichern</i>\r\n\r\n".encode("cp1252")
    transcript = read(tmp_path, "a.de.srt", srt)
    assert transcript is not None and (transcript.text, transcript.language, transcript.origin) == (
        "Café öffnen & speichern",
        "de",
        "srt",
    )
    assert transcript.problems == ("guessed-encoding",)
    events = [
        {"tStartMs": 0, "dDurationMs": 9000, "wpWinPosId": 1},
        {"tStartMs": 1000, "dDurationMs": 4000, "segs": [{"utf8": "click"}, {"utf8": " file", "tOffsetMs": 400}]},
        {"tStartMs": 2000, "dDurationMs": 10, "aAppend": 1, "segs": [{"utf8": "\n"}]},
        {"tStartMs": 2500, "dDurationMs": 2000, "segs": [{"utf8": "save", "tOffsetMs": 100}]},
    ]
    transcript = read(tmp_path, "a.json3", json.dumps({"events": events}))
    assert transcript is not None
    assert [(word.text, word.start) for item in transcript.sentences for word in item.words] == [
        ("click", 1.0),
        ("file", 1.4),
        ("save", 2.6),
    ]
    assert transcript.problems == ()


def test_a_looping_transcript_is_not_trusted(tmp_path: Path) -> None:
    rows = [(f"00:{n:02}.000", f"00:{n:02}.900", "thanks for watching this video") for n in range(1, 11)]
    transcript = read(tmp_path, "a.srt", cues(*rows).replace("WEBVTT\n\n", ""))
    assert transcript is not None and "repetition" in transcript.problems and transcript.trust < 0.6


@pytest.mark.parametrize("text", ["", "WEBVTT\n\nNOTE nothing here\n", "garbage without cues", '{"events": []}'])
def test_nothing_to_read_is_none(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, "a.vtt", text) is None
    assert read(tmp_path, "a.json3", text) is None


def test_a_broken_file_falls_back_to_the_next(tmp_path: Path) -> None:
    (tmp_path / "a.json3").write_text("{")
    (tmp_path / "a.vtt").write_text(cues(("00:01.000", "00:02.000", "Click.")))
    info = MediaInfo(duration=9, fps=30, width=1280, height=800, has_audio=True)
    names = tuple(str(tmp_path / name) for name in ("missing.vtt", "a.json3", "a.vtt"))
    transcript = Sidecar().transcribe(Media(video_id="v", path="x", sha256="0", captions=names, info=info))
    assert transcript is not None and transcript.origin == "vtt"
    with pytest.raises(InvalidInput, match="json3"):
        parse("{", "json3")


def test_scripts_give_the_language_away(tmp_path: Path) -> None:
    transcript = read(tmp_path, "a.vtt", cues(("00:01.000", "00:02.000", "点击文件菜单")))
    assert transcript is not None and transcript.language == "zh"


def test_the_bundled_captions(tmp_path: Path) -> None:
    text = (samples_folder() / "mousepad-notes" / "tutorial.vtt").read_text()
    transcript = read(tmp_path, "a.vtt", text, duration=75.4)
    assert transcript is not None and transcript.trust == 1.0 and len(transcript.sentences) == 13


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("cp1251", "Откройте меню «Файл» и нажмите кнопку, затем введите имя файла и сохраните его"), ("koi8_r", "Откройте меню и нажмите кнопку Сохранить"),
        ("cp1252", "Cliquez sur Données, puis sélectionnez la plage"), ("cp1250", "Otwórz menu Plik i wybierz opcję Zapisz"),
        ("gbk", "点击文件菜单然后选择另存为"), ("shift_jis", "ファイルメニューを開いて保存をクリックします"), ("euc_kr", "파일 메뉴를 열고 저장을 클릭하세요"),
    ],
)  # fmt: skip
def test_captions_in_an_old_encoding_are_read(tmp_path: Path, encoding: str, said: str) -> None:
    transcript = read(tmp_path, "a.srt", cues(("00:01.000", "00:03.000", said)).encode(encoding))
    assert transcript is not None and transcript.text == said
    assert transcript.problems == ("guessed-encoding",) and 0.6 < transcript.trust < 1


def test_captions_in_a_guessed_encoding_are_trusted_as_far_as_they_are_plain(tmp_path: Path) -> None:
    western = read(tmp_path, "a.srt", cues(("00:01.000", "00:03.000", "Open the café menu and save")).encode("cp1252"))
    torn = read(
        tmp_path, "b.srt", cues(("00:01.000", "00:03.000", "点击文件菜单然后保存")).encode("gbk") + b"\xff\x81\x8d\x90"
    )
    assert western is not None and torn is not None
    assert western.problems == torn.problems == ("guessed-encoding",)
    assert western.trust > 0.9
    assert torn.trust < 0.5
