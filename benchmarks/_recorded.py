"""A recording with its truth as the seeding stages meet it: what the benchmarks of mining and of reconstruction share."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cuamaster.adapters.frames.ffmpeg import FfmpegFrames
from cuamaster.adapters.videos.metadata import video_from_info
from cuamaster.assets import samples_folder
from cuamaster.ports import ScreenReader
from cuamaster.records.video import Media, ScreenView, Video
from cuamaster.seeding.screen_gate import gate

FRAMES = FfmpegFrames()


@dataclass(frozen=True)
class Recorded:
    """A folder with tutorial.mp4, truth.json and perhaps captions and info.json: its truth, and the records that stages are given."""

    name: str
    set: str
    truth: dict[str, Any]
    video: Video
    media: Media


def opened(folder: Path) -> Recorded:
    """The recording of a folder; without info.json it is called like the folder."""
    path, name = folder / "tutorial.mp4", folder.resolve().name
    described = folder / "info.json"
    info = json.loads(described.read_text()) if described.exists() else {"title": name, "description": ""}
    captions = tuple(str(file) for file in sorted(folder.glob("tutorial*.vtt")))
    media = Media(video_id="bench", path=str(path), sha256="", captions=captions, info=FRAMES.probe(path))
    video = video_from_info(info, source="local", source_id=name, url=folder.resolve().as_uri())
    truth = json.loads((folder / "truth.json").read_text())
    return Recorded(name, set_of(folder), truth, video.model_copy(update={"duration": media.info.duration}), media)


def set_of(folder: Path) -> str:
    """development | held-out as its scenario says, bundled for the product's own tutorials, else given."""
    scenario = folder / "scenario.yaml"
    if folder.resolve().is_relative_to(samples_folder().resolve()):
        return "bundled"
    return str(yaml.safe_load(scenario.read_text()).get("set", "given")) if scenario.exists() else "given"


def screen_of(media: Media, reader: ScreenReader) -> tuple[ScreenView | None, str]:
    """Where the screen gate sees the screen; or None, and its reason."""
    kept, dropped = gate(media, frames=FRAMES, reader=reader)
    return (kept[0], "") if kept else (None, f"{dropped[0].reason}: {dropped[0].detail}")
