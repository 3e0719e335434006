"""Boundaries: bounded number, branches dropped, rotten ones passed over."""

from __future__ import annotations

from typing import Any

from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.propagation.collection.snapshots import Snapshots


def test_the_number_on_disk_is_bounded_and_start_and_newest_stay(editor: Any, reader: Any) -> None:
    snapshots = Snapshots(editor, "e", (), limit=3)
    for node in range(-1, 8):
        snapshots.take(node, max(0, node), (), ReplayPolicy(reader))
        assert len(editor.saved) <= 3
    assert "e-s0" in editor.saved
    assert "e-s8" in editor.saved
    assert [boundary.label for boundary in snapshots.usable()] == sorted(editor.saved)
    snapshots.close()
    assert editor.saved == {}


def test_going_back_drops_the_branch_and_two_failures_retire_a_boundary(editor: Any, reader: Any) -> None:
    snapshots = Snapshots(editor, "e", ())
    for node in (-1, 1, 3):
        snapshots.take(node, 0, (), ReplayPolicy(reader))
    snapshots.back_to("e-s1")
    assert sorted(editor.saved) == ["e-s0", "e-s1"]
    snapshots.back_to("e-s1")
    assert [boundary.label for boundary in snapshots.usable()] == ["e-s0"]
    for _ in range(3):
        snapshots.back_to("e-s0")
    assert [boundary.label for boundary in snapshots.usable()] == ["e-s0"], "the start is never given up"
