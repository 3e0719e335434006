"""TRL's DPOTrainer for vision models: `prompt`, `chosen`, `rejected` and `images`, one row a preference pair of one step."""

from __future__ import annotations

import json
from collections.abc import Iterator

from cuamaster.dialects import qwen
from cuamaster.exports.columns import IMAGES, JSON, Columns
from cuamaster.exports.options import Options
from cuamaster.exports.pairs import Pair
from cuamaster.exports.pictures import Picture
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.turns import FACTS, Row, facts_of, spoken
from cuamaster.records.episode import Dropped
from cuamaster.records.trajectory import Step

_COLUMNS: Columns = {"prompt": JSON, "chosen": JSON, "rejected": JSON, "images": IMAGES, **FACTS}


def _rows(pair: Pair, options: Options) -> Iterator[Row | Dropped]:
    steps = spoken([*pair.before, pair.chosen], options)
    shown = steps if options.history is None else steps[-options.history :]
    messages = qwen.render_steps(
        steps, instruction=pair.task.instruction, mode=pair.episode.mode, max_images=options.history
    )
    (wrong,) = spoken([pair.rejected], options)
    rejected = [_answer(wrong)]
    if rejected == messages[-1:]:
        yield Dropped(item_id=pair.id, stage="export", reason="same-words", detail="the dialect says both in one way")
        return
    yield {
        "prompt": json.dumps(messages[:-1], ensure_ascii=False),
        "chosen": json.dumps(messages[-1:], ensure_ascii=False),
        "rejected": json.dumps(rejected, ensure_ascii=False),
        "images": [Picture.of(step.observation) for step in shown],
        **facts_of(pair.task, pair.lineage, pair.round, pair.id, len(pair.before)),
    }


def _answer(step: Step) -> dict[str, object]:
    text = qwen.render_answer(step.thought, [item.action for item in step.actions])
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


PROFILE = Profile(
    name="trl-dpo", stream="pairs", rows=_rows, columns=lambda _: _COLUMNS,
    use="`DPOTrainer(train_dataset=load_dataset(DIR, split=\"train\"), ...)` (datasets >= 5.0)",
)  # fmt: skip
