"""What is asked of an engine, and what it answers with: one configuration file and the command that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from cuamaster.errors import InvalidInput
from cuamaster.records.record import Record
from cuamaster.training.data import Data
from cuamaster.training.recipe import Grpo, Layout, layout


class Order(Record):
    """A model (name or folder) to be trained on a dataset; checkpoints go to `out`."""

    model: str = Field(min_length=1)
    data: Data
    out: Path
    devices: int = Field(default=1, description="accelerators that share a batch")
    per_device: int = Field(
        default=1, description="samples, or trajectories, in one forward and backward pass of a device"
    )
    desktops: int | None = Field(
        default=None, description="desktops that a device's share of sampling may use at once; None: its whole batch"
    )
    seed: int = 0

    def layout(self, batch: int) -> Layout:
        """How a global batch is laid over the devices; raises InvalidInput."""
        return layout(batch, devices=self.devices, per_device=self.per_device)

    def passes(self, recipe: Grpo) -> int:
        """Forward and backward passes that one round of sampling gives: all of a batch, or what `desktops` allows.

        Raises InvalidInput when that many desktops hold no whole groups, or do not divide the batch.
        """
        whole = self.layout(recipe.trajectories)
        if self.desktops is None:
            return whole.accumulation
        most = min(self.desktops // self.per_device, whole.accumulation)
        for passes in range(most, 0, -1):
            if whole.accumulation % passes == 0 and passes * self.per_device * self.devices % recipe.group == 0:
                return passes
        raise InvalidInput(
            f"{self.desktops} desktops on each of {self.devices} devices hold no whole group of {recipe.group}",
            hint=f"--desktops {max(self.per_device, -(-recipe.group // self.devices))} or more",
        )


@dataclass(frozen=True)
class Config:
    """One file of settings as the engine names them (YAML), what to know about it, and the command line that reads it."""

    name: str
    settings: Mapping[str, Any]
    notes: tuple[str, ...]
    command: tuple[str, ...]
    """`{file}` stands for the path of the file."""
