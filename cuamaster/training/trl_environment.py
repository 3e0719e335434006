"""The desktop as TRL's GRPOTrainer takes an environment: public methods are the model's tools, `get_reward` the verdict.

Source: `environment_factory` of trl 1.16 (trl/trainer/grpo_trainer.py): `reset` is given the row's columns and returns what is
appended to the last user message; a tool may return a list of text and image parts; a reward of None leaves the trajectory out
of the group's baseline and gives it no advantage. Whatever a tool raises is shown to the model as its own error, which is why
faults of the machinery are kept here and never raised from a tool.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from cuamaster.dialects.conversation import shown_response
from cuamaster.errors import InvalidInput
from cuamaster.exports.rl import task_to_learn
from cuamaster.ports import DesktopHost, ScreenReader
from cuamaster.records.primitive import Mode
from cuamaster.records.verdict import Outcome
from cuamaster.training.desktop_episode import DesktopEpisode, Seen
from cuamaster.training.screens import screen

Parts = list[dict[str, Any]]
"""Text and image parts of a message; images are PIL pictures."""


class _Environment:
    """What all modes share; the trainer takes every public method but `reset` and `get_reward` for a tool."""

    _mode: Mode

    def __init__(self, episode: DesktopEpisode, max_side: int | None = None) -> None:
        """`max_side`: longer side of a screenshot in pixels at most, as the dataset was exported with."""
        self._episode, self._max_side = episode, max_side

    @property
    def outcome(self) -> Outcome | None:
        """How the episode ended; None while it goes on."""
        return self._episode.outcome

    @property
    def steps(self) -> int:
        """Calls so far."""
        return self._episode.steps

    def reset(self, **row: Any) -> Parts:
        """A fresh desktop for the task of a row of profile trl-grpo; its screen.

        Raises InvalidInput and IntegrityError for a row that is not as it was exported, HostBusy when the host has no desktop.
        """
        task = task_to_learn(row, f"task {row.get('task_id')}")
        if row.get("mode") != self._mode:
            raise InvalidInput(
                f"the tasks' prompts offer the tools of mode {row.get('mode')}, this environment those of {self._mode}",
                hint="export and train in the same --mode",
            )
        return [self._screen(self._episode.reset(task, self._mode))]

    def get_reward(self) -> float | None:
        """1.0 passed, 0.0 failed, None when the machinery failed."""
        return self._episode.reward()

    def _call(self, function: str, /, **arguments: Any) -> Parts:
        seen = self._episode.call(function, {key: value for key, value in arguments.items() if value is not None})
        return [{"type": "text", "text": shown_response(seen.response)}, self._screen(seen)]

    def _screen(self, seen: Seen) -> dict[str, Any]:
        return {"type": "image", "image": screen(seen.image, self._max_side)}


class _Computer(_Environment):
    def computer_use(
        self,
        action: str,
        coordinate: list[int] | None = None,
        text: str | None = None,
        keys: list[str] | None = None,
        pixels: float | None = None,
        time: float | None = None,
        status: str | None = None,
    ) -> Parts:
        """
        Use a mouse and keyboard to interact with a computer, and take screenshots.

        Args:
            action: The action to perform.
            coordinate: (x, y) on the screen, 0-999. Required by the mouse actions.
            text: What to type, or the answer.
            keys: The keys to press together.
            pixels: How far to scroll.
            time: The seconds to wait.
            status: The status of the task, for action=terminate.
        """
        return self._call(
            "computer_use", action=action, coordinate=coordinate, text=text, keys=keys, pixels=pixels, time=time, status=status
        )  # fmt: skip

    def tool_call(self, name: str, arguments: dict[str, Any] | None = None) -> Parts:
        """
        Call a registered tool and return its answer.

        Args:
            name: The tool's name.
            arguments: The tool's arguments.
        """
        return self._call("tool_call", name=name, arguments=arguments)


class _Shell(_Computer):
    def shell_exec(self, command: str, cwd: str | None = None, timeout: float | None = None) -> Parts:
        """
        Run a command in a shell as the desktop's user and return its output and exit status.

        Args:
            command: The command line.
            cwd: The folder to run it in.
            timeout: Seconds after which the command is ended.
        """
        return self._call("shell_exec", command=command, cwd=cwd, timeout=timeout)


class GuiEnvironment(_Computer):
    """Mouse, keyboard and tools."""

    _mode = "gui"


class CliEnvironment(_Shell):
    """Shell and tools; `computer_use` only waits and ends the episode."""

    _mode = "cli"


class MixedEnvironment(_Shell):
    """Everything."""

    _mode = "mixed"


_ENVIRONMENTS: dict[Mode, type[GuiEnvironment] | type[CliEnvironment] | type[MixedEnvironment]] = {
    "gui": GuiEnvironment,
    "cli": CliEnvironment,
    "mixed": MixedEnvironment,
}


def environment_factory(
    host: DesktopHost,
    reader: ScreenReader,
    mode: Mode,
    *,
    speaks: str = "qwen3-vl",
    max_side: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Callable[[], GuiEnvironment | CliEnvironment | MixedEnvironment]:
    """What GRPOTrainer is given: each call makes an environment of its own over `host`, which must hold as many desktops as
    trajectories are sampled at once. `mode` must be that of the dataset; `speaks`: the model's dialect. Raises UnknownName.
    """

    def make() -> GuiEnvironment | CliEnvironment | MixedEnvironment:
        return _ENVIRONMENTS[mode](DesktopEpisode(host, reader, speaks=speaks, clock=clock), max_side)

    make()  # an unknown dialect is found before a model is loaded
    return make
