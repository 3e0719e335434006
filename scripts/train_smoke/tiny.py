"""A vision-language model of about a million random weights and its processor, made from a configuration: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration
from transformers.models.qwen2_5_vl.processing_qwen2_5_vl import Qwen2_5_VLProcessor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.processing_utils import ProcessorMixin

PAD, END = "<|endoftext|>", "<|im_end|>"
MARKS = (PAD, "<|im_start|>", END, "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
VOCABULARY = 2000
LONGEST = 24
"""Characters of a token: pairs may reach over words, so that the long system message costs little, but no whole answer is one."""
PATCH = 14


class TinyProcessor(Qwen2_5_VLProcessor):  # type: ignore[misc]  # torch's packages are not read by mypy
    """Qwen2.5-VL's processor without videos, which alone of all it does would need torchvision."""

    def __init__(self, image_processor: Any = None, tokenizer: Any = None, chat_template: str | None = None) -> None:
        self.image_token, self.video_token = "<|image_pad|>", "<|video_pad|>"
        self.image_token_id = tokenizer.convert_tokens_to_ids(self.image_token)
        self.video_token_id = tokenizer.convert_tokens_to_ids(self.video_token)
        ProcessorMixin.__init__(self, image_processor, tokenizer, chat_template=chat_template)


def processor_of(texts: Iterable[str]) -> TinyProcessor:
    """Byte pairs learnt from the dataset's own texts, Qwen's marks, and pictures cut into patches by Pillow."""
    pairs = Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    pairs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    pairs.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=VOCABULARY, max_token_length=LONGEST, special_tokens=list(MARKS), initial_alphabet=alphabet
        ),
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pairs, eos_token=END, pad_token=PAD, padding_side="left")
    pictures = Qwen2VLImageProcessorPil(
        patch_size=PATCH, merge_size=2, size={"shortest_edge": (2 * PATCH) ** 2, "longest_edge": 64 * (2 * PATCH) ** 2}
    )
    return TinyProcessor(pictures, tokenizer)


def model_of(processor: TinyProcessor, seed: int) -> Any:
    """Qwen2.5-VL with two small layers of each kind and random weights."""
    torch.manual_seed(seed)
    token = processor.tokenizer.convert_tokens_to_ids
    width, heads = 128, 4
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(processor.tokenizer), "hidden_size": width, "intermediate_size": 2 * width, "num_hidden_layers": 2,
            "num_attention_heads": heads, "num_key_value_heads": heads, "max_position_embeddings": 8192,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [4, 6, 6]},
            "bos_token_id": None, "eos_token_id": token(END), "pad_token_id": token(PAD),
        },
        vision_config={
            "depth": 2, "hidden_size": 64, "intermediate_size": 128, "num_heads": 4, "out_hidden_size": width,
            "patch_size": PATCH, "fullatt_block_indexes": [1],
        },
        image_token_id=token("<|image_pad|>"), video_token_id=token("<|video_pad|>"),
        vision_start_token_id=token("<|vision_start|>"), vision_end_token_id=token("<|vision_end|>"),
        tie_word_embeddings=True,
    )  # fmt: skip
    model = Qwen2_5_VLForConditionalGeneration(config)
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = token(END), token(PAD)
    return model
