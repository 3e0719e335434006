"""`train-config`: the recipe and an exported dataset as a trainer's own configuration."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cuamaster.cli.options import AsJson, Verbose, begin
from cuamaster.cli.output import print_rows
from cuamaster.errors import InvalidInput

app = typer.Typer()


class Method(StrEnum):
    """What is trained."""

    sft = "sft"
    grpo = "grpo"


class Engine(StrEnum):
    """Whose configuration is written."""

    trl = "trl"
    ms_swift = "ms-swift"
    verl = "verl"


@app.command("train-config")
def train_config(
    method: Annotated[Method, typer.Argument(help="sft: from the base checkpoint; grpo: from the last round's SFT.")],
    engine: Annotated[Engine, typer.Option("--engine", help="Whose configuration to write.")],
    data: Annotated[Path, typer.Option("--data", help="A dataset of `cuamaster export --profile`: sft reads trl, ms-swift, verl-sft; grpo trl-grpo (trl, ms-swift), verl.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the configuration; checkpoints go to `checkpoints` in it.")],
    model: Annotated[str | None, typer.Option("--model", help="Name or folder of the checkpoint to begin at (sft: the recipe's base; grpo: needed).")] = None,
    devices: Annotated[int, typer.Option("--devices", min=1, help="Accelerators that share a batch.")] = 1,
    per_device: Annotated[int, typer.Option("--per-device", min=1, help="Samples, or trajectories, a device takes in one pass.")] = 1,
    batch: Annotated[int | None, typer.Option("--batch", min=1, help="Samples, or tasks, a batch (the recipe: 128, 64).")] = None,
    group: Annotated[int | None, typer.Option("--group", min=2, help="grpo: trajectories a task (the recipe: 8).")] = None,
    desktops: Annotated[int | None, typer.Option("--desktops", min=1, help="grpo: desktops that a device may use at once (default: its whole share of a batch).")] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", min=1, help="Passes over the dataset (default: 1).")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of shuffling and sampling.")] = 0,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:  # fmt: skip
    """Write a trainer's configuration with the recipe's numbers and the dataset's paths, and print the command that reads it.

    The recipe: SFT with AdamW, peak learning rate 5e-6, cosine, warm-up 0.03, batch 128, each round from the same base; GRPO
    with learning rate 1e-6, 64 tasks a batch, 8 trajectories a task, at most 512 a batch. The batch comes out as devices x
    per-device x accumulation, or the command says what would divide.
    """
    from cuamaster.training.data import data_for
    from cuamaster.training.handoff import write_config
    from cuamaster.training.order import Order
    from cuamaster.training.recipe import BASE, grpo_recipe, sft_recipe

    begin(None, verbose)
    if method is Method.grpo and model is None:
        raise InvalidInput("grpo begins at a trained checkpoint", hint="--model: what the last round's SFT has written")
    if method is Method.sft and (group is not None or desktops is not None):
        raise InvalidInput("--group and --desktops belong to grpo")
    order = Order(
        model=model or BASE, data=data_for(method.value, engine.value, data), out=out.resolve() / "checkpoints", devices=devices,
        per_device=per_device, desktops=desktops, seed=seed,
    )  # fmt: skip
    given = {"epochs": epochs, **({"batch": batch} if method is Method.sft else {"tasks": batch, "group": group})}
    recipe = (sft_recipe if method is Method.sft else grpo_recipe)(given)
    written = write_config(engine.value, order, recipe, out)
    print_rows(
        [{"file": str(written.path), "command": written.command}],
        as_json=as_json,
        title=f"{engine.value} {method.value}",
    )
