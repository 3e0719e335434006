"""Tasks out to rl.parquet and back, with nothing of the answer in the prompt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cuamaster.dialects import qwen
from cuamaster.errors import IntegrityError, InvalidInput
from cuamaster.exports.columns import RL
from cuamaster.exports.preflight import preflight
from cuamaster.exports.rl import read_rl, released, write_rl
from cuamaster.exports.samples import RoundData
from cuamaster.records.episode import Episode

from .conftest import World, certificate, make_task

MakeRound = Callable[[], RoundData]


def _rows(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / "rl.parquet").to_pylist()
    return rows


def test_released_composed_tasks_come_back_whole(make_round: MakeRound, tmp_path: Path) -> None:
    data = make_round()
    written = write_rl([data], tmp_path)
    assert written.rows == 2 and preflight(tmp_path) == []
    assert read_rl(tmp_path / "rl.parquet") == list(data.tasks[:2])
    assert [task.id for task in read_rl(tmp_path / "rl.parquet")] == [row["task_id"] for row in _rows(tmp_path)]


def test_unreleased_and_seed_tasks_stay_out(make_round: MakeRound, tmp_path: Path) -> None:
    data = make_round()
    good, bad, _, seed = data.tasks
    solved_by_nothing = replace(data, certificates=(certificate(good, null="passed"), certificate(seed)))
    assert write_rl([solved_by_nothing], tmp_path).rows == 0
    assert write_rl([solved_by_nothing], tmp_path, seeds=True).rows == 1
    later = RoundData(round=2, tasks=(bad,), certificates=(certificate(bad, null="passed"),))
    assert write_rl([data, later], tmp_path).rows == 1


def test_the_prompt_is_the_instruction_and_nothing_else(make_round: MakeRound, tmp_path: Path) -> None:
    write_rl([make_round()], tmp_path, mode="gui")
    row = _rows(tmp_path)[0]
    assert [turn["role"] for turn in row["prompt"]] == ["system", "user"]
    assert row["prompt"][0]["content"] == qwen.system_prompt("gui")
    assert row["prompt"][1]["content"] == f"Instruction: {row['instruction']}"
    shown = json.dumps(row["prompt"], ensure_ascii=False)
    assert "milk and eggs" not in shown and "Secret Menu" not in shown and "~/done" not in shown
    assert "Secret Menu" in row["oracle_json"] and "Secret Menu" not in row["task_json"]


def test_what_a_trainer_and_a_guest_need_is_there(make_round: MakeRound, tmp_path: Path) -> None:
    data = make_round()
    write_rl([data], tmp_path)
    row = _rows(tmp_path)[0]
    assert set(row) == set(RL)
    assert (row["K"], row["N"], row["apps"], row["screen_w"], row["max_steps"]) == (
        2,
        2,
        ["mousepad", "pcmanfm"],
        1280,
        30,
    )
    assert row["verifier_sha256"] == hashlib.sha256(row["verifier_json"].encode()).hexdigest()
    assert row["reward_model"] == {"style": "rule", "ground_truth": row["verifier_json"]}
    assert row["extra_info"] == {"index": 0, "split": row["split"], "task_id": row["task_id"], "K": 2, "N": 2}
    assert json.loads(row["setup_json"])[0]["kind"] == "dir.make"
    assert row["base_success_rate"] is None and _rows(tmp_path)[1]["base_success_rate"] == 0.0
    loaded = datasets.load_dataset(
        "parquet", data_files=str(tmp_path / "rl.parquet"), split="train", cache_dir=str(tmp_path / "hf")
    )
    assert loaded[0]["prompt"] == row["prompt"] and loaded[0]["images"] == []


def test_success_rate_counts_clean_first_attempts(world: World) -> None:
    task = make_task("mousepad")
    episodes = [world.replay(task), world.replay(task, "failed"), world.replay(task, "infra"), world.rolled_back(task)]

    def rate(found: list[Episode], policy: str = "") -> float | None:
        data = RoundData(round=1, tasks=(task,), certificates=(certificate(task),), episodes=found)
        (item,) = released([data], policy=policy)
        return item.success_rate

    assert rate(episodes) == 0.5
    assert rate(episodes[2:]) is None
    assert rate(episodes, "openai_api") is None


def test_bad_files_are_named(make_round: MakeRound, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        read_rl(tmp_path / "rl.parquet")
    (tmp_path / "rl.parquet").write_text("hello")
    with pytest.raises(InvalidInput, match="not a Parquet file"):
        read_rl(tmp_path / "rl.parquet")
    pq.write_table(pa.table({"task_id": ["x"]}), tmp_path / "rl.parquet")
    with pytest.raises(InvalidInput, match="no column task_json"):
        read_rl(tmp_path / "rl.parquet")
    write_rl([make_round()], tmp_path)
    table = pq.read_table(tmp_path / "rl.parquet")
    for column, value, error in (
        ("task_json", "{}", InvalidInput),
        ("task_json", None, InvalidInput),
        ("task_id", "task-0", IntegrityError),
        ("action_space_version", "99", InvalidInput),
    ):
        index = table.schema.names.index(column)
        pq.write_table(
            table.set_column(index, column, pa.array([value] * 2, pa.string())), tmp_path / "changed.parquet"
        )
        with pytest.raises(error, match="row 0"):
            read_rl(tmp_path / "changed.parquet")
