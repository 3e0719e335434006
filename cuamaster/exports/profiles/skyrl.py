"""SkyRL's PromptDataset: `prompt`, `env_class`, `reward_spec`; every further column reaches the environment as an extra.

See skyrl_train/dataset/dataset.py: rows are read with `datasets`, what is not the prompt or `env_class` becomes `env_extras`.
"""

from __future__ import annotations

from collections.abc import Iterator

from cuamaster.exports.columns import RL, Columns
from cuamaster.exports.options import Options
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.profiles.verl import ENVIRONMENT
from cuamaster.exports.rl import Released, rl_row
from cuamaster.exports.turns import Row
from cuamaster.records.episode import Dropped

_COLUMNS: Columns = {
    **{name: RL[name] for name in ("data_source", "prompt", "env_class", "reward_spec")},
    **ENVIRONMENT,
}


def _rows(item: Released, options: Options) -> Iterator[Row | Dropped]:
    row = rl_row(item, index=0, mode=options.mode)
    yield {"id": item.task.id, **{name: row[name] for name in _COLUMNS}}


PROFILE = Profile(
    name="skyrl", stream="tasks", rows=_rows, columns=lambda _: _COLUMNS,
    use="`data.train_data=\"['DIR/train/<file>.parquet']\" data.val_data=\"['DIR/test/<file>.parquet']\"`",
)  # fmt: skip
