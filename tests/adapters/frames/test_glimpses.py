"""A decoder that computes too long is given up; one that the machine leaves no time says nothing about the recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuamaster.adapters.frames import glimpses
from cuamaster.errors import DecoderStarved

TAKE = glimpses.Take(1, 0.1, (4, 4))


def program(folder: Path, line: str) -> str:
    path = folder / "ffmpeg"
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return str(path)


def test_one_that_waits_is_starved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glimpses, "_WAIT", 0.001)
    with pytest.raises(DecoderStarved, match="the processor"):
        glimpses.scanned(program(tmp_path, "exec sleep 20"), tmp_path / "x.mp4", [0.0], TAKE)


def test_one_that_computes_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glimpses, "_SCAN_SECONDS", 1)
    assert glimpses.scanned(program(tmp_path, "while :; do :; done"), tmp_path / "x.mp4", [0.0], TAKE) == []
