"""The JSONL journal: durable lines, torn ends mended, a full disk told and nothing half-written."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.errors import IntegrityError, StoreFull


def test_events_come_back_in_order_also_for_another_reader(tmp_path: Path) -> None:
    journal = JsonlJournal(tmp_path / "deep" / "journal.jsonl")
    assert journal.events() == []
    for number in range(3):
        journal.append({"n": number, "text": "naïve\n☕"})
    assert JsonlJournal(journal.path).events() == journal.events() == [{"n": n, "text": "naïve\n☕"} for n in range(3)]


@pytest.mark.parametrize("keep", [1, 5, 12])
def test_a_torn_last_line_is_ignored_and_the_next_append_is_whole(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "journal.jsonl"
    JsonlJournal(path).append({"n": 0})
    with path.open("ab") as file:
        file.write(b'{"n": 1, "text": "torn"}'[:keep])
    journal = JsonlJournal(path)
    assert journal.events() == [{"n": 0}]
    journal.append({"n": 2})
    assert journal.events() == [{"n": 0}, {"n": 2}]


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"n": 0}\nnot json\n{"n": 2}\n')
    with pytest.raises(IntegrityError, match=r"journal.jsonl:2"):
        JsonlJournal(path).events()


def test_a_disk_that_fills_up_in_mid_line_leaves_no_half_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = JsonlJournal(tmp_path / "journal.jsonl")
    journal.append({"n": 0})
    real = os.write
    calls: list[int] = []

    def filling(descriptor: int, data: Any) -> int:
        calls.append(len(data))
        if len(calls) == 1:
            return real(descriptor, bytes(data)[:4])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", filling)
    with pytest.raises(StoreFull, match=r"journal.jsonl"):
        journal.append({"n": 1})
    monkeypatch.undo()
    journal.append({"n": 2})
    assert journal.events() == [{"n": 0}, {"n": 2}]


def test_a_full_device_is_store_full(tmp_path: Path) -> None:
    journal = JsonlJournal(tmp_path / "journal.jsonl")
    journal.path.unlink()
    journal.path.symlink_to("/dev/full")
    with pytest.raises(StoreFull):
        journal.append({"n": 0})
