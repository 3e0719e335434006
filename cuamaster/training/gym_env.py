"""The desktop as ms-swift's gym environment: reset to a row, a model's whole answer a step, the verdict as reward at the end.

Source: `Env` and `GYMScheduler` of ms-swift 4.6 (swift/rollout/gym_env.py, multi_turn.py). `reset` is given the request, with the
row's columns in `data_dict`, and returns (observation, info, system message); `step` is given the messages so far and returns
(observation, reward, done, info). Observations are contents of a user turn; pictures in them are data URLs.

ms-swift sums rewards and knows none that is missing. So a fault of the machinery is raised: before the first answer another
desktop is tried, later it stops the run, which goes on from its last checkpoint.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.dialects.conversation import told_response
from cuamaster.errors import DesktopFault, InvalidInput
from cuamaster.exports.rl import task_to_learn
from cuamaster.training.desktop_episode import DesktopEpisode, Seen
from cuamaster.training.screens import screen

Content = list[dict[str, str]]
TRIES = 3
"""Desktops that are tried for one episode."""


class DesktopGym:
    """One episode; `max_side`: longer side of a screenshot in pixels at most, as the dataset was exported with."""

    def __init__(self, episode: DesktopEpisode, max_side: int | None = None) -> None:
        self._episode, self._max_side = episode, max_side

    async def reset(self, config: Any) -> tuple[Content, dict[str, Any], str]:
        """The task's instruction with the first screen, facts for the log, the system message.

        Raises InvalidInput and IntegrityError for a row that is not as it was exported, DesktopFault when no desktop comes up.
        """
        row: Mapping[str, Any] = config.data_dict
        name = f"task {row.get('task_id')}"
        task = task_to_learn(row, name)
        turns = {turn["role"]: turn["content"] for turn in config.messages}
        if not {"system", "user"} <= turns.keys():
            raise InvalidInput(f"{name}: its prompt has no system and user turn", hint="export profile trl-grpo")
        for _ in range(TRIES):
            seen = self._episode.reset(task, row["mode"])
            if not seen.done:
                return self._shown(turns["user"], seen), {"task_id": row["task_id"]}, turns["system"]
        raise DesktopFault(f"{name}: {TRIES} desktops failed ({seen.outcome})")

    async def step(self, action: Sequence[Mapping[str, Any]]) -> tuple[Content, float, bool, dict[str, Any]]:
        """What the last message's calls brought about. Raises DesktopFault when the machinery failed."""
        seen = self._episode.step(str(action[-1]["content"]))
        reward = self._episode.reward() if seen.done else 0.0
        if reward is None:
            raise DesktopFault(f"the episode ended as {seen.outcome}, which is no reward")
        return self._shown(told_response(seen.response), seen), reward, seen.done, {"outcome": seen.outcome}

    async def close(self) -> None:
        """Gives the desktop back."""
        self._episode.close()

    def _shown(self, text: str, seen: Seen) -> Content:
        data = io.BytesIO()
        screen(seen.image, self._max_side).save(data, "PNG")
        url = f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
        return [{"type": "text", "text": text}, {"type": "image", "image": url}]
