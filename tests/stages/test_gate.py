"""What is no screen is not listened to, and those who judge and rebuild see the screen only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import cv2
import numpy as np

from cuamaster.adapters.frames.stills import StillFrames
from cuamaster.ports import Image, SeedingPorts
from cuamaster.records.trajectory import TextBox
from cuamaster.records.transcript import Sentence, Transcript
from cuamaster.records.video import Fingerprint, Judgement, Media, ScreenView, Video
from cuamaster.seeding.taxonomy import load
from cuamaster.stages import in_turn, watching
from cuamaster.tables import RoundFolder, Workspace

PATHS = (Path("screen.mp4"), Path("black.mp4"))


def picture(t: int) -> Image:
    """A tall frame; in its middle a window with lines of small text, one more every second."""
    frame = np.zeros((800, 640, 3), np.uint8)
    screen = np.full((400, 640, 3), 240, np.uint8)
    for row in range(8 + t):
        cv2.putText(
            screen, f"line {row} of the text", (130, 40 + 16 * row), cv2.FONT_HERSHEY_SIMPLEX, 0.3, (10, 10, 10)
        )
    cv2.rectangle(screen, (120, 20), (620, 380), (30, 30, 30), 1)
    cv2.rectangle(screen, (0, 0), (639, 14), (180, 90, 60), -1)
    cv2.line(screen, (110, 20), (110, 380), (30, 30, 30), 1)
    frame[200:600] = screen
    return frame


class Ports:
    """What the stages ask: a reader, a transcriber and an annotator that remember what they were given."""

    def __init__(self) -> None:
        black = np.zeros((400, 640, 3), np.uint8)
        films = {PATHS[0]: [(float(t), picture(t)) for t in range(6)], PATHS[1]: [(float(t), black) for t in range(6)]}
        self.frames, self.transcribers, self.annotator, self.reader = StillFrames(films), (self,), self, self
        self.name, self.heard, self.seen = "one", list[str](), list[tuple[int, ...]]()

    def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        return [TextBox(text="Some more words here", x0=0, y0=n, x1=9, y1=n + 12.0) for n in range(5)]

    def transcribe(self, media: Media, *, prompt: str = "") -> Transcript:
        self.heard.append(media.video_id)
        said = (Sentence(text="Click File.", start=1, end=2),)
        return Transcript(video_id=media.video_id, language="en", origin="vtt", sentences=said, trust=1.0)

    def score(self, video: Video, transcript: Transcript, frames: Sequence[tuple[float, Image]]) -> Judgement:
        self.seen += [frame.shape for _, frame in frames]
        return Judgement(
            suitability=5, has_computer_operation=True, reconstructible=True, clear_picture=True, reason="", annotator="one"
        )  # fmt: skip


def given(tmp_path: Path, ports: Ports) -> tuple[RoundFolder, list[str]]:
    folder = Workspace(tmp_path).round(1)
    videos = [Video(source="s", source_id=path.stem, url=f"https://x/{path}", title=path.stem) for path in PATHS]
    media = [
        Media(video_id=video.id, path=str(path), sha256=path.stem, info=ports.frames.probe(path))
        for video, path in zip(videos, PATHS, strict=True)
    ]
    folder.stage("screen").write("all", videos)
    folder.stage("fetch").write("all", media)
    folder.stage("distinct").write("all", [Fingerprint(video_id=video.id, duration=6.0, frames=()) for video in videos])
    return folder, [video.id for video in videos]


def test_only_screens_are_heard_and_seen(tmp_path: Path) -> None:
    ports: Any = Ports()
    folder, (screen, black) = given(tmp_path, ports)
    watching.gate(folder, cast(SeedingPorts, SimpleNamespace(**vars(ports))), in_turn)
    (view,) = folder.stage("gate").kept(ScreenView)
    assert (view.video_id, view.region, view.camera, view.text_height) == (screen, (0, 200, 640, 600), None, 12.0)
    (dropped,) = folder.stage("gate").dropped()
    assert (dropped.item_id, dropped.reason) == (black, "blank")
    watching.transcribe(folder, ports, load(), in_turn)
    watching.score(folder, ports, in_turn)
    assert ports.heard == [screen]
    assert set(ports.seen) == {(400, 640, 3)}
