"""`train-config` on the command line: files where they are wanted, refusals that say what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from cuamaster.cli import app
from cuamaster.errors import CuamasterError, InvalidInput

Dataset = Callable[..., Path]


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(app, ["train-config", *map(str, arguments)])
    if isinstance(done.exception, CuamasterError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_file_and_its_command(dataset: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "run"
    told = run("sft", "--engine", "trl", "--data", dataset("trl"), "--out", out, "--devices", 8, "--json")
    assert json.loads(told) == [
        {"file": f"{out}/sft.yaml", "command": f"trl sft --config {out}/sft.yaml --num_processes 8"}
    ]
    settings = yaml.safe_load((out / "sft.yaml").read_text())
    assert (settings["model_name_or_path"], settings["gradient_accumulation_steps"]) == ("Qwen/Qwen3.5-27B", 16)
    assert settings["output_dir"] == f"{out}/checkpoints"


def test_numbers_may_be_changed(dataset: Dataset, tmp_path: Path) -> None:
    more = ["--model", "m", "--batch", 4, "--group", 4, "--desktops", 8, "--epochs", 3, "--seed", 7]
    run("grpo", "--engine", "trl", "--data", dataset("trl-grpo"), "--out", tmp_path, *more)
    settings = yaml.safe_load((tmp_path / "grpo.yaml").read_text())
    wanted = {"model_name_or_path": "m", "gradient_accumulation_steps": 16, "steps_per_generation": 8, "num_generations": 4, "num_train_epochs": 3, "seed": 7}  # fmt: skip
    assert {name: settings[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grpo", "--engine", "trl"], "grpo begins at a trained checkpoint"),
        (["sft", "--engine", "trl", "--group", "4"], "belong to grpo"),
        (["sft", "--engine", "verl"], "of profile trl; verl sft reads verl-sft"),
        (["sft", "--engine", "trl", "--devices", "3"], "does not divide into 3 devices"),
        (["sft", "--engine", "trl", "--batch", "130", "--devices", "4"], "a batch of 130 does not divide"),
    ],
)
def test_refusals(dataset: Dataset, tmp_path: Path, arguments: list[str], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        run(*arguments, "--data", dataset("trl"), "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_grpo_of_more_than_a_batch_may_hold(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="64 tasks x 16 trajectories is more than 512"):
        run("grpo", "--engine", "verl", "--model", "m", "--group", 16, "--data", dataset("verl"), "--out", tmp_path)
