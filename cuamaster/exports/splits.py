"""Which split a sample is in, from its lineage alone: the same in every round, and nothing of one split shows up in the other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal

from cuamaster.records.record import canonical_json
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Lineage

Split = Literal["train", "test", "neither"]
TEST_PERCENT = 5


def split_of(keys: Iterable[str], test_percent: int = TEST_PERCENT) -> Split:
    """Every key (a video, a template) belongs to train or test; what is made of keys of both belongs to neither.

    So neither a video nor a template is ever in both, and a later round moves nothing from one to the other.
    """
    sides = {_in_test(key, test_percent) for key in keys}
    if len(sides) == 2:
        return "neither"
    return "test" if True in sides else "train"


def lineage_keys(lineage: Iterable[Lineage], task: Task | None) -> set[str]:
    """The videos that something was made of, and the template of its task: which primitives of which applications it combines."""
    keys = {f"video {item.video_id}" for item in lineage if item.video_id}
    if task is not None:
        keys |= {f"video {item.video_id}" for item in task.lineage if item.video_id}
        keys.add(f"template {canonical_json(sorted(use.primitive.id for use in task.plan))}")
    return keys


def _in_test(key: str, test_percent: int) -> bool:
    return int(hashlib.sha256(key.encode()).hexdigest(), 16) % 100 < test_percent
