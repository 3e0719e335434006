"""The recipe is the paper's, and a batch comes out exactly or not at all."""

from __future__ import annotations

import pytest

from cuamaster.errors import InvalidInput
from cuamaster.training.recipe import Grpo, Sft, grpo_recipe, layout, sft_recipe


def test_the_numbers_are_those_of_the_paper() -> None:
    sft, grpo = Sft(), Grpo()
    assert (sft.learning_rate, sft.schedule, sft.warmup, sft.batch) == (5e-6, "cosine", 0.03, 128)
    assert (grpo.learning_rate, grpo.tasks, grpo.group, grpo.trajectories, grpo.limit) == (1e-6, 64, 8, 512, 512)


@pytest.mark.parametrize(
    ("batch", "devices", "per_device", "accumulation"),
    [(128, 1, 1, 128), (128, 8, 2, 8), (512, 64, 8, 1), (6, 3, 1, 2)],
)
def test_a_batch_is_laid_over_devices(batch: int, devices: int, per_device: int, accumulation: int) -> None:
    made = layout(batch, devices=devices, per_device=per_device)
    assert (made.accumulation, made.batch) == (accumulation, batch)


@pytest.mark.parametrize(
    ("devices", "per_device", "hint"),
    [(8, 3, "--per-device one of 1, 2, 4, 8, 16"), (3, 1, "--devices must divide 128"), (256, 1, "--devices must divide"), (1, 256, "--per-device one of 1, 2")],
)  # fmt: skip
def test_what_does_not_divide_says_what_would(devices: int, per_device: int, hint: str) -> None:
    with pytest.raises(InvalidInput, match="a batch of 128 does not divide") as caught:
        layout(128, devices=devices, per_device=per_device)
    assert hint in str(caught.value)


def test_no_devices_are_refused() -> None:
    with pytest.raises(InvalidInput, match="must be 1 or more"):
        layout(128, devices=0, per_device=1)


def test_more_trajectories_than_a_batch_may_have_are_refused() -> None:
    assert grpo_recipe({"tasks": 32, "group": 16, "epochs": None}).trajectories == 512
    with pytest.raises(InvalidInput, match="64 tasks x 16 trajectories is more than 512"):
        grpo_recipe({"group": 16})
    with pytest.raises(InvalidInput, match="greater than or equal to 1"):
        sft_recipe({"batch": 0})
