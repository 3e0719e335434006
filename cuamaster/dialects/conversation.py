"""A rollout as the messages of a chat in any dialect that has a prompt: what a policy sends and a training row holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuamaster.dialects.coordinates import Screen
from cuamaster.dialects.dialect import Dialect
from cuamaster.dialects.lowering import cursor_after
from cuamaster.errors import InvalidInput
from cuamaster.records.primitive import Mode
from cuamaster.records.trajectory import Observation, Step

_MAX_RESPONSE = 4000
_LEFT_OUT = {"type": "text", "text": "(earlier screenshot left out)"}


def render_steps(
    spoken: Dialect,
    steps: Sequence[Step],
    *,
    instruction: str,
    mode: Mode = "gui",
    current: Observation | None = None,
    hint: str = "",
    max_images: int | None = None,
    lossy: bool = False,
) -> list[dict[str, Any]]:
    """System, then user and assistant turns; every content is a list of {"type": "text", "text"} and {"type": "image"} parts.

    `current` adds a last user turn to be answered, `hint` to that turn only (training rows never pass one); `max_images`
    keeps only the newest pictures. The k-th image part shows the k-th digest of `images_of` with the same arguments.
    Raises Inexpressible for an action that the dialect has no words for, or, unless `lossy`, only words with a loss.
    """
    observations = [step.observation for step in steps] + ([current] if current else [])
    first = observations[0] if observations else Observation(screenshot="", width=1000, height=1000)
    messages = [{"role": "system", "content": [_text(system_prompt(spoken, mode, Screen(first.width, first.height)))]}]
    cursor = None
    for index, observation in enumerate(observations):
        words = f"Instruction: {instruction}" if index == 0 else told_response(observation.response)
        if hint and current is not None and index == len(steps):
            words += f"\n\nFeedback on an earlier attempt, which was undone: {hint}"
        messages.append({"role": "user", "content": [_text(words), {"type": "image"}]})
        if index < len(steps):
            step = steps[index]
            actions = [item.action for item in step.actions]
            screen = Screen(observation.width, observation.height, cursor)
            answer = spoken.render(actions, screen, thought=step.thought, lossy=lossy)
            messages.append({"role": "assistant", "content": [_text(answer)]})
            for action in actions:
                cursor = cursor_after(action, cursor)
    return messages if max_images is None else newest(messages, max_images)


def newest(messages: Sequence[dict[str, Any]], max_images: int) -> list[dict[str, Any]]:
    """What `render_steps` gives with `max_images`, from what it gives without; `messages` may be cut after any answer."""
    shown = list(messages)
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    for place in users[: max(0, len(users) - max_images)]:
        words, _ = messages[place]["content"]
        shown[place] = {"role": "user", "content": [words, _LEFT_OUT]}
    return shown


def images_of(steps: Sequence[Step], current: Observation | None = None, max_images: int | None = None) -> list[str]:
    """Screenshot digests in the order of the image parts of `render_steps`."""
    digests = [step.observation.screenshot for step in steps] + ([current.screenshot] if current else [])
    return digests if max_images is None else digests[max(0, len(digests) - max_images) :]


def system_prompt(spoken: Dialect, mode: Mode, screen: Screen) -> str:
    """The system message; raises InvalidInput for a format with no prompt of its own, or that cannot work in the mode."""
    if spoken.prompt is None:
        raise InvalidInput(
            f"{spoken.name} has no prompt for a chat endpoint",
            hint="it belongs to an API with tools of its own, or is data only",
        )
    if mode != "gui" and not spoken.says.shell:
        raise InvalidInput(f"{spoken.name} has no words for the shell", hint="use mode gui, or qwen3-vl or qwen3.5")
    return spoken.prompt(mode, screen)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def shown_response(answer: str) -> str:
    """What a shell or tool answered as the model is told it: the middle of a long answer left out, `Done.` for none."""
    if len(answer) > _MAX_RESPONSE:
        half = _MAX_RESPONSE // 2
        answer = f"{answer[:half]}\n... {len(answer) - _MAX_RESPONSE} characters left out ...\n{answer[-half:]}"
    return answer or "Done."


def told_response(answer: str) -> str:
    """`shown_response` as the text of the user turn that answers calls."""
    return f"<tool_response>\n{shown_response(answer)}\n</tool_response>"
