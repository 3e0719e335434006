"""Recordings through ffmpeg: probe, sample, one frame, sound, cut; every failure is a MediaError with a stable reason.

Reasons: missing-file, empty-file, unreadable, no-video-stream, no-audio-stream, decode-failed. Pixels are RGB uint8 of shape
(height, width, 3), turned upright as players show them (phone recordings carry a rotation).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cuamaster.adapters.frames.glimpses import FEW, SCANNED_SECONDS, SHORT_SECONDS, Take, moments, scanned
from cuamaster.errors import DecoderStarved, MediaError, MissingDependency
from cuamaster.ports import Glimpse, Image
from cuamaster.records.chapters import listed_chapters
from cuamaster.records.video import MediaInfo

_SPEECH_RATE = 16000
LONGER_SOUND = 1.0
"""Seconds by which sound may outlast the picture as a matter of course: encoders fill up their last block."""
_PROBE_SECONDS = 600.0


class FfmpegFrames:
    """FrameReader port over the ffmpeg and ffprobe programs."""

    def __init__(self, ffmpeg: str = "ffmpeg", ffprobe: str = "ffprobe") -> None:
        """Names or paths of the two programs; they are looked up at the first use."""
        self._ffmpeg, self._ffprobe = ffmpeg, ffprobe
        self._known: dict[tuple[Path, int, int], MediaInfo] = {}

    def probe(self, path: Path) -> MediaInfo:
        """Facts about a file; raises MediaError, also when it has no video stream. Missing sound is no error here."""
        key = self._key(path)
        if key not in self._known:
            self._known[key] = self._probe(path)
        return self._known[key]

    def sample(
        self, path: Path, *, fps: float, t_start: float = 0.0, t_end: float | None = None
    ) -> Iterator[tuple[float, Image]]:
        """Frames at `fps` from `t_start` (seconds) up to `t_end`, decoded one by one while they are consumed."""
        import ffmpeg

        info = self.probe(path)
        seek: dict[str, Any] = {"ss": f"{max(0.0, t_start):.3f}"}
        if t_end is not None:
            seek["t"] = f"{max(0.0, t_end - max(0.0, t_start)):.3f}"
        stream = ffmpeg.input(str(path), **seek).filter("fps", fps=fps, start_time=0)
        command = self._command(stream.output("pipe:", format="rawvideo", pix_fmt="rgb24"))
        for index, image in enumerate(self._pictures(command, path, info)):
            yield max(0.0, t_start) + index / fps, image

    def at(self, path: Path, t: float) -> Image:
        """The frame shown at `t` seconds; a time past the end gives the last frame."""
        import ffmpeg

        info = self.probe(path)
        last = max(0.0, info.duration - 1.0 / max(info.fps, 1.0))
        for seconds in (min(max(0.0, t), last), max(0.0, last - 0.5), 0.0):  # sound may outlast the picture
            stream = ffmpeg.input(str(path), ss=f"{seconds:.3f}").video
            command = self._command(stream.output("pipe:", format="rawvideo", pix_fmt="rgb24", vframes=1))
            for image in self._pictures(command, path, info):
                return image
        raise MediaError(f"{path}: no frame could be decoded at {t:.2f} s", reason="decode-failed")

    def glimpses(self, path: Path, times: Sequence[float], *, count: int, apart: float, longest: int) -> list[Glimpse]:
        """Of a short recording in one pass, of others at the key frames before `times`; raises MediaError if none is found."""
        info = self.probe(path)
        program, take = self._program(self._ffmpeg), Take(count, apart, info.within(longest))
        found = scanned(program, path, times, take) if info.duration <= SHORT_SECONDS else []
        if not found:
            found = moments(program, path, times, take)
        if len(found) < min(len(times), FEW) and SHORT_SECONDS < info.duration <= SCANNED_SECONDS:
            found = scanned(program, path, times, take) or found
        if not found:
            raise MediaError(f"{path}: no frame could be decoded", reason="decode-failed")
        return found

    def audio(self, path: Path, out: Path) -> Path:
        """Write the sound as 16 kHz mono WAV; raises MediaError(reason="no-audio-stream") when there is none."""
        import ffmpeg

        if not self.probe(path).has_audio:
            raise MediaError(f"{path}: the recording has no sound", reason="no-audio-stream", hint="give it captions")
        stream = ffmpeg.input(str(path)).audio
        self._write(stream.output(str(out), ac=1, ar=_SPEECH_RATE, format="wav"), path)
        return out

    def cut(self, path: Path, t_start: float, t_end: float, out: Path) -> Path:
        """Write [t_start, t_end] seconds of the recording to `out`, re-encoded so that the cut is exact."""
        import ffmpeg

        self.probe(path)
        stream = ffmpeg.input(str(path), ss=f"{t_start:.3f}", t=f"{t_end - t_start:.3f}")
        self._write(stream.output(str(out), preset="veryfast", crf=20, pix_fmt="yuv420p", movflags="+faststart"), path)
        return out

    # -- corridors --------------------------------------------------------------------------------------------------

    @staticmethod
    def _key(path: Path) -> tuple[Path, int, int]:
        try:
            stat = path.stat()
        except OSError as exc:
            raise MediaError(f"{path}: {exc.strerror}", reason="missing-file") from exc
        if stat.st_size == 0:
            raise MediaError(f"{path}: the file is empty", reason="empty-file", hint="download it again")
        return path.resolve(), stat.st_size, stat.st_mtime_ns

    def _program(self, name: str) -> str:
        found = shutil.which(name)
        if found is None:
            raise MissingDependency(f"{name} is not installed", hint="on Debian: apt-get install ffmpeg")
        return found

    def _probe(self, path: Path) -> MediaInfo:
        command = [
            self._program(self._ffprobe),
            "-v",
            "error",
            "-show_format",
            "-show_streams",
            "-show_chapters",
            "-of",
            "json",
            str(path),
        ]
        try:
            answer = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=_PROBE_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as exc:
            raise DecoderStarved(
                f"{path}: ffprobe gave no answer in {_PROBE_SECONDS:.0f} s",
                hint="run it again when the machine is less busy, or from a disk that answers",
            ) from exc
        if answer.returncode != 0:
            raise MediaError(f"{path}: not a readable recording: {_last_line(answer.stderr)}", reason="unreadable")
        facts = json.loads(answer.stdout)
        streams = facts.get("streams", [])
        videos = [
            s for s in streams if s.get("codec_type") == "video" and not s.get("disposition", {}).get("attached_pic")
        ]
        if not videos:
            raise MediaError(
                f"{path}: there is no picture in it", reason="no-video-stream", hint="a screen recording is needed"
            )
        video = videos[0]
        width, height = int(video.get("width", 0)), int(video.get("height", 0))
        if width <= 0 or height <= 0:
            raise MediaError(f"{path}: the video stream has no size", reason="unreadable")
        if _quarter_turned(video):
            width, height = height, width
        whole, picture = _number(facts.get("format", {}).get("duration")), _seconds_of(video)
        if picture and whole - picture > LONGER_SOUND:
            whole = picture  # what is said after the picture has ended describes nothing that can be seen
        duration = whole or picture or self._count(path)
        return MediaInfo(
            duration=duration,
            fps=_ratio(video.get("avg_frame_rate")) or _ratio(video.get("r_frame_rate")) or 1.0,
            width=width,
            height=height,
            has_audio=any(stream.get("codec_type") == "audio" for stream in streams),
            chapters=listed_chapters(facts.get("chapters")),
        )

    def _count(self, path: Path) -> float:
        """Length of a file whose container does not say it (a recorder that was killed): read its packets."""
        command = [
            self._program(self._ffprobe),
            "-v",
            "error",
            "-select_streams",
            "v:0",
            "-show_entries",
            "packet=pts_time",
        ]
        answer = subprocess.run([*command, "-of", "csv=p=0", str(path)], capture_output=True, text=True, check=False)
        times = [_number(line.strip(",")) for line in answer.stdout.split()]
        if not times:
            raise MediaError(f"{path}: no picture could be read from it", reason="unreadable")
        return max(times)

    def _command(self, output: Any) -> list[str]:
        arguments: list[str] = output.global_args("-nostdin", "-v", "error").compile(
            cmd=self._program(self._ffmpeg), overwrite_output=True
        )
        return arguments

    def _pictures(self, command: Sequence[str], path: Path, info: MediaInfo) -> Iterator[Image]:
        size = info.width * info.height * 3
        with tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=complaints, stdin=subprocess.DEVNULL, bufsize=size
            )
            if process.stdout is None:  # cannot be: a pipe was asked for
                raise MediaError(f"{path}: ffmpeg gave no pipe", reason="decode-failed")
            count, ended = 0, False
            try:
                while len(data := process.stdout.read(size)) == size:
                    count += 1
                    yield np.frombuffer(data, np.uint8).reshape(info.height, info.width, 3)
                ended = True
            finally:
                process.stdout.close()
                if not ended:  # the caller had enough
                    process.kill()
                process.wait()
            complaints.seek(0)
            message = _last_line(complaints.read().decode(errors="replace"))
        if message and ended and count == 0:  # a seek past the last frame ends without a word
            raise MediaError(f"{path}: decoding failed: {message}", reason="decode-failed")

    def _write(self, output: Any, path: Path) -> None:
        answer = subprocess.run(self._command(output), capture_output=True, text=True, errors="replace", check=False)
        if answer.returncode != 0:
            raise MediaError(f"{path}: ffmpeg failed: {_last_line(answer.stderr)}", reason="decode-failed")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:300] if lines else ""


def _seconds_of(stream: dict[str, Any]) -> float:
    """A stream's own length; Matroska and WebM write it as a tag `00:01:02.500000000`. 0 where it is not told."""
    told = _number(stream.get("duration"))
    hours, _, rest = str(stream.get("tags", {}).get("DURATION", "")).partition(":")
    minutes, _, seconds = rest.partition(":")
    return told or _number(hours) * 3600 + _number(minutes) * 60 + _number(seconds)


def _number(text: Any) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return 0.0
    return value if value > 0 else 0.0


def _ratio(text: Any) -> float:
    top, _, bottom = str(text or "").partition("/")
    return _number(top) / (_number(bottom) or 1.0)


def _quarter_turned(video: dict[str, Any]) -> bool:
    turns = [video.get("tags", {}).get("rotate"), *(data.get("rotation") for data in video.get("side_data_list", []))]
    return any(abs(int(float(turn))) % 180 == 90 for turn in turns if turn is not None)
