"""verl's RLHFDataset: `prompt`, `data_source`, `ability`, `reward_model`, `extra_info`, `agent_name`, read with `datasets`.

The reward is computed where the guest is, from `reward_model.ground_truth` (the verifier as JSON); `extra_info` carries what an
agent loop needs to set the guest up. Neither ever shows up in `prompt` (verl/utils/dataset/rl_dataset.py).
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from cuamaster.exports.columns import FLOAT, INT, RL, STRING, STRINGS, Columns
from cuamaster.exports.options import Options
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.rl import Released, rl_row
from cuamaster.exports.turns import Row
from cuamaster.records.episode import Dropped

ENVIRONMENT: Columns = {
    name: RL[name]
    for name in (
        "task_id", "instruction", "env_id", "env_image_digest", "os", "snapshot_id", "setup_json", "verifier_json",
        "verifier_sha256", "task_json", "action_space_version", "mode", "K", "N", "apps", "domain", "strategy", "capabilities",
        "screen_w", "screen_h", "max_steps", "timeout_s", "seed", "group_size_hint", "base_success_rate", "round",
        "lineage_ids", "license",
    )
}  # fmt: skip
"""What an environment is reset from, and what a task is told apart by."""

_KINDS = {
    **dict.fromkeys(ENVIRONMENT, STRING),
    **{name: kind for name, kind in ENVIRONMENT.items() if kind in (INT, FLOAT, STRINGS)},
}
_EXTRA = pa.struct([("index", INT), ("split", STRING), *((name, _KINDS[name]) for name in ENVIRONMENT)])
_COLUMNS: Columns = {
    **{name: RL[name] for name in ("data_source", "prompt", "ability", "agent_name", "reward_model")},
    "extra_info": _EXTRA,
}


def _rows(item: Released, options: Options) -> Iterator[Row | Dropped]:
    row = rl_row(item, index=_index(item.task.id), mode=options.mode)
    extra = {"index": row["extra_info"]["index"], "split": row["split"], **{name: row[name] for name in ENVIRONMENT}}
    yield {"id": item.task.id, **{name: row[name] for name in _COLUMNS}, "extra_info": extra}


def _index(task_id: str) -> int:
    """A number of its own for each task, the same in every dataset."""
    return int(task_id.rpartition("-")[2][:12], 16)


PROFILE = Profile(
    name="verl", stream="tasks", rows=_rows, columns=lambda _: _COLUMNS,
    use="`data.train_files=DIR/train/*.parquet data.val_files=DIR/test/*.parquet`; the agent loop is named in `agent_name`",
)  # fmt: skip
