"""`make train-smoke`: SFT of a tiny model on exported demonstrations, then GRPO of it on the simulated desktop; figures as JSON.

Both go by the files that `train-config` writes for TRL, with a recipe of the model's size; what a machine without an
accelerator cannot do (bfloat16, vLLM) is switched off on the command line, as anybody may.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from datasets import load_dataset
from transformers import set_seed
from trl import ModelConfig, ScriptArguments, SFTConfig, SFTTrainer, TrlParser

from cuamaster.training.data import data_for
from cuamaster.training.handoff import write_config
from cuamaster.training.order import Order
from cuamaster.training.recipe import Grpo, Sft
from cuamaster.training.trl_environment import environment_factory
from cuamaster.training.trl_grpo import parse, speak, trainer
from scripts.train_smoke import demonstrations, tiny

WORDS = ("milk", "bread")
_PLAIN = ("--bf16", "False", "--gradient_checkpointing", "False", "--save_strategy", "no", "--report_to", "none", "--logging_steps", "1")  # fmt: skip


def main() -> None:
    """Run it and print what came out; exit code 1 when nothing was learnt or no verdict told two trajectories apart."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sft-epochs", type=int, default=80)
    options.add_argument("--grpo-steps", type=int, default=2)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    # The trainers talk on stdout; here that is for the figures.
    with tempfile.TemporaryDirectory(prefix="train-smoke-") as folder, contextlib.redirect_stdout(sys.stderr):
        figures = run(Path(folder), sft_epochs=given.sft_epochs, grpo_steps=given.grpo_steps, seed=given.seed)
    print(json.dumps(figures, indent=2))
    learnt = figures["sft"]["loss_end"] < figures["sft"]["loss_start"] / 2
    sys.exit(0 if learnt and figures["grpo"]["groups_with_variance"] else 1)


def run(folder: Path, *, sft_epochs: int, grpo_steps: int, seed: int) -> dict[str, Any]:
    """Demonstrations, SFT and GRPO in `folder`; the figures of each."""
    torch.set_num_threads(1)  # so small a model only waits for its second thread
    begun = time.monotonic()
    sft_data, grpo_data = demonstrations.make(folder, WORDS)
    made = time.monotonic()
    rows = load_dataset(str(sft_data), split="train", cache_dir=str(folder / "hf"))
    texts = [
        part["text"] for talk in rows["messages"] for turn in talk for part in turn["content"] if part["type"] == "text"
    ]
    processor = speak(tiny.processor_of(texts))
    model = tiny.model_of(processor, seed)
    sft = _sft(model, processor, rows, sft_data, folder, sft_epochs, seed)
    learnt = time.monotonic()
    grpo = _grpo(model, processor, grpo_data, folder, grpo_steps, seed)
    return {
        "torch": torch.__version__,
        "parameters": sum(weights.numel() for weights in model.parameters()),
        "demonstrations": len(rows),
        "sft": sft,
        "grpo": grpo,
        "seconds": {
            "demonstrations": round(made - begun, 1),
            "sft": round(learnt - made, 1),
            "grpo": round(time.monotonic() - learnt, 1),
        },
    }


def _sft(model: Any, processor: Any, rows: Any, data: Path, folder: Path, epochs: int, seed: int) -> dict[str, Any]:
    order = Order(model="tiny", data=data_for("sft", "trl", data), out=folder / "sft", per_device=len(rows), seed=seed)
    file = write_config("trl", order, Sft(learning_rate=3e-3, batch=len(rows), epochs=epochs), folder).path
    parser = TrlParser((ScriptArguments, SFTConfig, ModelConfig))
    _, training, _ = parser.parse_args_and_config(["--config", str(file), *_PLAIN])
    set_seed(seed)
    done = SFTTrainer(model=model, args=training, train_dataset=rows, processing_class=processor)
    done.train()
    losses = [entry["loss"] for entry in done.state.log_history if "loss" in entry]
    return {"steps": len(losses), "loss_start": losses[0], "loss_end": losses[-1]}


def _grpo(model: Any, processor: Any, data: Path, folder: Path, steps: int, seed: int) -> dict[str, Any]:
    found = data_for("grpo", "trl", data)
    order = Order(model="tiny", data=found, out=folder / "grpo", per_device=8, seed=seed)
    file = write_config(
        "trl", order, Grpo(learning_rate=1e-4, tasks=2, group=8, max_length=1024, max_turns=6), folder
    ).path
    _, training, _ = parse(["--config", str(file), *_PLAIN, "--use_vllm", "False", "--max_steps", str(steps)])
    # Time on the simulated desktop passes by being asked for: nothing is waited for there.
    ticks = itertools.count()
    factory = environment_factory(
        demonstrations.RehearsalHost(capacity=64), demonstrations.nothing_to_read(), "gui",
        max_side=found.options.max_side, clock=lambda: float(next(ticks)),
    )  # fmt: skip
    endings: list[tuple[float | None, str | None, int]] = []

    def told(environments: list[Any], **_more: Any) -> list[None]:
        """A reward function that rewards nothing: it is called once a batch, when all episodes are over."""
        endings.extend((each.get_reward(), each.outcome, each.steps) for each in environments)
        return [None] * len(environments)

    rows = load_dataset(str(data), split="train", cache_dir=str(folder / "hf"))
    set_seed(seed)
    done = trainer(model, processor, training, rows, factory, reward_funcs=[told])
    done.train()
    rewards = [reward for reward, _, _ in endings]
    groups = [rewards[start : start + 8] for start in range(0, len(rewards), 8)]
    return {
        "steps": steps,
        "trajectories": len(endings),
        "environment_steps": sum(count for _, _, count in endings),
        "outcomes": dict(Counter(str(outcome) for _, outcome, _ in endings)),
        "rewards": groups,
        "groups_with_variance": sum(len({one for one in group if one is not None}) > 1 for group in groups),
        "log": [
            {key: entry[key] for key in ("reward", "reward_std", "frac_reward_zero_std", "grad_norm") if key in entry}
            for entry in done.state.log_history
        ],
    }


if __name__ == "__main__":
    main()
