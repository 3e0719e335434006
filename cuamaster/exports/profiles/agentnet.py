"""AgentNet JSONL: a trajectory a line, pyautogui code with places as fractions 0-1, pictures beside it under images/.

Fields as in xlangai/AgentNet's dataset card. `alignment_score`, `efficiency_score`, `last_step_correct` and the other judgements
of its annotators are left out: nobody made them here. `task_completed` is true, because a verifier said so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cuamaster.dialects.dialect import Screen
from cuamaster.dialects.pyautogui_code import AGENTNET
from cuamaster.errors import InvalidAction
from cuamaster.exports.options import Options
from cuamaster.exports.pictures import Picture
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.sample import Sample
from cuamaster.exports.turns import Row, spoken
from cuamaster.records.episode import Dropped
from cuamaster.records.trajectory import Step


def _rows(sample: Sample, options: Options) -> Iterator[Row | Dropped]:
    if options.history is not None:
        raise InvalidAction("agentnet lines are whole trajectories", field="history", hint="export without a history")
    yield {
        "id": sample.id,
        "task_id": sample.id,
        "instruction": sample.instruction,
        "natural_language_task": sample.instruction,
        "task_completed": True,
        "domain": sample.task.domain if sample.task else "",
        "traj": [_step(index, step) for index, step in enumerate(spoken(sample.steps, options))],
        "images": [Picture.of(step.observation) for step in sample.steps],
    }


def _step(index: int, step: Step) -> dict[str, Any]:
    """One entry of `traj`; `losses` says what the code does not, such as how long a wait was."""
    screen = Screen(step.observation.width, step.observation.height)
    actions = [item.action for item in step.actions]
    losses = [str(loss) for loss in AGENTNET.express(actions, screen).losses]
    value = {"code": AGENTNET.render(actions, screen, lossy=True), "thought": step.thought, "action": step.thought}
    return {"index": index, "value": {**value, **({"losses": losses} if losses else {})}}


def _line(row: Row, pictures: list[dict[str, Any]]) -> dict[str, Any]:
    steps = [
        {"index": step["index"], "image": picture["path"], "value": step["value"]}
        for step, picture in zip(row["traj"], pictures, strict=True)
    ]
    return {**{name: value for name, value in row.items() if name not in ("id", "images")}, "traj": steps}


PROFILE = Profile(
    name="agentnet", stream="trajectories", rows=_rows, line=_line, files=True,
    use="one JSON object a line; `image` is a path below this folder",
)  # fmt: skip
