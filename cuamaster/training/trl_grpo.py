"""GRPO on desktops with TRL: `python -m cuamaster.training.trl_grpo --config grpo.yaml`, under `accelerate launch` for more devices.

Needs what the package does not bring: torch, trl and, for `use_vllm`, vllm. Desktops are those of the settings (CUAMASTER_*).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuamaster import wiring
from cuamaster.settings import Settings
from cuamaster.training.data import data_for
from cuamaster.training.engines.trl import TEMPLATE
from cuamaster.training.trl_environment import environment_factory

if TYPE_CHECKING:
    from trl import GRPOTrainer


def speak(processor: Any, speaks: str = "qwen3-vl") -> Any:
    """The processor or tokenizer with the turns of exported rows, and told how calls are found in an answer of the dialect."""
    from trl.chat_template_utils import qwen3_5_template, qwen3_template

    processor.chat_template = TEMPLATE.read_text(encoding="utf-8")
    tokenizer = getattr(processor, "tokenizer", processor)
    tokenizer.response_template = qwen3_5_template if speaks == "qwen3.5" else qwen3_template
    return processor


def trainer(
    model: Any, processor: Any, arguments: Any, rows: Any, environments: Callable[[], Any], **more: Any
) -> GRPOTrainer:
    """TRL's trainer over the rows of a dataset of profile trl-grpo.

    `model`: a name, folder or model; `arguments`: GRPOConfig; `environments`: of `environment_factory`; `more`: for GRPOTrainer.
    """
    from trl import GRPOTrainer

    return GRPOTrainer(
        model=model,
        args=arguments,
        train_dataset=rows,
        processing_class=processor,
        environment_factory=environments,
        **more,
    )


def parse(arguments: Sequence[str] | None = None) -> tuple[Any, Any, Any]:
    """(ScriptArguments, GRPOConfig, ModelConfig) of a command line with --config; options after the file win over it."""
    from trl import GRPOConfig, ModelConfig, ScriptArguments, TrlParser

    script, training, model = TrlParser((ScriptArguments, GRPOConfig, ModelConfig)).parse_args_and_config(arguments)
    return script, training, model


def main(arguments: Sequence[str] | None = None) -> None:
    """Train as a file of `cuamaster train-config grpo --engine trl` says."""
    from datasets import load_dataset
    from transformers import AutoProcessor
    from trl import get_peft_config, get_quantization_config

    script, training, model = parse(arguments)
    data = data_for("grpo", "trl", Path(script.dataset_name))
    training.model_init_kwargs = {"dtype": model.dtype, **(training.model_init_kwargs or {})}
    settings = Settings(mode=data.options.mode)
    processor = AutoProcessor.from_pretrained(model.model_name_or_path, padding_side="left")
    with wiring.desktop_ports(settings) as ports:
        done = trainer(
            model.model_name_or_path,
            speak(processor, settings.dialect),
            training,
            load_dataset(str(data.folder), split=script.dataset_train_split),
            environment_factory(
                ports.host, ports.reader, data.options.mode, speaks=settings.dialect, max_side=data.options.max_side
            ),
            peft_config=get_peft_config(model),
            quantization_config=get_quantization_config(model),
        )
        done.train(resume_from_checkpoint=training.resume_from_checkpoint)
        done.save_model(training.output_dir)


if __name__ == "__main__":
    main()
