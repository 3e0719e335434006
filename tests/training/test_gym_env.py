"""ms-swift's environment on the simulated desktop, called as its GYMScheduler calls it; no fault passes for a reward."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from cuamaster.adapters.desktops.simulated import SimulatedDesktop, SimulatedHost
from cuamaster.dialects import qwen
from cuamaster.errors import DesktopFault, GuestDied, InvalidInput
from cuamaster.training.desktop_episode import DesktopEpisode
from cuamaster.training.gym_env import DesktopGym
from scripts.train_smoke.demonstrations import Typist, nothing_to_read

Clock = Callable[[], float]


@pytest.fixture
def request_(row: dict[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(messages=row["prompt"], data_dict={name: row[name] for name in row if name != "prompt"})


def gym(clock: Clock, host: SimulatedHost | None = None) -> DesktopGym:
    return DesktopGym(DesktopEpisode(host or SimulatedHost(), nothing_to_read(), clock=clock), 112)


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": "..."}, {"role": "assistant", "content": text}]


def test_an_episode(request_: SimpleNamespace, clock: Clock, task: Any) -> None:
    environment, typist = gym(clock), Typist()
    observation, info, system = asyncio.run(environment.reset(request_))
    assert system == request_.messages[0]["content"] and info == {"task_id": request_.data_dict["task_id"]}
    assert observation[0]["text"] == request_.messages[1]["content"]
    with Image.open(io.BytesIO(base64.b64decode(observation[1]["image"].partition("base64,")[2]))) as picture:
        assert picture.size == (112, 70)
    typist.begin(task)
    rewards = []
    for thought, action in typist.steps:
        observation, reward, done, info = asyncio.run(environment.step(said(qwen.render_answer(thought, [action]))))
        rewards.append((reward, done))
    assert rewards == [(0.0, False)] * 3 + [(1.0, True)] and info == {"outcome": "passed"}
    assert observation[0]["text"] == "<tool_response>\nThe episode is over.\n</tool_response>"
    asyncio.run(environment.close())


def test_faults_are_raised(request_: SimpleNamespace, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = gym(clock)
    asyncio.run(environment.reset(request_))

    def broken(*_: Any, **__: Any) -> Any:
        raise GuestDied("gone")

    monkeypatch.setattr(SimulatedDesktop, "act", broken)
    with pytest.raises(DesktopFault, match="ended as infra, which is no reward"):
        asyncio.run(
            environment.step(
                said(
                    '<tool_call>\n{"name": "computer_use", "arguments": {"action": "type", "text": "a"}}\n</tool_call>'
                )
            )
        )
    monkeypatch.setattr(SimulatedDesktop, "launch", broken)
    with pytest.raises(DesktopFault, match="3 desktops failed"):
        asyncio.run(environment.reset(request_))


def test_a_request_without_the_prompt_of_its_row_is_refused(request_: SimpleNamespace, clock: Clock) -> None:
    with pytest.raises(InvalidInput, match="no system and user turn"):
        asyncio.run(gym(clock).reset(SimpleNamespace(messages=request_.messages[1:], data_dict=request_.data_dict)))
