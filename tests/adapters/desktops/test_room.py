"""Another guest starts only where it fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuamaster.adapters.desktops import room


def test_memory_and_disk_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  9000000 kB\nMemAvailable:  1048576 kB\n")
    monkeypatch.setattr(room, "CLONE_DISK_MIB", 1)
    assert room.obstacle(tmp_path, 1024, meminfo=meminfo) is None
    assert "memory" in (room.obstacle(tmp_path, 4096, meminfo=meminfo) or "")
    monkeypatch.setattr(room, "CLONE_DISK_MIB", 1 << 40)
    assert "free under" in (room.obstacle(tmp_path, 1024, meminfo=meminfo) or "")
