"""ffmpeg as a frame reader: bad files, sound, rotation, cutting, and no process left behind."""

from __future__ import annotations

import subprocess
import wave
from pathlib import Path

import pytest

from cuamaster.adapters.frames.ffmpeg import FfmpegFrames
from cuamaster.errors import MediaError, MissingDependency


def _make(path: Path, arguments: str) -> Path:
    subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments.split(), str(path)], check=True)
    return path


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = "-f lavfi -i testsrc=size=320x200:rate=10:duration=3 -f lavfi -i sine=frequency=440:duration=3"
    return _make(tmp_path_factory.mktemp("clip") / "clip.mp4", f"{sources} -pix_fmt yuv420p -c:a aac -shortest")


def test_bad_files_tell_what_is_wrong(tmp_path: Path, clip: Path) -> None:
    empty = tmp_path / "empty.mp4"
    empty.touch()
    noise = tmp_path / "noise.mp4"
    noise.write_bytes(b"not a film at all" * 1000)
    cut_off = tmp_path / "cut_off.mp4"
    cut_off.write_bytes(clip.read_bytes()[: clip.stat().st_size // 2])  # the index at the end is gone
    sound = _make(tmp_path / "sound.mp3", "-f lavfi -i sine=duration=1")
    reader = FfmpegFrames()
    for path, reason in [
        (empty, "empty-file"),
        (noise, "unreadable"),
        (cut_off, "unreadable"),
        (sound, "no-video-stream"),
    ]:
        with pytest.raises(MediaError) as caught:
            reader.probe(path)
        assert caught.value.reason == reason, path
        assert str(path) in str(caught.value)


def test_cover_art_is_no_video(tmp_path: Path) -> None:
    art = _make(tmp_path / "art.png", "-f lavfi -i color=red:size=64x64 -frames:v 1")
    song = tmp_path / "song.mp3"
    command = f"ffmpeg -v error -y -f lavfi -i sine=duration=1 -i {art} -map 0 -map 1 -c:v copy -disposition:v attached_pic {song}"
    subprocess.run(command.split(), check=True)
    with pytest.raises(MediaError) as caught:
        FfmpegFrames().probe(song)
    assert caught.value.reason == "no-video-stream"


def _rotated(film: bytes) -> bytes:
    """The film with a quarter turn in the display matrix of its first track (ffmpeg's own option for it differs by version)."""
    header = film.index(b"tkhd") + 4
    matrix = header + 40
    quarter = b"".join(n.to_bytes(4, "big", signed=True) for n in (0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000))
    return film[:matrix] + quarter + film[matrix + 36 :]


def test_phone_video_is_turned_upright(tmp_path: Path, clip: Path) -> None:
    turned = tmp_path / "turned.mp4"
    command = ["ffmpeg", "-v", "error", "-y", "-i", str(clip), "-c", "copy", str(turned)]
    subprocess.run(command, check=True)
    turned.write_bytes(_rotated(turned.read_bytes()))
    reader = FfmpegFrames()
    info = reader.probe(turned)
    assert (info.width, info.height) == (200, 320)
    assert reader.at(turned, 1.0).shape == (320, 200, 3)


def test_a_live_recording_without_a_length_is_measured(tmp_path: Path) -> None:
    stream = _make(tmp_path / "live.mkv", "-f lavfi -i testsrc=size=64x64:rate=10:duration=2 -f matroska -live 1")
    assert FfmpegFrames().probe(stream).duration == pytest.approx(1.9, abs=0.2)


def test_sound_is_16_khz_mono(tmp_path: Path, clip: Path) -> None:
    with wave.open(str(FfmpegFrames().audio(clip, tmp_path / "a.wav"))) as sound:
        assert (sound.getframerate(), sound.getnchannels()) == (16000, 1)
        assert sound.getnframes() / 16000 == pytest.approx(3.0, abs=0.1)


def test_cut_is_exact(tmp_path: Path, clip: Path) -> None:
    reader = FfmpegFrames()
    part = reader.cut(clip, 0.5, 2.0, tmp_path / "part.mp4")
    assert reader.probe(part).duration == pytest.approx(1.5, abs=0.15)


def test_a_reader_that_stops_early_leaves_no_process(clip: Path) -> None:
    frames = FfmpegFrames().sample(clip, fps=10)
    next(frames)
    assert _children(), "ffmpeg runs while frames are read"
    frames.close()  # type: ignore[attr-defined]
    assert not _children()


def _children() -> list[str]:
    here = Path("/proc/self/task")
    pids = [pid for task in here.iterdir() for pid in (task / "children").read_text().split()]
    return [pid for pid in pids if Path(f"/proc/{pid}/comm").read_text().strip() == "ffmpeg"]


def test_a_missing_program_is_named(tmp_path: Path, clip: Path) -> None:
    with pytest.raises(MissingDependency, match="no-such-probe"):
        FfmpegFrames(ffprobe="no-such-probe").probe(clip)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_a_recording_ends_with_its_picture(tmp_path: Path, name: str) -> None:
    sources = "-f lavfi -i testsrc=size=320x200:rate=10:duration=2 -f lavfi -i sine=duration=9"
    path = _make(tmp_path / name, f"{sources} -pix_fmt yuv420p")
    reader = FfmpegFrames()
    info = reader.probe(path)
    assert info.duration == pytest.approx(2.0, abs=0.2) and info.has_audio
    assert reader.at(path, 8.0).shape == (200, 320, 3)


def test_chapters_kept_in_the_file(tmp_path: Path, clip: Path) -> None:
    marks = tmp_path / "marks.txt"
    chapters = "".join(
        f"[CHAPTER]\nTIMEBASE=1/1000\nSTART={a}\nEND={b}\ntitle={t}\n"
        for a, b, t in ((0, 500, "Start"), (500, 1000, "Save"))
    )
    marks.write_text(f";FFMETADATA1\n{chapters}")
    out = tmp_path / "chapters.mkv"
    command = ["ffmpeg", "-v", "error", "-i", str(clip), "-i", str(marks), "-map_metadata", "1", "-c", "copy", str(out)]
    subprocess.run(command, check=True)
    assert [(item.t_start, item.title) for item in FfmpegFrames().probe(out).chapters] == [
        (0.0, "Start"),
        (0.5, "Save"),
    ]
    assert FfmpegFrames().probe(clip).chapters == ()
