"""The rehearsal's demonstrations, as far as they go without torch: real exports that the hand-off takes."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest

from cuamaster.training.data import data_for
from cuamaster.training.handoff import write_config
from cuamaster.training.order import Order
from cuamaster.training.recipe import Grpo, Sft
from cuamaster.training.trl_environment import environment_factory
from scripts.train_smoke import demonstrations


@pytest.mark.slow
def test_demonstrations_become_datasets_configurations_and_episodes(tmp_path: Path) -> None:
    sft, grpo = demonstrations.make(tmp_path, ["milk"])
    rows = {
        folder.name: datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path / "hf"))
        for folder in (sft, grpo)
    }
    first, second = rows["trl-grpo"]
    assert first["prompt"] == second["prompt"] and first["verifier_json"] != second["verifier_json"]
    assert [len(row["images"]) for row in rows["trl"]] == [4, 4]
    learnt = Order(model="tiny", data=data_for("sft", "trl", sft), out=tmp_path / "out", per_device=2)
    played = Order(model="tiny", data=data_for("grpo", "trl", grpo), out=tmp_path / "out", per_device=2)
    assert write_config("trl", learnt, Sft(batch=2), tmp_path).path.is_file()
    assert write_config("trl", played, Grpo(tasks=2, group=2), tmp_path).path.is_file()
    environment = environment_factory(demonstrations.RehearsalHost(), demonstrations.nothing_to_read(), "gui")()
    environment.reset(**first)
    assert environment.get_reward() == 0.0
