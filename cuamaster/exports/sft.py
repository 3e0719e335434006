"""sft.parquet and unproven.parquet: one row a trajectory, messages exactly as the policy sends and parses them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuamaster.action_space import ACTION_SPACE_VERSION
from cuamaster.dialects import qwen
from cuamaster.errors import IntegrityError, InvalidAction, MediaError
from cuamaster.exports.columns import SFT, schema
from cuamaster.exports.lineage import lineage_columns
from cuamaster.exports.pictures import Album, Picture, lost
from cuamaster.exports.sample import RoundData, Sample
from cuamaster.exports.samples import samples
from cuamaster.exports.writer import ExportFile, parquet_file
from cuamaster.ports import Store
from cuamaster.records.episode import Dropped
from cuamaster.records.record import canonical_json

DIALECT = "qwen-computer-use"
IMAGE_TAG = "<image>"


@dataclass(frozen=True)
class SftReport:
    """The two files, and the trajectories that could not be written, with reasons."""

    sft: ExportFile
    unproven: ExportFile
    dropped: tuple[Dropped, ...]


def write_sft(rounds: Sequence[RoundData], store: Store, folder: Path) -> SftReport:
    """Write the union of the rounds' trajectories. A row whose pictures or actions cannot be rendered is dropped with a reason.

    One trajectory after the other: memory does not grow with their number. Raises StoreFull; IntegrityError for an episode
    without its task.
    """
    dropped: list[Dropped] = []
    with (
        Album(store) as album,
        parquet_file(folder / "sft.parquet", schema(SFT)) as sft,
        parquet_file(folder / "unproven.parquet", schema(SFT)) as unproven,
    ):
        for sample in samples(rounds):
            row = sample if isinstance(sample, Dropped) else _row_or_dropped(sample, album)
            if isinstance(row, Dropped):
                dropped.append(row)
            else:
                (unproven if row["proof"] == "none" else sft).add(row)
    return SftReport(sft.written(), unproven.written(), tuple(dropped))


def _row_or_dropped(sample: Sample, album: Album) -> dict[str, Any] | Dropped:
    try:
        row = sft_row(sample)
        return {**row, "images": album.show(row["images"])}
    except InvalidAction as exc:
        return Dropped(item_id=sample.id, stage="export", reason="not-in-dialect", detail=str(exc))
    except (IntegrityError, MediaError) as exc:
        return Dropped(item_id=sample.id, stage="export", reason=lost(exc), detail=str(exc))


def sft_row(sample: Sample) -> dict[str, Any]:
    """One row in the columns of `columns.SFT`, its images as `Picture`s; raises InvalidAction where the dialect has no words."""
    messages = qwen.render_steps(sample.steps, instruction=sample.instruction, mode=sample.mode)
    task, first = sample.task, sample.steps[0].observation
    return {
        "id": sample.id,
        "task_id": task.id if task else None,
        "instruction": sample.instruction,
        "messages": json.dumps(messages, ensure_ascii=False),
        "conversation": conversation(messages),
        "images": [Picture.of(step.observation) for step in sample.steps],
        "tools_json": json.dumps(qwen.tools(sample.mode), ensure_ascii=False),
        "steps_json": canonical_json([step.model_dump(mode="json") for step in sample.steps]),
        "dialect": DIALECT,
        "mode": sample.mode,
        "source": sample.source,
        "policy": sample.policy,
        "proof": sample.proof,
        "reason": sample.reason,
        "round": sample.round,
        "n_steps": len(sample.steps),
        "n_actions": sum(len(step.actions) for step in sample.steps),
        "n_rollbacks": sample.n_rollbacks,
        "K": task.k if task else None,
        "N": task.n if task else None,
        "apps": list(sample.apps),
        "domain": task.domain if task else None,
        "strategy": task.strategy if task else None,
        "episode_id": sample.episode_id,
        "env_id": task.environment.image if task else None,
        "env_image_digest": sample.image_digest,
        "screen_w": first.width,
        "screen_h": first.height,
        **lineage_columns(sample.lineage),
        "action_space_version": ACTION_SPACE_VERSION,
    }


def conversation(messages: Iterable[dict[str, Any]]) -> list[dict[str, str]] | None:
    """The same turns with string contents and `<image>` where a picture goes; None if a text holds that tag itself."""
    turns = []
    for message in messages:
        parts = [IMAGE_TAG if part["type"] == "image" else part["text"] for part in message["content"]]
        if any(part["type"] == "text" and IMAGE_TAG in part["text"] for part in message["content"]):
            return None
        turns.append({"role": message["role"], "content": "\n".join(parts)})
    return turns
