"""verl's MultiTurnSFTDataset: string contents split at `<image>`, counts asserted, earlier answers marked as not trainable.

Read with pandas (`dtype_backend="pyarrow"`); `trainable: false` masks an assistant turn (verl/utils/dataset/
multiturn_sft_dataset.py). There is no `tools` column: the system message holds the schemas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from cuamaster.exports.columns import IMAGES, STRING, Columns, list_of
from cuamaster.exports.options import Options
from cuamaster.exports.profiles.ms_swift import tagged_rows
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.sample import Sample
from cuamaster.exports.turns import FACTS, Row
from cuamaster.records.episode import Dropped

_TURNS = list_of(pa.struct([("role", STRING), ("content", STRING), ("trainable", pa.bool_())]))
_COLUMNS: Columns = {"messages": _TURNS, "images": IMAGES, **FACTS}


def _rows(sample: Sample, options: Options) -> Iterator[Row | Dropped]:
    for row in tagged_rows(sample, options):
        yield row if isinstance(row, Dropped) else {**row, "messages": _marked(row["messages"], row["step"])}


def _marked(turns: list[dict[str, str]], step: int | None) -> list[dict[str, Any]]:
    last = len(turns) - 1
    learnt = [turn["role"] == "assistant" and (step is None or index == last) for index, turn in enumerate(turns)]
    return [{**turn, "trainable": trained} for turn, trained in zip(turns, learnt, strict=True)]


PROFILE = Profile(
    name="verl-sft", stream="trajectories", rows=_rows, columns=lambda _: _COLUMNS,
    use="`data.train_files=DIR/train/*.parquet data.val_files=DIR/test/*.parquet` of `verl.trainer.sft_trainer`",
)  # fmt: skip
