"""A row of a dataset and a rollout of TRL become the same text, as far as both go."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from trl import chat_template_utils

from cuamaster.action_space import CUAAction
from cuamaster.dialects import qwen
from cuamaster.exports.rl import prompt_of
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action, Observation, Step
from cuamaster.training.engines.trl import TEMPLATE

SCREEN = Observation(screenshot="", width=1280, height=800)
IMAGE = {"type": "image"}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    made = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), eos_token="<|im_end|>")
    made.chat_template = TEMPLATE.read_text(encoding="utf-8")
    return made


def shown(tokenizer: Any, messages: list[dict[str, Any]], **more: Any) -> str:
    text = tokenizer.apply_chat_template(messages, tokenize=False, **more)
    assert isinstance(text, str)
    return text


def test_rows_and_rollouts_are_the_same_text(tokenizer: Any, task: Task) -> None:
    steps = [
        Step(observation=SCREEN, actions=(Action(action=CUAAction("keyboard.type", {"text": "milk ü"})),), thought="Type it"),
        Step(observation=SCREEN.model_copy(update={"response": "exit 0"}), actions=(Action(action=CUAAction("finish", {"status": "success"})),)),
    ]  # fmt: skip
    row = shown(tokenizer, qwen.render_steps(steps, instruction=task.instruction, mode="gui"))
    system, user = prompt_of(task, "gui")
    answers = [qwen.render_answer(step.thought, [item.action for item in step.actions]) for step in steps]
    rollout: list[dict[str, Any]] = [
        system,
        {"role": "user", "content": [{"type": "text", "text": user["content"]}, IMAGE]},
        {"role": "assistant", "content": answers[0]},
        {"role": "tool", "name": "computer_use", "content": [{"type": "text", "text": "exit 0"}, IMAGE]},
        {"role": "assistant", "content": answers[1]},
    ]
    assert shown(tokenizer, rollout) == row
    assert row.endswith("</tool_call><|im_end|>\n") and row.count("<|image_pad|>") == 2
    assert row.startswith(shown(tokenizer, rollout[:2], add_generation_prompt=True, tools=[{"ignored": True}]))


def test_calls_that_were_read_are_written_as_the_dialect_writes_them(tokenizer: Any) -> None:
    action = CUAAction("keyboard.type", {"text": "milk ü"})
    call = {"type": "function", "function": {"name": "computer_use", "arguments": {"action": "type", "text": "milk ü"}}}
    read = [{"role": "assistant", "content": "Action: Type it", "tool_calls": [call, call]}]
    (words,) = (qwen.render_answer("Type it", [action, action]),)
    assert shown(tokenizer, read) == f"<|im_start|>assistant\n{words}<|im_end|>\n"


def test_several_answers_of_tools_are_one_turn(tokenizer: Any) -> None:
    text = shown(
        tokenizer,
        [{"role": "tool", "content": "a"}, {"role": "tool", "content": [{"type": "text", "text": "b"}, IMAGE]}],
    )
    assert text.count("<|im_start|>user") == 1 and text.count("<tool_response>") == 2
    assert text.endswith("b\n</tool_response><|vision_start|><|image_pad|><|vision_end|><|im_end|>\n")


def test_trl_takes_the_template_for_rollouts_with_tools(tokenizer: Any) -> None:
    assert chat_template_utils.supports_tool_calling(tokenizer)
    assert chat_template_utils.is_chat_template_prefix_preserving(tokenizer)
