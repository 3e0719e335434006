"""Datasets of the trl profiles through TRL's own data utilities."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest
from trl import data_utils

from cuamaster.exports.manifest import Release
from cuamaster.exports.options import Options
from cuamaster.exports.samples import RoundData
from cuamaster.stages import Ports, release
from cuamaster.tables import Workspace

from .conftest import World, make_task
from .datasets import keep
from .test_profiles_rl import tree

Dataset = Callable[..., tuple[Path, Release]]


def load(folder: Path) -> Any:
    return datasets.load_dataset(str(folder), split="train", cache_dir=str(folder.parent / "hf"))


@pytest.mark.parametrize("history", [None, 2])
def test_sft_rows_take_their_pictures(dataset: Dataset, history: int | None) -> None:
    folder, _ = dataset("trl", history=history)
    for row in load(folder):
        assert data_utils.is_conversational(row)
        key = "messages" if history is None else "prompt"
        filled = data_utils.prepare_multimodal_messages(row[key], images=row["images"])
        shown = [part["image"] for message in filled for part in message["content"] if part["type"] == "image"]
        assert shown == row["images"]


def test_grpo_prompts_are_conversational(dataset: Dataset) -> None:
    folder, _ = dataset("trl-grpo")
    assert all(data_utils.is_conversational(row) for row in load(folder))


def test_preference_pairs_have_one_prompt(world: World, workspace: Workspace, tmp_path: Path) -> None:
    task = make_task("mousepad")
    keep(workspace, RoundData(round=1, tasks=(task,), episodes=(tree(world, task),)))
    release(workspace, Ports(world.store), "trl-dpo", tmp_path / "dpo", Options())
    (row,) = load(tmp_path / "dpo")
    assert data_utils.is_conversational(row)
    data_utils.prepare_multimodal_messages(row["prompt"], images=row["images"])
    joined = {"chosen": row["prompt"] + row["chosen"], "rejected": row["prompt"] + row["rejected"]}
    assert data_utils.extract_prompt(joined) == {name: row[name] for name in ("prompt", "chosen", "rejected")}
