"""Imports into a round: they add up, resume, are exported as unproven, and say what could not be mapped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cuamaster.adapters.stores.local import LocalStore
from cuamaster.errors import InvalidInput
from cuamaster.importers.found import Found
from cuamaster.settings import Settings
from cuamaster.stages import export, import_agentnet, import_osworld, imported_tasks, importing
from cuamaster.tables import RoundFolder, Workspace

DATA = Path(__file__).parents[1] / "importers" / "data"
OSWORLD = DATA / "osworld"
AGENTNET = DATA / "agentnet" / "agentnet_ubuntu.jsonl"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "workspace")


@pytest.fixture
def folder(workspace: Workspace) -> RoundFolder:
    return workspace.round(1)


@pytest.fixture
def store(workspace: Workspace) -> LocalStore:
    return LocalStore(workspace.blobs)


def test_two_datasets_add_up_and_nothing_is_done_twice(folder: RoundFolder, store: LocalStore) -> None:
    first = import_agentnet(folder, AGENTNET, store)
    assert (first.records, first.trajectories, first.dropped, first.already) == (7, 2, 5, 0)
    again = import_agentnet(folder, AGENTNET, store)
    assert (again.records, again.trajectories, again.dropped, again.already) == (7, 0, 0, 7)
    other = import_osworld(
        folder, [OSWORLD / "examples", OSWORLD / "results"], store, image="i", files=OSWORLD / "files"
    )
    assert (other.tasks, other.trajectories, other.dropped) == (7, 2, 4)
    assert len(imported_tasks(folder)) == 7
    assert len(importing.imported_trajectories(folder)) == 4
    assert len(folder.stage(importing.TASKS).dropped()) == 5  # one task has three reasons


def test_the_reasons_are_counted_by_name(folder: RoundFolder, store: LocalStore) -> None:
    done = import_osworld(folder, [OSWORLD / "examples"], store, image="i", files=OSWORLD / "files")
    assert ("unsupported-evaluator", "compare_docx_files", 1) in done.reasons
    assert ("unsupported-config", "chrome_open_tabs", 1) in done.reasons


def test_files_that_arrive_later_complete_the_tasks(folder: RoundFolder, store: LocalStore) -> None:
    without = import_osworld(folder, [OSWORLD / "examples"], store, image="i")
    assert without.tasks == 4
    with_files = import_osworld(folder, [OSWORLD / "examples"], store, image="i", files=OSWORLD / "files")
    assert with_files.tasks == 7
    assert len(imported_tasks(folder)) == 7


def test_an_interrupted_import_goes_on(
    folder: RoundFolder, store: LocalStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(AGENTNET.parent, tmp_path / "agentnet"))
    write = type(folder.stage("x")).write
    written: list[str] = []

    def killed(self: object, item: str, *rows: object) -> None:
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(item)
        write(self, item, *rows)  # type: ignore[arg-type]

    monkeypatch.setattr(type(folder.stage("x")), "write", killed)
    with pytest.raises(KeyboardInterrupt):
        import_agentnet(folder, copy / AGENTNET.name, store)
    monkeypatch.undo()
    (copy / "images" / "ea83c4aa-0.png").write_bytes(b"what was read before is not read again")
    done = import_agentnet(folder, copy / AGENTNET.name, store)
    assert (done.already, done.records) == (3, 7)
    whole = importing.imported_trajectories(folder)
    assert len(whole) == 1  # the second recording needs the picture that is damaged now
    assert [row.reason for row in folder.stage(importing.TRAJECTORIES).dropped()].count(
        "bad-picture"
    ) == 2  # and so does the one with odd code


def test_imported_trajectories_are_exported_as_unproven(
    workspace: Workspace, folder: RoundFolder, store: LocalStore
) -> None:
    import_agentnet(folder, AGENTNET, store, license_name="MIT")
    files = {Path(file.name).name: file for file in export(workspace, store, Settings(workspace=workspace.root))}
    assert files["sft.parquet"].rows == 0
    rows = pq.read_table(workspace.exports / "unproven.parquet").to_pylist()
    assert len(rows) == 2
    assert {(row["source"], row["policy"], row["reason"], row["license"]) for row in rows} == {
        ("imported", "imported:agentnet", "no-verifier", "MIT")
    }
    assert json.loads(rows[0]["lineage_json"])[0]["source"].startswith("agentnet:")
    assert all(row["apps"] == [] for row in rows)


def test_a_record_without_anything_is_still_finished(folder: RoundFolder) -> None:
    done = importing._import(folder, "", lambda skip: iter([Found("x"), Found("x")]))
    assert (done.records, done.dropped, done.already) == (2, 1, 1)


def test_a_folder_that_is_not_there_is_told_before_anything_is_read(folder: RoundFolder, store: LocalStore) -> None:
    with pytest.raises(InvalidInput, match="--images"):
        import_agentnet(folder, AGENTNET, store, images=DATA / "absent")
    with pytest.raises(InvalidInput, match="--files"):
        import_osworld(folder, [OSWORLD], store, image="i", files=AGENTNET)
    assert folder.stages() == []
