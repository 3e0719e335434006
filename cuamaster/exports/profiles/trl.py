"""TRL's SFTTrainer: `messages` and `images`; with a history `prompt` and `completion`, so that only the step's answer is learnt.

Contents are lists of parts, an image part for each picture in order, as vision models need it ("Vision datasets" in TRL's
docs/source/dataset_formats.md). There is no `tools` column: the system message holds the schemas already, and a chat template
would write them a second time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from cuamaster.exports.columns import IMAGES, JSON, Columns
from cuamaster.exports.options import Options
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.sample import Sample
from cuamaster.exports.turns import FACTS, Row, facts, talks
from cuamaster.records.episode import Dropped


def _columns(options: Options) -> Columns:
    texts: Columns = {"messages": JSON} if options.history is None else {"prompt": JSON, "completion": JSON}
    return {**texts, "images": IMAGES, **FACTS}


def _rows(sample: Sample, options: Options) -> Iterator[Row | Dropped]:
    for talk in talks(sample, options):
        if talk.step is None:
            texts = {"messages": talk.messages}
        else:
            texts = {"prompt": talk.messages[:-1], "completion": talk.messages[-1:]}
        told = {name: json.dumps(value, ensure_ascii=False) for name, value in texts.items()}
        yield {**told, "images": talk.pictures, **facts(talk, sample)}


PROFILE = Profile(
    name="trl", stream="trajectories", rows=_rows, columns=_columns,
    use="`SFTTrainer(train_dataset=load_dataset(DIR, split=\"train\"), ...)` (datasets >= 5.0)",
)  # fmt: skip
