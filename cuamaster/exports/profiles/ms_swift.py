"""ms-swift: `messages` with string contents, `<image>` where a picture goes, and `images` with as many entries.

Checked against `RowPreprocessor.check_messages` and `_cast_mm_data` (swift/llm/dataset/preprocessor/core.py): after the system
turn user and assistant alternate, no content is empty; images are `{bytes, path}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from cuamaster.exports.columns import IMAGES, TURNS, Columns
from cuamaster.exports.options import Options
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.sample import Sample
from cuamaster.exports.sft import conversation
from cuamaster.exports.turns import FACTS, Row, ambiguous, facts, talks
from cuamaster.records.episode import Dropped

COLUMNS: Columns = {"messages": TURNS, "images": IMAGES, **FACTS}


def tagged_rows(sample: Sample, options: Options) -> Iterator[Row | Dropped]:
    """`messages` with tags and `images`: what ms-swift and LLaMA-Factory read."""
    for talk in talks(sample, options):
        turns = conversation(talk.messages)
        yield ambiguous(talk) if turns is None else {"messages": turns, "images": talk.pictures, **facts(talk, sample)}


PROFILE = Profile(
    name="ms-swift", stream="trajectories", rows=tagged_rows, columns=lambda _: COLUMNS,
    use="`swift sft --dataset DIR/train/*.parquet ...`; made with a history: `--loss_scale last_round`",
)  # fmt: skip
