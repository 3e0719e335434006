"""Configurations hold the recipe, the dataset's paths, and only names that the engine knows."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trl
import yaml

from cuamaster.errors import InvalidInput, UnknownName
from cuamaster.training.data import PROFILES, Engine, data_for
from cuamaster.training.handoff import configure, write_config
from cuamaster.training.order import Order
from cuamaster.training.recipe import Grpo, Method, Sft

Dataset = Callable[..., Path]
FIELDS: dict[str, Any] = json.loads(Path(__file__).with_name("fields.json").read_text(encoding="utf-8"))


def order(dataset: Dataset, method: Method, engine: Engine, splits: dict[str, int] | None = None, **more: Any) -> Order:
    given = {name: more.pop(name) for name in ("history", "max_side") if name in more}
    data = data_for(method, engine, dataset(PROFILES[method, engine], splits, **given))
    return Order(model="base", data=data, out=Path("/out"), **more)


def names(settings: Any, prefix: str = "") -> Iterator[str]:
    for name, value in settings.items():
        if isinstance(value, dict) and value and name != "columns":
            yield from names(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def known(method: Method, engine: Engine) -> set[str]:
    if engine == "trl":  # the real classes, whose fields can be read without torch
        classes = (trl.SFTConfig if method == "sft" else trl.GRPOConfig, trl.ModelConfig, trl.ScriptArguments)
        return {field.name for each in classes for field in dataclasses.fields(each)}
    found = set(FIELDS[f"{engine} {method}"])
    return found | set(FIELDS["ms-swift sft"]) if engine == "ms-swift" else found


@pytest.mark.parametrize(("method", "engine"), list(PROFILES))
def test_every_name_is_one_that_the_engine_knows(dataset: Dataset, method: Method, engine: Engine) -> None:
    wanted = order(dataset, method, engine, devices=8)
    config = configure(engine, wanted, Sft() if method == "sft" else Grpo())
    told = [name for name in names(config.settings) if name.partition(".")[0] not in ("hydra", "defaults", "ENV")]
    assert set(told) <= known(method, engine)


def test_trl(dataset: Dataset, tmp_path: Path) -> None:
    sft = configure("trl", order(dataset, "sft", "trl", devices=8, per_device=2), Sft()).settings
    assert (sft["learning_rate"], sft["lr_scheduler_type"], sft["warmup_steps"], sft["optim"]) == (
        5e-6,
        "cosine",
        0.03,
        "adamw_torch",
    )
    assert sft["per_device_train_batch_size"] * sft["gradient_accumulation_steps"] * 8 == 128
    assert (sft["assistant_only_loss"], sft["eval_strategy"], "completion_only_loss" in sft) == (True, "epoch", False)
    assert sft["dataset_name"] == str(tmp_path / "trl") and Path(sft["chat_template_path"]).is_file()
    grpo = configure("trl", order(dataset, "grpo", "trl", devices=8), Grpo()).settings
    assert grpo["learning_rate"] == 1e-6 and grpo["num_generations"] == 8
    assert grpo["per_device_train_batch_size"] * grpo["gradient_accumulation_steps"] * 8 == 64 * 8
    assert grpo["steps_per_generation"] == grpo["gradient_accumulation_steps"], (
        "a batch is sampled before it is learnt from"
    )


def test_steps_with_a_history_teach_only_their_own_answer(dataset: Dataset) -> None:
    trl_ = configure("trl", order(dataset, "sft", "trl", {"train": 9}, history=3), Sft()).settings
    swift = configure("ms-swift", order(dataset, "sft", "ms-swift", {"train": 9}, history=3), Sft()).settings
    assert trl_["completion_only_loss"] is True and "assistant_only_loss" not in trl_ and trl_["eval_strategy"] == "no"
    assert swift["loss_scale"] == "last_round" and "val_dataset" not in swift


def test_ms_swift(dataset: Dataset) -> None:
    sft = configure("ms-swift", order(dataset, "sft", "ms-swift", devices=4), Sft()).settings
    assert (sft["learning_rate"], sft["warmup_ratio"], sft["gradient_accumulation_steps"], sft["ENV"]) == (
        5e-6,
        0.03,
        32,
        {"NPROC_PER_NODE": "4"},
    )
    assert sft["dataset"] != sft["val_dataset"] and all(
        Path(name).is_file() for name in sft["dataset"] + sft["val_dataset"]
    )
    grpo = configure("ms-swift", order(dataset, "grpo", "ms-swift"), Grpo()).settings
    assert (grpo["rlhf_type"], grpo["learning_rate"], grpo["num_generations"], grpo["gradient_accumulation_steps"]) == (
        "grpo",
        1e-6,
        8,
        512,
    )
    assert Path(grpo["external_plugins"][0]).is_file()


def test_verl(dataset: Dataset) -> None:
    sft = configure("verl", order(dataset, "sft", "verl", {"train": 9}, devices=8), Sft()).settings
    assert (sft["data"]["train_batch_size"], sft["data"]["val_files"], sft["trainer"]["n_gpus_per_node"]) == (
        128,
        None,
        8,
    )
    assert (sft["optim"]["lr"], sft["optim"]["lr_scheduler_type"], sft["optim"]["lr_warmup_steps_ratio"]) == (
        5e-6,
        "cosine",
        0.03,
    )
    grpo = configure("verl", order(dataset, "grpo", "verl", devices=8), Grpo()).settings
    worker = grpo["actor_rollout_ref"]
    assert (grpo["data"]["train_batch_size"], worker["rollout"]["n"], worker["actor"]["ppo_mini_batch_size"]) == (
        64,
        8,
        64,
    )
    assert (worker["actor"]["optim"]["lr"], grpo["algorithm"]["adv_estimator"]) == (1e-6, "grpo")
    assert grpo["trainer"]["save_freq"] == 10, "640 tasks in batches of 64"


@pytest.mark.parametrize(
    ("devices", "desktops", "passes"),
    [(1, 512, 512), (1, 24, 16), (1, 8, 8), (8, 4, 4), (8, 1, 1), (64, 3, 2), (1, 9999, 512)],
)
def test_sampling_takes_no_more_desktops_than_there_are(
    dataset: Dataset, devices: int, desktops: int, passes: int
) -> None:
    wanted = order(dataset, "grpo", "trl", devices=devices, desktops=desktops)
    settings = configure("trl", wanted, Grpo()).settings
    assert settings["steps_per_generation"] == passes <= desktops
    assert settings["gradient_accumulation_steps"] % passes == 0 and passes * devices % settings["num_generations"] == 0


def test_what_cannot_be_laid_out_is_refused(dataset: Dataset) -> None:
    with pytest.raises(InvalidInput, match=r"hold no whole group of 8 .*--desktops 8 or more"):
        configure("trl", order(dataset, "grpo", "trl", desktops=7), Grpo())
    wrong = order(dataset, "sft", "trl", devices=5)
    engines: tuple[Engine, ...] = ("trl", "ms-swift", "verl")
    for engine in engines:
        with pytest.raises(InvalidInput, match="does not divide into 5 devices"):
            configure(engine, wrong, Sft())
    with pytest.raises(InvalidInput, match="a batch of 512 does not divide"):
        configure("verl", wrong, Grpo())
    with pytest.raises(UnknownName):
        configure("axolotl", wrong, Sft())  # type: ignore[arg-type]


def test_the_file_is_read_back_as_it_was_meant(dataset: Dataset, tmp_path: Path) -> None:
    wanted = order(dataset, "sft", "verl", devices=2)
    written = write_config("verl", wanted, Sft(), tmp_path / "a folder")
    assert yaml.safe_load(written.path.read_text(encoding="utf-8")) == configure("verl", wanted, Sft()).settings
    assert written.command.startswith("torchrun --standalone --nproc_per_node 2 ") and written.command.endswith(
        "--config-name sft"
    )
    assert f"'{tmp_path}/a folder'" in written.command
    head = [line for line in written.path.read_text(encoding="utf-8").splitlines() if line.startswith("# ")]
    assert "640 rows to train" in head[0] and written.command in head[-1]
