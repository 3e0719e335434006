"""Boundaries: bounded number, branches dropped, rotten ones passed over."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.errors import NoRoom, StateDrift
from cuamaster.propagation.collection.doubts import MAX_ATTEMPTS
from cuamaster.propagation.collection.snapshots import Snapshots
from cuamaster.records.condition import FileText, WindowTitle


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


def test_each_boundary_knows_its_parent_and_what_it_takes(editor: Any, reader: Any) -> None:
    snapshots = Snapshots(editor, "e", ())
    start, first, second = (snapshots.take(node, 0, (), ReplayPolicy(reader)) for node in (-1, 1, 3))
    assert (start.parent, first.parent, second.parent) == ("", "e-s0", "e-s1")
    assert first.bytes == 100
    snapshots.back_to("e-s1")
    assert snapshots.take(5, 0, (), ReplayPolicy(reader)).parent == "e-s1", "a branch beside e-s2"


def test_the_disk_budget_is_kept_and_start_and_newest_stay(editor: Any, reader: Any) -> None:
    snapshots = Snapshots(editor, "e", (), limit=50, disk_budget=350)
    for node in range(-1, 8):
        snapshots.take(node, 0, (), ReplayPolicy(reader))
    assert len(editor.saved) == 3
    assert {"e-s0", "e-s8"} <= set(editor.saved)
    editor.snapshot_bytes = 1000
    snapshots.take(9, 0, (), ReplayPolicy(reader))
    assert sorted(editor.saved) == ["e-s0", "e-s9"]


def test_a_full_disk_costs_older_snapshots_first(editor: Any, reader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots = Snapshots(editor, "e", ())
    for node in (-1, 1, 3):
        snapshots.take(node, 0, (), ReplayPolicy(reader))
    real = editor.snapshot

    def full(label: str, files: Any = ()) -> Any:
        if len(editor.saved) >= room:
            raise NoRoom("no space left")
        return real(label, files)

    monkeypatch.setattr(editor, "snapshot", full)
    room = 2
    assert snapshots.take(5, 0, (), ReplayPolicy(reader)).label in editor.saved
    assert len(editor.saved) == 2
    assert "e-s0" in editor.saved
    room = 0
    with pytest.raises(NoRoom):
        snapshots.take(7, 0, (), ReplayPolicy(reader))
    assert "e-s0" in editor.saved, "the start is never given up"


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


def test_a_second_failure_with_nothing_new_retires_the_newest_boundary_at_once(editor: Any, reader: Any) -> None:
    snapshots = Snapshots(editor, "e", ())
    for node in (-1, 1):
        snapshots.take(node, 0, (), ReplayPolicy(reader))
    one, two = FileText(path="~/a", text="x"), WindowTitle(title="y")
    assert len(snapshots.usable(frozenset({one}))) == 2
    snapshots.back_to("e-s1", frozenset({one}))
    assert [boundary.label for boundary in snapshots.usable(frozenset({one, two}))] == ["e-s0", "e-s1"], (
        "something else went wrong now"
    )
    assert [boundary.label for boundary in snapshots.usable(frozenset({one}))] == ["e-s0"]


def test_a_failure_that_comes_back_is_undone_twice_as_far_until_it_is_overcome(editor: Any, reader: Any) -> None:
    """What harmed it left no trace: nobody knows where it lies."""
    snapshots = Snapshots(editor, "e", (), limit=50)
    failed = frozenset({FileText(path="~/a", text="x")})
    for use in range(12):
        snapshots.take(use - 1, use, (), ReplayPolicy(reader))
    uses = []
    for _ in range(6):
        back = snapshots.back_to(snapshots.usable(failed)[-1].label, failed)
        uses.append(back.use)
        for use in range(back.use + 1, 12):
            snapshots.take(use - 1, use, (), ReplayPolicy(reader))
    assert uses == [11, 10, 8, 4, 0, 11], "after all was done anew it is a new failure"
    other = frozenset({WindowTitle(title="y")})
    assert snapshots.usable(other)[-1].use == 11, "another failure is located by itself"
    snapshots.take(11, 12, (), ReplayPolicy(reader))
    assert snapshots.usable(failed)[-1].use == 12, "it got further"


def test_a_policy_that_left_the_plan_puts_its_boundary_in_doubt_only_at_last(editor: Any, reader: Any) -> None:
    snapshots = Snapshots(editor, "e", ())
    for node in (-1, 1):
        snapshots.take(node, 0, (), ReplayPolicy(reader))
    failed = frozenset({FileText(path="~/a", text="x")})
    for _ in range(MAX_ATTEMPTS):
        assert [boundary.label for boundary in snapshots.usable(failed)] == ["e-s0", "e-s1"]
        snapshots.back_to("e-s1", failed, departed=True, slipped=True)
    assert [boundary.label for boundary in snapshots.usable(failed)] == ["e-s0"]


def test_a_desktop_that_is_still_moving_is_given_time(
    editor: Any, reader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = editor.snapshot, []

    def moving(label: str, files: Any = ()) -> Any:
        calls.append(label)
        if len(calls) < limit:
            raise StateDrift("a window opened meanwhile")
        return real(label, files)

    monkeypatch.setattr(editor, "snapshot", moving)
    limit = 3
    assert Snapshots(editor, "e", ()).take(-1, 0, (), ReplayPolicy(reader)).label == "e-s0"
    limit = 99
    with pytest.raises(StateDrift):
        Snapshots(editor, "f", ()).take(-1, 0, (), ReplayPolicy(reader))


def test_kept_boundaries_stand_close_at_the_end_and_all_are_remembered(editor: Any, reader: Any) -> None:
    snapshots = Snapshots(editor, "e", (), limit=6)
    for node in range(-1, 40):
        snapshots.take(node, node + 1, (), ReplayPolicy(reader))
    nodes = [boundary.node for boundary in snapshots.usable()]
    gaps = [after - before for before, after in pairwise(nodes)]
    assert nodes[0] == -1 and nodes[-1] == 39
    assert gaps[-1] == 1 and gaps == sorted(gaps, reverse=True), gaps
    assert [boundary.node for boundary in snapshots.history] == list(range(-1, 40))
    back = snapshots.back_to(snapshots.usable()[2].label)
    assert [boundary.node for boundary in snapshots.history] == list(range(-1, back.node + 1))
