"""Any policy behind an OpenAI-compatible endpoint, in the dialect its model speaks; sends and parses what SFT rows hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.adapters.chat import ChatAnswer, ChatClient, image_part
from cuamaster.dialects.answers import Call, Found
from cuamaster.dialects.conversation import images_of, render_steps, system_prompt
from cuamaster.dialects.coordinates import Point, Screen
from cuamaster.dialects.dialect import Dialect
from cuamaster.dialects.lenient_json import NotJson, read_json
from cuamaster.dialects.lowering import cursor_after
from cuamaster.dialects.registry import dialect
from cuamaster.errors import InvalidAction, ModelAnswerError, UnreadableAnswer
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
        speaks: str = "qwen3-vl",
        max_images: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """`speaks`: the model's dialect, by its name in the registry. `max_images`: newest screenshots sent (None: all); `options`
        go to the endpoint (temperature, max_tokens, ...).

        Raises UnknownName, and InvalidInput for a dialect that has no prompt or no words for the mode.
        """
        self.name = f"openai_api:{chat.model}"
        self.mode: Mode = mode
        self._dialect = dialect(speaks)
        system_prompt(self._dialect, mode, Screen(1000, 1000))
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
        height, width = frame.image.shape[:2]
        screen = Screen(width, height, _cursor(history))
        answer = self._chat.complete(messages, purpose="policy", **self._options)
        try:
            return _decision(answer, self._dialect, screen)
        except InvalidAction as exc:
            repair = f"That answer cannot be carried out: {exc}. Answer this step again in the asked format."
        again = [*messages, {"role": "assistant", "content": answer.text}, {"role": "user", "content": repair}]
        answer = self._chat.complete(again, purpose="policy-repair", **self._options)
        try:
            return _decision(answer, self._dialect, screen)
        except InvalidAction as exc:
            raise ModelAnswerError(f"{self._chat.model} gave no readable action twice: {exc}") from exc

    def messages(self, frame: Frame, history: Sequence[Node], hint: str) -> list[dict[str, Any]]:
        """What is sent: `conversation.render_steps` with the pictures in place as data URLs."""
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
        messages = render_steps(
            self._dialect,
            steps,
            instruction=self._instruction,
            mode=self.mode,
            current=now,
            hint=hint,
            max_images=self._max_images,
            lossy=True,  # what was done, as well as the model's own words can tell it
        )
        pictures = iter(images_of(steps, now, self._max_images))
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


def _decision(answer: ChatAnswer, spoken: Dialect, screen: Screen) -> Decision:
    try:
        found = spoken.found(answer.text)
    except UnreadableAnswer:
        # a server with its own tool parser hands the calls over apart from the text
        if not answer.tool_calls:
            raise
        calls = tuple(Call(call.name, _arguments(call.arguments)) for call in answer.tool_calls)
        found = Found(answer.text.strip(), calls)
    actions = spoken.decode_calls(found.calls, screen)
    return Decision(
        actions=tuple(Action(action=action, evidence="model") for action in actions),
        thought=found.thought,
        raw=answer.text,
    )


def _arguments(text: str) -> dict[str, Any]:
    try:
        arguments, _ = read_json(text)
    except NotJson as exc:
        raise InvalidAction(f"tool call arguments are not JSON: {exc}", field="arguments") from None
    if not isinstance(arguments, dict):
        raise InvalidAction(f"tool call arguments must be an object, got {arguments!r}", field="arguments")
    return arguments


def _cursor(history: Sequence[Node]) -> Point | None:
    cursor: Point | None = None
    for node in history:
        for item, receipt in zip(node.actions, node.receipts, strict=False):
            if receipt.status != "rejected":
                cursor = cursor_after(item.action, cursor)
    return cursor
