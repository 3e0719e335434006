"""OpenAI's vision fine-tuning JSONL: `messages`, pictures as data URLs in user turns, `weight` 0 on answers not to be learnt.

Format: developers.openai.com/api/docs/guides/vision-fine-tuning (PNG, at most 10 MB each, only in user turns) and
supervised-fine-tuning (`weight`). The service takes a limited number of pictures an example: export with a history.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from cuamaster.exports.options import Options
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.sample import Sample
from cuamaster.exports.turns import Message, Row, talks
from cuamaster.records.episode import Dropped


def _rows(sample: Sample, options: Options) -> Iterator[Row | Dropped]:
    for talk in talks(sample, options):
        yield {"id": talk.id, "messages": talk.messages, "images": talk.pictures, "step": talk.step}


def _line(row: Row, pictures: list[dict[str, Any]]) -> dict[str, Any]:
    shown = iter(pictures)
    messages: list[Message] = []
    for index, message in enumerate(row["messages"]):
        if message["role"] == "user":
            parts = [_image(next(shown)) if part["type"] == "image" else part for part in message["content"]]
            messages.append({"role": "user", "content": parts})
        else:
            text = "\n".join(part["text"] for part in message["content"])
            earlier = message["role"] == "assistant" and row["step"] is not None and index < len(row["messages"]) - 1
            messages.append({"role": message["role"], "content": text, **({"weight": 0} if earlier else {})})
    return {"messages": messages}


def _image(picture: dict[str, Any]) -> dict[str, Any]:
    data = base64.b64encode(picture["bytes"]).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}", "detail": "high"}}


PROFILE = Profile(
    name="openai-jsonl", stream="trajectories", rows=_rows, line=_line,
    use="upload DIR/train/*.jsonl as training files, DIR/test/*.jsonl as validation files",
)  # fmt: skip
