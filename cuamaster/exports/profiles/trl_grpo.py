"""TRL's GRPOTrainer: `prompt`, and the columns that its environment's `reset(**kwargs)` is given."""

from __future__ import annotations

from collections.abc import Iterator

from cuamaster.exports.columns import TURNS, Columns
from cuamaster.exports.options import Options
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.profiles.verl import ENVIRONMENT
from cuamaster.exports.rl import Released, rl_row
from cuamaster.exports.turns import Row
from cuamaster.records.episode import Dropped

_COLUMNS: Columns = {"prompt": TURNS, **ENVIRONMENT}


def _rows(item: Released, options: Options) -> Iterator[Row | Dropped]:
    row = rl_row(item, index=0, mode=options.mode)
    yield {"id": item.task.id, **{name: row[name] for name in _COLUMNS}}


PROFILE = Profile(
    name="trl-grpo", stream="tasks", rows=_rows, columns=lambda _: _COLUMNS,
    use="`GRPOTrainer(train_dataset=load_dataset(DIR, split=\"train\"), environment_factory=...)`",
)  # fmt: skip
