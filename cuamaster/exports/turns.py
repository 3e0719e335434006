"""A sample as the conversations that rows show: the whole of it, or one a step with the newest screenshots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cuamaster.dialects import qwen
from cuamaster.dialects.conversation import newest
from cuamaster.exports.columns import INT, STRING, STRINGS, Columns
from cuamaster.exports.lineage import license_of
from cuamaster.exports.options import Options
from cuamaster.exports.pictures import Picture
from cuamaster.exports.sample import Sample
from cuamaster.exports.sft import IMAGE_TAG
from cuamaster.records.episode import Dropped
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Lineage, Step

Message = dict[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Talk:
    """Messages that end with an answer, each content a list of text and image parts, and the pictures of the image parts."""

    id: str
    messages: list[Message]
    pictures: list[Picture]
    step: int | None
    """Which step the last answer is of; None: every answer is to be learnt, not only the last."""


def talks(sample: Sample, options: Options) -> Iterator[Talk]:
    """One conversation for the whole sample, or with `options.history` one for each step.

    Raises InvalidAction for what the dialect cannot say, before the first of them.
    """
    steps = spoken(sample.steps, options)
    messages = qwen.render_steps(steps, instruction=sample.instruction, mode=sample.mode)
    pictures = [Picture.of(step.observation) for step in steps]
    if options.history is None:
        yield Talk(sample.id, messages, pictures, None)
        return
    for index in range(
        len(steps)
    ):  # said once for all of them: a question and an answer a step, after the system's turn
        end = index + 1
        yield Talk(
            id=f"{sample.id}/{index}",
            messages=newest(messages[: 1 + 2 * end], options.history),
            pictures=pictures[max(0, end - options.history) : end],
            step=index,
        )


def spoken(steps: Sequence[Step], options: Options) -> Sequence[Step]:
    """The steps with their thoughts, or without."""
    return steps if options.thoughts else [step.model_copy(update={"thought": ""}) for step in steps]


def ambiguous(talk: Talk) -> Dropped:
    """A conversation that cannot be told with `<image>` tags."""
    return Dropped(item_id=talk.id, stage="export", reason="image-tag-in-text", detail=f"a text holds {IMAGE_TAG}")


FACTS: Columns = {
    "id": STRING,
    "task_id": STRING,
    "round": INT,
    "step": INT,
    "domain": STRING,
    "K": INT,
    "N": INT,
    "apps": STRINGS,
    "proof": STRING,
    "license": STRING,
}
"""Columns that every dataset of trajectories has beside those its trainer reads."""


def facts(talk: Talk, sample: Sample) -> Row:
    """The columns of `FACTS`."""
    return {
        **facts_of(sample.task, sample.lineage, sample.round, talk.id, talk.step),
        "apps": list(sample.apps),
        "proof": sample.proof,
    }


def facts_of(task: Task | None, lineage: Sequence[Lineage], round_number: int, row_id: str, step: int | None) -> Row:
    """The columns of `FACTS` that follow from a task."""
    return {
        "id": row_id,
        "task_id": task.id if task else None,
        "round": round_number,
        "step": step,
        "domain": task.domain if task else None,
        "K": task.k if task else None,
        "N": task.n if task else None,
        "apps": list(task.apps) if task else [],
        "proof": "verified",
        "license": license_of(lineage),
    }
