"""Folders change in one step, and records are found on disk."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from cuamaster.errors import IntegrityError
from cuamaster.records.episode import Dropped
from cuamaster.tables import Rows, Shelf, atomic_file, publish, restore, table_of, write_atomic
from cuamaster.tables import files as module
from cuamaster.tables.files import parquet


def folder(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "file").write_text(text)
    return path


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_takes_the_place_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool) -> None:
    if not exchange:
        monkeypatch.setattr(module, "_exchange", lambda one, other: False)
    target = tmp_path / "data"
    publish(folder(tmp_path / "draft", "first"), target)
    publish(folder(tmp_path / "draft", "second"), target)
    assert (target / "file").read_text() == "second" and [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_replacement_that_was_cut_off_is_undone(tmp_path: Path) -> None:
    target = folder(tmp_path / "data", "old")
    target.rename(tmp_path / ".data.previous")  # killed between the two renames
    restore(target)
    assert (target / "file").read_text() == "old"
    folder(tmp_path / ".data.previous", "older")  # killed after them
    restore(target)
    assert (target / "file").read_text() == "old" and not (tmp_path / ".data.previous").exists()


def test_a_file_that_was_not_finished_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), atomic_file(tmp_path / "a") as file:
        file.write(b"half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_shelf_gives_back_what_was_put_last() -> None:
    with Shelf(Dropped) as shelf:
        for number in range(200):
            shelf.put(f"key {number}", Dropped(item_id=str(number), stage="s", reason="é" * number or "r"))
        assert shelf.get("key 150") == Dropped(item_id="150", stage="s", reason="é" * 150)
        newer = Dropped(item_id="150", stage="t", reason="r")
        shelf.put("key 150", newer)
        assert shelf.get("key 150") == newer and shelf.get("none") is None and len(shelf) == 200


def test_rows_are_read_anew_and_say_what_is_wrong(tmp_path: Path) -> None:
    drop = Dropped(item_id="i", stage="s", reason="r")
    path = tmp_path / "kept.parquet"
    table = table_of([drop], Dropped)
    write_atomic(path, parquet(table))
    rows = Rows([path], Dropped)
    assert list(rows) == list(rows) == [drop]
    write_atomic(path, parquet(table.append_column("mood", pa.array(["fine"]))))
    with pytest.raises(IntegrityError, match=r"Dropped has no mood .*upgrade"):
        list(rows)
    path.unlink()
    with pytest.raises(IntegrityError, match="removed while"):
        list(rows)
