"""Re-uploads under another title are told by their pictures after the fetch; what a person pointed to is taken, copy or not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from cuamaster.ports import Image, SeedingPorts
from cuamaster.records.video import Fingerprint, Media, MediaInfo, Video
from cuamaster.stages import fetching, in_turn
from cuamaster.tables import Workspace


class Drawn:
    """Frames drawn from a seed in the file's name: the same seed, the same pictures."""

    def at(self, path: Path, t: float) -> Image:
        random = np.random.default_rng([int(path.stem.split("-")[0]), int(t)])
        picture = np.full((360, 640, 3), 230, np.uint8)
        for row in range(10):
            start = random.integers(10, 300)
            picture[20 + 30 * row : 32 + 30 * row, start : start + random.integers(40, 300)] = 30
        return picture


def test_the_first_upload_stays(tmp_path: Path) -> None:
    folder = Workspace(tmp_path).round(1)
    rows: list[tuple[str, float, dict[str, Any]]] = [
        ("1-late", 60.0, {"upload_date": "2021-01-01", "query": "q"}), ("1-first", 60.2, {"upload_date": "2020-01-01", "query": "q"}),
        ("1-cut", 40.0, {"query": "q"}), ("2-other", 60.0, {"query": "q"}), ("1-mine", 60.0, {"upload_date": "2022-01-01"}),
    ]  # fmt: skip
    videos = [
        Video(source="s", source_id=name, url=f"https://x/{name}", title=name, **fields) for name, _, fields in rows
    ]
    media = [
        Media(video_id=video.id, path=f"{name}.mp4", sha256=name, info=MediaInfo(duration=length, fps=30, width=640, height=360, has_audio=True))
        for video, (name, length, _) in zip(videos, rows, strict=True)
    ]  # fmt: skip
    folder.stage("screen").write("all", videos)
    folder.stage("fetch").write("all", media)
    fetching.fingerprint(folder, cast(SeedingPorts, SimpleNamespace(frames=Drawn())), in_turn)
    names = {video.id: video.source_id for video in videos}
    stage = folder.stage("distinct")
    assert {names[item.video_id] for item in stage.kept(Fingerprint)} == {"1-first", "1-cut", "2-other", "1-mine"}
    (dropped,) = stage.dropped()
    assert (names[dropped.item_id], dropped.reason) == (
        "1-late",
        "duplicate-recording",
    ) and "https://x/1-first" in dropped.detail
