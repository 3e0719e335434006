"""Seals: truncated, changed and missing files are told, copies with the same bytes are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cuamaster.adapters.desktops.libvirt_golden import FILES, usable
from cuamaster.adapters.desktops.libvirt_seal import SEAL, damage, seal


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    (tmp_path / "memory.img").write_bytes(b"\0" * 5000 + b"memory")
    (tmp_path / "disk.qcow2").write_bytes(b"disk" * 100)
    seal(tmp_path, ("memory.img", "disk.qcow2"))
    return tmp_path


def test_untouched_files_are_whole(sealed: Path) -> None:
    assert damage(sealed) is None


def test_a_truncated_a_changed_and_a_missing_file_are_told(sealed: Path) -> None:
    with (sealed / "memory.img").open("r+b") as file:
        file.truncate(5000)
    assert damage(sealed) == "memory.img has 5000 bytes instead of 5006"
    (sealed / "memory.img").write_bytes(b"\0" * 5000 + b"memorY")
    assert damage(sealed) == "the contents of memory.img were changed"
    (sealed / "memory.img").unlink()
    assert damage(sealed) == "memory.img is missing"


def test_a_copy_with_the_same_bytes_is_accepted_and_not_read_again(sealed: Path) -> None:
    os.utime(sealed / "disk.qcow2", ns=(1, 1))
    assert damage(sealed) is None
    assert '"changed_ns": 1\n' in (sealed / SEAL).read_text() or '"changed_ns": 1,' in (sealed / SEAL).read_text()


def test_a_torn_seal_is_damage(sealed: Path) -> None:
    (sealed / SEAL).write_text("{")
    assert "not readable" in str(damage(sealed))


def test_a_damaged_golden_snapshot_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in FILES:
        (tmp_path / name).write_bytes(name.encode() * 100)
    assert usable(tmp_path), "one from before seals is sealed as it is found"
    os.truncate(tmp_path / "memory.img", 10)
    assert not usable(tmp_path)
    assert "memory.img has 10 bytes" in caplog.text
    (tmp_path / "memory.img").unlink()
    assert not usable(tmp_path)
