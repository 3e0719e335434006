"""verl 0.9: `python -m verl.trainer.sft_trainer`, `python -m verl.trainer.main_ppo`, over verl's own defaults.

Names: verl/trainer/config/sft_trainer_engine.yaml and ppo_trainer.yaml with their groups optim/fsdp.yaml, actor/actor.yaml and
rollout/rollout.yaml. Batches are global (SFT: samples, GRPO: tasks); a device's micro batch only says how they are cut.
"""

from __future__ import annotations

from typing import Any

from cuamaster.errors import InvalidInput
from cuamaster.training.engines.trl import TEMPLATE
from cuamaster.training.order import Config, Order
from cuamaster.training.recipe import Grpo, Sft

_OVER_DEFAULTS = {"hydra": {"searchpath": ["pkg://verl.trainer.config"]}}


def sft(order: Order, recipe: Sft) -> Config:
    """verl-sft.yaml; raises InvalidInput when the batch does not divide."""
    whole = order.layout(recipe.batch)
    return Config(
        name="sft.yaml",
        settings={
            **_OVER_DEFAULTS,
            "defaults": ["sft_trainer_engine", "_self_"],
            "model": {"path": order.model, "custom_chat_template": TEMPLATE.read_text(encoding="utf-8")},
            "data": {
                "train_files": order.data.files("train"),
                "val_files": order.data.files("test") or None,
                "messages_key": "messages",
                "train_batch_size": recipe.batch,
                "micro_batch_size_per_gpu": whole.per_device,
                "use_dynamic_bsz": False,
                "max_length": recipe.max_length,
                "truncation": "error",
            },
            "optim": {
                "optimizer": "AdamW",
                "lr": recipe.learning_rate,
                "lr_scheduler_type": recipe.schedule,
                "lr_warmup_steps_ratio": recipe.warmup,
            },
            "trainer": {**_trainer(order, "sft", recipe.epochs), "save_freq": "after_each_epoch"},
        },
        notes=(f"A batch of {whole.batch} samples: {whole.devices} devices x {whole.per_device} x {whole.accumulation}.",),
        command=(
            "torchrun", "--standalone", "--nproc_per_node", str(order.devices), "-m", "verl.trainer.sft_trainer",
            "--config-path", "{folder}", "--config-name", "{stem}",
        ),
    )  # fmt: skip


def grpo(order: Order, recipe: Grpo) -> Config:
    """grpo.yaml; raises InvalidInput when the batch does not divide."""
    if order.desktops is not None:
        raise InvalidInput(
            "verl samples a whole batch at once",
            hint="leave --desktops out; CUAMASTER_VM_CAPACITY limits the desktops in use",
        )
    whole = order.layout(recipe.trajectories)
    return Config(
        name="grpo.yaml",
        settings={
            **_OVER_DEFAULTS,
            "defaults": ["ppo_trainer", "_self_"],
            "algorithm": {"adv_estimator": "grpo", "use_kl_in_reward": False},
            "data": {
                "train_files": order.data.files("train"),
                "val_files": order.data.files("test") or order.data.files("train"),
                "train_batch_size": recipe.tasks,
                "max_prompt_length": recipe.max_prompt,
                "max_response_length": recipe.max_length,
                "return_raw_chat": True,
                "truncation": "error",
                "seed": order.seed,
            },
            "actor_rollout_ref": {
                "model": {"path": order.model, "custom_chat_template": TEMPLATE.read_text(encoding="utf-8")},
                "actor": {
                    "optim": {"optimizer": "AdamW", "lr": recipe.learning_rate, "lr_scheduler_type": "constant"},
                    "ppo_mini_batch_size": recipe.tasks,
                    "ppo_micro_batch_size_per_gpu": whole.per_device,
                    "use_kl_loss": recipe.beta > 0,
                    "kl_loss_coef": recipe.beta,
                },
                "rollout": {
                    "name": "vllm",
                    "mode": "async",
                    "n": recipe.group,
                    "temperature": recipe.temperature,
                    "log_prob_micro_batch_size_per_gpu": whole.per_device,
                    "multi_turn": {"enable": True, "max_assistant_turns": recipe.max_turns},
                },
            },
            "trainer": {
                **_trainer(order, "grpo", recipe.epochs),
                "save_freq": max(1, order.data.rows["train"] // recipe.tasks),
                "val_before_train": False,
            },
        },
        notes=(
            f"{recipe.tasks} tasks x {recipe.group} trajectories a batch on {whole.devices} devices.",
            "Begin at the checkpoint of the last round's SFT. The rows name the agent loop cuamaster_desktop: see docs/training.md.",
        ),
        command=("python", "-m", "verl.trainer.main_ppo", "--config-path", "{folder}", "--config-name", "{stem}"),
    )  # fmt: skip


def _trainer(order: Order, name: str, epochs: int) -> dict[str, Any]:
    return {
        "project_name": "cuamaster",
        "experiment_name": name,
        "total_epochs": epochs,
        "nnodes": 1,
        "n_gpus_per_node": order.devices,
        "default_local_dir": str(order.out),
        "logger": ["console"],
    }
