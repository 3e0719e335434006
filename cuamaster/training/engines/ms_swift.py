"""ms-swift 4.6: `swift sft FILE`, `swift rlhf FILE`.

Names: SftArguments, RLHFArguments (swift/arguments), DataArguments (base_args/data_args.py), GRPOArgumentsMixin
(swift/rlhf_trainers/args_mixin.py), TrainingArguments of transformers, of which `warmup_ratio` is kept by ms-swift. The command
line takes a YAML file as its first argument, its key ENV as environment (swift/cli/main.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cuamaster.training.order import Config, Order
from cuamaster.training.recipe import Grpo, Sft

PLUGIN = Path(__file__).parents[1] / "ms_swift_plugin.py"


def sft(order: Order, recipe: Sft) -> Config:
    """sft.yaml; raises InvalidInput when the batch does not divide."""
    whole = order.layout(recipe.batch)
    return Config(
        name="sft.yaml",
        settings={
            **_common(order, whole.per_device, whole.accumulation),
            "learning_rate": recipe.learning_rate,
            "lr_scheduler_type": recipe.schedule,
            "warmup_ratio": recipe.warmup,
            "num_train_epochs": recipe.epochs,
            "max_length": recipe.max_length,
            "truncation_strategy": "delete",
            "loss_scale": "default" if order.data.options.history is None else "last_round",
            **({"val_dataset": order.data.files("test"), "eval_strategy": "epoch"} if order.data.tested else {}),
        },
        notes=(
            f"{whole.devices} devices x {whole.per_device} x {whole.accumulation} = a batch of {whole.batch} samples.",
            "A sample that is too long is left out: a cut would part a screenshot's tokens from its picture.",
        ),
        command=("swift", "sft", "{file}"),
    )


def grpo(order: Order, recipe: Grpo) -> Config:
    """grpo.yaml; raises InvalidInput when the batch does not divide."""
    whole, passes = order.layout(recipe.trajectories), order.passes(recipe)
    return Config(
        name="grpo.yaml",
        settings={
            "rlhf_type": "grpo",
            **_common(order, whole.per_device, whole.accumulation, **_desktop(order)),
            "columns": {"prompt": "messages"},
            "learning_rate": recipe.learning_rate,
            "lr_scheduler_type": "constant",
            "num_train_epochs": recipe.epochs,
            "steps_per_generation": passes,
            "num_generations": recipe.group,
            "loss_type": "grpo",
            "scale_rewards": "group",
            "beta": recipe.beta,
            "temperature": recipe.temperature,
            "max_length": recipe.max_prompt,
            "max_completion_length": recipe.max_length,
            "completion_length_limit_scope": "total",
            "max_turns": recipe.max_turns,
            "use_vllm": True,
            "vllm_mode": "colocate",
            "vllm_max_model_len": recipe.max_prompt + recipe.max_length,
            "external_plugins": [str(PLUGIN)],
            "multi_turn_scheduler": "gym_scheduler",
            "use_gym_env": True,
            "gym_env": "cuamaster_desktop",
        },
        notes=(
            f"{recipe.tasks} tasks x {recipe.group} trajectories = {whole.devices} devices x {whole.per_device} x {whole.accumulation}.",
            f"A device samples {passes * whole.per_device} trajectories at once and needs as many desktops (CUAMASTER_VM_CAPACITY).",
            "Begin at the checkpoint of the last round's SFT. A fault of a guest stops the run: ms-swift would take it for reward 0.",
        ),
        command=("swift", "rlhf", "{file}"),
    )


def _desktop(order: Order) -> dict[str, str]:
    """What the plugin reads from the environment: how the tasks were exported."""
    options = order.data.options
    side = {} if options.max_side is None else {"CUAMASTER_MAX_SIDE": str(options.max_side)}
    return {"CUAMASTER_MODE": options.mode, **side}


def _common(order: Order, per_device: int, accumulation: int, **environment: str) -> dict[str, Any]:
    if order.devices > 1:
        environment["NPROC_PER_NODE"] = str(order.devices)
    return {
        **({"ENV": environment} if environment else {}),
        "model": order.model,
        "tuner_type": "full",
        "torch_dtype": "bfloat16",
        "gradient_checkpointing": True,
        "dataset": order.data.files("train"),
        "per_device_train_batch_size": per_device,
        "gradient_accumulation_steps": accumulation,
        "optim": "adamw_torch",
        "output_dir": str(order.out),
        "save_strategy": "epoch",
        "seed": order.seed,
    }
