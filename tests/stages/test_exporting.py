"""Exports are written again only when what they are made of changed."""

from __future__ import annotations

from pathlib import Path

from cuamaster.adapters.stores.local import LocalStore
from cuamaster.records.episode import RoundPlan
from cuamaster.settings import Settings
from cuamaster.stages import export
from cuamaster.stages.planning import PLAN
from cuamaster.tables import Workspace, write_atomic


def test_the_next_rounds_plan_alone_changes_no_export(tmp_path: Path) -> None:
    workspace, settings = Workspace(tmp_path), Settings(workspace=tmp_path)
    workspace.round(1).stage("collect").close("nothing")
    first = export(workspace, LocalStore(workspace.blobs), settings)
    before = {path: path.stat().st_mtime_ns for path in workspace.exports.iterdir()}
    write_atomic(workspace.round(2).folder / PLAN, RoundPlan(round=2, cells=()).to_json().encode())
    assert export(workspace, LocalStore(workspace.blobs), settings) == first
    assert {path: path.stat().st_mtime_ns for path in workspace.exports.iterdir()} == before
