"""Any policy behind an OpenAI-compatible endpoint that speaks Qwen's computer_use; sends and parses what SFT rows hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.adapters.chat import ChatAnswer, ChatClient, image_part
from cuamaster.dialects import qwen
from cuamaster.errors import InvalidAction, ModelAnswerError
from cuamaster.ports import Decision, Frame, Store
from cuamaster.records.episode import Node
from cuamaster.records.primitive import Mode
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action, Observation, Step


class OpenAIPolicy:
    """Sees the instruction, the path with its screenshots, and the hint after a rollback; never the plan or the verifier."""

    def __init__(
        self,
        chat: ChatClient,
        store: Store,
        mode: Mode = "gui",
        *,
        max_images: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """`max_images`: newest screenshots sent (None: all); `options` go to the endpoint (temperature, max_tokens, ...)."""
        self.name = f"openai_api:{chat.model}"
        self.mode: Mode = mode
        self._chat, self._store, self._max_images = chat, store, max_images
        self._options = {"temperature": 0.0, **(options or {})}
        self._instruction = ""

    def begin(self, task: Task) -> None:
        """Reads the instruction only."""
        self._instruction = task.instruction

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
        """One answer, asked for again once if it cannot be read.

        Raises ModelAnswerError after the second unreadable answer, ModelRefusal, EndpointUnavailable, BudgetExceeded.
        """
        messages = self.messages(frame, history, hint)
        cursor = _cursor(history)
        answer = self._chat.complete(messages, purpose="policy", **self._options)
        try:
            return _decision(answer, cursor)
        except InvalidAction as exc:
            repair = f"That answer cannot be carried out: {exc}. Answer this step again in the asked format."
        again = [*messages, {"role": "assistant", "content": answer.text}, {"role": "user", "content": repair}]
        answer = self._chat.complete(again, purpose="policy-repair", **self._options)
        try:
            return _decision(answer, cursor)
        except InvalidAction as exc:
            raise ModelAnswerError(f"{self._chat.model} gave no readable action twice: {exc}") from exc

    def messages(self, frame: Frame, history: Sequence[Node], hint: str) -> list[dict[str, Any]]:
        """What is sent: `qwen.render_steps` with the pictures in place as data URLs."""
        steps = [
            Step(observation=node.observation, actions=node.actions, thought=node.thought)
            for node in history
            if node.actions
        ]
        height, width = frame.image.shape[:2]
        now = Observation(
            screenshot=self._store.put(frame.png),
            width=width,
            height=height,
            response=history[-1].answer if history else "",
        )
        messages = qwen.render_steps(
            steps, instruction=self._instruction, mode=self.mode, current=now, hint=hint, max_images=self._max_images
        )
        pictures = iter(qwen.images_of(steps, now, self._max_images))
        for message in messages:
            message["content"] = [
                image_part(self._store.get(next(pictures))) if part["type"] == "image" else part
                for part in message["content"]
            ]
        return messages

    def state(self) -> dict[str, Any]:
        """Nothing: the next decision depends on the path alone."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Nothing to restore."""


def _decision(answer: ChatAnswer, cursor: tuple[float, float] | None) -> Decision:
    thought, calls = qwen.split_answer(answer.text)
    # a server with its own tool parser hands the calls over apart from the text
    calls = calls or [{"name": call.name, "arguments": _arguments(call.arguments)} for call in answer.tool_calls]
    if not calls:
        raise InvalidAction("the answer holds no <tool_call>", field="tool_call")
    actions: list[CUAAction] = qwen.decode_calls(calls, cursor)
    return Decision(
        actions=tuple(Action(action=action, evidence="model") for action in actions), thought=thought, raw=answer.text
    )


def _arguments(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as exc:
        raise InvalidAction(f"tool call arguments are not JSON: {exc}", field="arguments") from None


def _cursor(history: Sequence[Node]) -> tuple[float, float] | None:
    cursor: tuple[float, float] | None = None
    for node in history:
        for item, receipt in zip(node.actions, node.receipts, strict=False):
            if receipt.status != "rejected":
                cursor = qwen.cursor_after(item.action, cursor)
    return cursor
