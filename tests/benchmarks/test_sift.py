"""The candidates that the benchmark of sifting generates are what `search` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchmarks
from cuamaster.records.video import Video
from cuamaster.seeding.taxonomy import load
from cuamaster.tables import Workspace


def test_generated_candidates_are_videos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(next(iter(benchmarks.__path__)))  # as for a script that is run there
    from benchmarks import sift

    folder = Workspace(tmp_path).round(1)
    truth = sift.fill(folder, sift.candidates(200, load()))
    videos = folder.stage("search").kept(Video)
    assert sorted(video.id for video in videos) == sorted(item[0] for item in truth)
