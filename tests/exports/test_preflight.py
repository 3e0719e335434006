"""Every kind of damage is found, and the card says what is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cuamaster.exports.card import write_card
from cuamaster.exports.columns import RL, SFT, schema
from cuamaster.exports.preflight import preflight
from cuamaster.exports.rl import write_rl
from cuamaster.exports.samples import RoundData
from cuamaster.exports.sft import write_sft
from cuamaster.exports.writer import write_rows

from .conftest import World

Row = dict[str, Any]


@pytest.fixture
def exported(make_round: Callable[[], RoundData], world: World, tmp_path: Path) -> Path:
    data, folder = make_round(), tmp_path / "exports"
    write_sft([data], world.store, folder)
    write_rl([data], folder)
    assert preflight(folder) == []
    return folder


def _change(folder: Path, name: str, change: Callable[[Row], object]) -> list[str]:
    rows = pq.read_table(folder / name).to_pylist()
    change(rows[0])
    write_rows(folder / name, schema(RL if name.startswith("rl") else SFT), rows)
    return [problem.check for problem in preflight(folder)]


def _edit(row: Row, column: str, old: str, new: str) -> None:
    assert old in row[column]
    row[column] = row[column].replace(old, new)


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda row: row.update(proof="none"), "proof"),
        (lambda row: row.update(steps_json="[{}]"), "steps"),
        (lambda row: row.update(steps_json=row["steps_json"].replace('"mouse.click"', '"mouse.klick"')), "steps"),
        (lambda row: _edit(row, "steps_json", '"feedback":""', '"feedback":"try again"'), "hint"),
        (lambda row: _edit(row, "messages", "milk and eggs", "milk and legs"), "messages"),
        (lambda row: _edit(row, "messages", '\\"coordinate\\": [10, 1000]', '\\"coordinate\\": [11, 1000]'), "answer"),
        (lambda row: _edit(row, "messages", "</tool_call>", ""), "messages"),
        (lambda row: row.update(instruction="Do something else"), "messages"),
        (lambda row: row.update(conversation=None), "conversation"),
        (lambda row: row.update(mode="gui"), "tools"),
        (lambda row: row["images"].pop(), "images"),
        (lambda row: row["images"].reverse(), "images"),
        (lambda row: row["images"][0].update(bytes=row["images"][0]["bytes"][:-30]), "images"),
        (lambda row: _edit(row, "steps_json", '"width":64', '"width":65'), "images"),
    ],
)  # fmt: skip
def test_damaged_trajectories(exported: Path, change: Callable[[Row], object], check: str) -> None:
    assert check in _change(exported, "sft.parquet", change)


def test_an_early_end_is_found(exported: Path) -> None:
    def cut(row: Row) -> None:
        steps, messages = json.loads(row["steps_json"]), json.loads(row["messages"])
        row["steps_json"], row["messages"] = json.dumps(steps[:-1]), json.dumps(messages[:-2])

    assert "finish" in _change(exported, "sft.parquet", cut)


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda row: row["prompt"].append({"role": "assistant", "content": "Secret Menu"}), "prompt"),
        (lambda row: row["prompt"][1].update(content=row["prompt"][1]["content"] + " (milk and eggs)"), "prompt"),
        (lambda row: row.update(verifier_json="{}"), "task"),
        (lambda row: row.update(verifier_sha256="0" * 64), "task"),
        (lambda row: row.update(K=9), "difficulty"),
        (lambda row: _edit(row, "certificate_json", row["task_id"], "task-0"), "certificate"),
    ],
)  # fmt: skip
def test_damaged_tasks(exported: Path, change: Callable[[Row], object], check: str) -> None:
    assert check in _change(exported, "rl.parquet", change)


def test_damaged_files(exported: Path) -> None:
    table = pq.read_table(exported / "sft.parquet")
    write_rows(exported / "sft.parquet", schema(SFT), table.to_pylist() * 2)
    assert {problem.check for problem in preflight(exported)} == {"repeated"}
    pq.write_table(table.drop(["round"]), exported / "sft.parquet")
    assert [(problem.file, problem.check) for problem in preflight(exported)] == [("sft.parquet", "schema")]
    pq.write_table(table.replace_schema_metadata({}), exported / "sft.parquet")
    assert [problem.check for problem in preflight(exported)] == ["schema"]
    (exported / "sft.parquet").write_bytes(b"PAR1")
    assert [problem.check for problem in preflight(exported)] == ["readable"]
    pq.write_table(pa.table({"id": ["x"]}), exported / "unproven.parquet")
    assert len(preflight(exported)) == 2


def test_card(exported: Path, tmp_path: Path) -> None:
    text = write_card(exported).read_text()
    assert "| `sft` | train | 3 |" in text and "| proof | replayed: 1, verified: 2 |" in text
    assert (
        "| K × N | 1 × 1: 1, 2 × 2: 1 |" in text
        and "CC-BY-4.0: 2, not stated: 1" in text
        and "file:///tutorial.mp4" in text
    )
    assert "| reason | no-seed-task: 1, no-verifier: 1 |" in text
    loaded = datasets.load_dataset(str(exported), "rl", cache_dir=str(tmp_path / "hf"))
    assert loaded["train"].num_rows == 2


def test_card_of_nothing(tmp_path: Path) -> None:
    assert write_card(tmp_path).read_text().startswith("---\n")
