"""Exports are written again only when what they are made of changed, and replaced as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuamaster.adapters.stores.local import LocalStore
from cuamaster.errors import IntegrityError
from cuamaster.exports.preflight import Problem
from cuamaster.records.episode import RoundPlan
from cuamaster.settings import Settings
from cuamaster.stages import export
from cuamaster.stages.exporting import DRAFT, exported
from cuamaster.stages.planning import PLAN
from cuamaster.tables import FileEntry, Workspace, write_atomic


def test_the_next_rounds_plan_alone_changes_no_export(tmp_path: Path) -> None:
    workspace, settings = Workspace(tmp_path), Settings(workspace=tmp_path)
    workspace.round(1).stage("collect").close("nothing")
    first = export(workspace, LocalStore(workspace.blobs), settings)
    before = {path: path.stat().st_mtime_ns for path in workspace.exports.iterdir()}
    write_atomic(workspace.round(2).folder / PLAN, RoundPlan(round=2, cells=()).to_json().encode())
    assert export(workspace, LocalStore(workspace.blobs), settings) == first
    assert {path: path.stat().st_mtime_ns for path in workspace.exports.iterdir()} == before


def test_what_somebody_put_beside_the_exports_stays(tmp_path: Path) -> None:
    workspace, settings = Workspace(tmp_path), Settings(workspace=tmp_path)
    export(workspace, LocalStore(workspace.blobs), settings)
    notes = workspace.exports / "notes.txt"
    notes.write_text("mine")
    workspace.round(1).stage("collect").close("nothing")
    export(workspace, LocalStore(workspace.blobs), settings)
    assert notes.read_text() == "mine" and not (tmp_path / DRAFT).exists()
    assert {"sft.parquet", "unproven.parquet", "rl.parquet", "README.md", "manifest.json"} < {
        path.name for path in workspace.exports.iterdir()
    }


def test_what_the_check_refuses_replaces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, settings = Workspace(tmp_path), Settings(workspace=tmp_path)
    export(workspace, LocalStore(workspace.blobs), settings)
    before = {path: path.read_bytes() for path in workspace.exports.iterdir()}
    workspace.round(1).stage("collect").close("nothing")
    fault = Problem(file="sft.parquet", row="", check="schema", detail="wrong")
    with monkeypatch.context() as patched:
        patched.setattr("cuamaster.stages.exporting.preflight", lambda folder: [fault])
        with pytest.raises(IntegrityError, match="exports-draft: 1 faults"):
            export(workspace, LocalStore(workspace.blobs), settings)
    assert {path: path.read_bytes() for path in workspace.exports.iterdir()} == before
    assert (tmp_path / DRAFT / "sft.parquet").exists()  # for a look
    export(workspace, LocalStore(workspace.blobs), settings)
    assert not (tmp_path / DRAFT).exists() and exported(workspace) is not None


def test_an_error_leaves_no_draft(tmp_path: Path) -> None:
    workspace, settings = Workspace(tmp_path), Settings(workspace=tmp_path)
    stage = workspace.round(1).stage("collect")
    stage.close("nothing")
    (stage.folder / "kept-00000.parquet").write_bytes(b"PAR1")
    manifest = stage.manifest()
    assert manifest is not None
    entry = FileEntry(name="kept-00000.parquet", rows=1, bytes=4, sha256="0" * 64)
    write_atomic(stage.folder / "manifest.json", manifest.model_copy(update={"files": (entry,)}).to_json().encode())
    with pytest.raises(IntegrityError, match="kept-00000"):
        export(workspace, LocalStore(workspace.blobs), settings)
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} == {"round=001"}
