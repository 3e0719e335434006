"""The recipe that models are trained by, and how its global batch is laid over devices: pure arithmetic.

Source: CUA-Master, section on training: SFT with AdamW, peak learning rate 5e-6, cosine schedule, warm-up 0.03, batch 128, in
every round from the same base checkpoint; then GRPO with learning rate 1e-6, batches of 64 tasks, 8 trajectories a task, at
most 512 trajectories a batch. What the paper leaves open (epochs, lengths, KL term) has a default here and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from cuamaster.errors import InvalidInput
from cuamaster.records.record import Record

R = TypeVar("R", bound=Record)
Method = Literal["sft", "grpo"]
BASE = "Qwen/Qwen3.5-27B"
"""The base checkpoint of CUA-Master: each round's SFT begins here, never at the last round's model."""


class Sft(Record):
    """Supervised fine-tuning; batch in samples."""

    learning_rate: float = Field(default=5e-6, gt=0, description="peak")
    schedule: Literal["cosine"] = "cosine"
    warmup: float = Field(default=0.03, ge=0, lt=1, description="share of all steps")
    batch: int = Field(default=128, ge=1)
    epochs: int = Field(default=1, ge=1, description="not given by the paper")
    max_length: int = Field(default=32_768, ge=1, description="tokens of a sample, not given by the paper")


class Grpo(Record):
    """Reinforcement learning; batch in tasks."""

    learning_rate: float = Field(default=1e-6, gt=0)
    tasks: int = Field(default=64, ge=1, description="tasks a batch")
    group: int = Field(default=8, ge=2, description="trajectories a task")
    limit: int = Field(default=512, ge=1, description="trajectories a batch, at most")
    beta: float = Field(default=0.0, ge=0, description="weight of the KL term, not given by the paper")
    temperature: float = Field(default=1.0, gt=0, description="of sampling, not given by the paper")
    epochs: int = Field(default=1, ge=1, description="not given by the paper")
    max_prompt: int = Field(default=4096, ge=1, description="tokens before the first answer, not given by the paper")
    max_turns: int = Field(
        default=60, ge=1, description="answers an episode, at most: the budget that tasks are collected with"
    )
    max_length: int = Field(
        default=32_768, ge=1, description="tokens of an episode behind the prompt: answers and screens"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.trajectories > self.limit:
            raise ValueError(f"{self.tasks} tasks x {self.group} trajectories is more than {self.limit} a batch")
        return self

    @property
    def trajectories(self) -> int:
        """Trajectories a batch."""
        return self.tasks * self.group


def sft_recipe(changes: Mapping[str, Any]) -> Sft:
    """The recipe with some numbers changed; None leaves one as it is. Raises InvalidInput for what makes no recipe."""
    return _changed(Sft, changes)


def grpo_recipe(changes: Mapping[str, Any]) -> Grpo:
    """As `sft_recipe`."""
    return _changed(Grpo, changes)


def _changed(kind: type[R], changes: Mapping[str, Any]) -> R:
    try:
        return kind.model_validate({name: value for name, value in changes.items() if value is not None})
    except ValidationError as exc:
        told = "; ".join(str(fault["msg"]) for fault in exc.errors())
        raise InvalidInput(f"no recipe: {told}") from exc


class Layout(Record):
    """A global batch as per_device x accumulation x devices."""

    devices: int = Field(ge=1)
    per_device: int = Field(ge=1)
    accumulation: int = Field(ge=1)

    @property
    def batch(self) -> int:
        """What one optimizer step sees."""
        return self.devices * self.per_device * self.accumulation


def layout(batch: int, *, devices: int, per_device: int) -> Layout:
    """The layout that comes out at exactly `batch`; raises InvalidInput when there is none, naming what would do."""
    if min(devices, per_device) < 1:
        raise InvalidInput(f"{devices} devices with {per_device} each: both must be 1 or more")
    share, rest = divmod(batch, devices * per_device)
    if rest or not share:
        fitting = [number for number in range(1, batch // devices + 1) if batch % (devices * number) == 0]
        hint = (
            f"--per-device one of {', '.join(map(str, fitting))}"
            if fitting
            else f"--devices must divide {batch}, or choose another --batch"
        )
        raise InvalidInput(f"a batch of {batch} does not divide into {devices} devices x {per_device} each", hint=hint)
    return Layout(devices=devices, per_device=per_device, accumulation=share)
