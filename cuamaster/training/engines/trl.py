"""TRL 1.16: `trl sft --config`, and GRPO through our own runner, because TRL's command line takes no environment.

Names: SFTConfig (trl/trainer/sft_config.py), GRPOConfig (grpo_config.py), ModelConfig (model_config.py), ScriptArguments
(trl/scripts/utils.py), and of transformers 5 TrainingArguments, where `warmup_steps` below 1 is a share of all steps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cuamaster.training.order import Config, Order
from cuamaster.training.recipe import Grpo, Sft

TEMPLATE = Path(__file__).parents[1] / "chat_template.jinja"
"""By which exported rows and rollouts become the same tokens; for the special tokens of every generation of Qwen."""


def sft(order: Order, recipe: Sft) -> Config:
    """sft.yaml; raises InvalidInput when the batch does not divide."""
    whole = order.layout(recipe.batch)
    shown = order.data.options.history
    return Config(
        name="sft.yaml",
        settings={
            **_common(order),
            "chat_template_path": str(TEMPLATE),
            "learning_rate": recipe.learning_rate,
            "lr_scheduler_type": recipe.schedule,
            "warmup_steps": recipe.warmup,
            "per_device_train_batch_size": whole.per_device,
            "gradient_accumulation_steps": whole.accumulation,
            "num_train_epochs": recipe.epochs,
            "max_length": None,
            "shuffle_dataset": True,
            **({"assistant_only_loss": True} if shown is None else {"completion_only_loss": True}),
            "eval_strategy": "epoch" if order.data.tested else "no",
        },
        notes=(
            f"{whole.devices} devices x {whole.per_device} x {whole.accumulation} = a batch of {whole.batch} samples.",
            "Only answers are learnt. No max_length: a cut would part a screenshot's tokens from its picture.",
        ),
        command=("trl", "sft", "--config", "{file}", "--num_processes", str(order.devices)),
    )


def grpo(order: Order, recipe: Grpo) -> Config:
    """grpo.yaml; raises InvalidInput when the batch does not divide."""
    whole, passes = order.layout(recipe.trajectories), order.passes(recipe)
    at_once = passes * whole.per_device
    return Config(
        name="grpo.yaml",
        settings={
            **_common(order),
            "learning_rate": recipe.learning_rate,
            "lr_scheduler_type": "constant",
            "per_device_train_batch_size": whole.per_device,
            "gradient_accumulation_steps": whole.accumulation,
            "steps_per_generation": passes,
            "num_generations": recipe.group,
            "num_train_epochs": recipe.epochs,
            "loss_type": "grpo",
            "scale_rewards": "group",
            "beta": recipe.beta,
            "temperature": recipe.temperature,
            "max_completion_length": recipe.max_length,
            "max_tool_calling_iterations": recipe.max_turns,
            "use_vllm": True,
            "vllm_mode": "colocate",
            "vllm_max_model_length": recipe.max_prompt + recipe.max_length,
            "eval_strategy": "no",
            "log_completions": False,
        },
        notes=(
            f"{recipe.tasks} tasks x {recipe.group} trajectories = {whole.devices} devices x {whole.per_device} x {whole.accumulation}.",
            f"A device samples {at_once} trajectories at once and needs as many desktops (CUAMASTER_VM_CAPACITY).",
            "Begin at the checkpoint of the last round's SFT. Rewards are verdicts; a fault of a guest gives none.",
        ),
        command=(
            "accelerate", "launch", "--num_processes", str(order.devices), "-m", "cuamaster.training.trl_grpo", "--config", "{file}",
        ),
    )  # fmt: skip


def _common(order: Order) -> dict[str, Any]:
    return {
        "model_name_or_path": order.model,
        "dtype": "bfloat16",
        "bf16": True,
        "gradient_checkpointing": True,
        "dataset_name": str(order.data.folder),
        "dataset_train_split": "train",
        "dataset_test_split": "test",
        "output_dir": str(order.out),
        "optim": "adamw_torch",
        "save_strategy": "epoch",
        "seed": order.seed,
    }
