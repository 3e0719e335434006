"""The last look at a span's actions: duplicates out, and a new trajectory where time or meaning breaks."""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.records.trajectory import Action

SAME_SECONDS = 0.45
SAME_POINT = 8.0  # of 1000
BREAK_SECONDS = 25.0
LEAST_ACTIONS = 1


def verified(actions: Sequence[Action]) -> list[list[Action]]:
    """Runs of actions in time order; none when there is nothing left."""
    kept: list[Action] = []
    for action in sorted(actions, key=lambda item: item.t_start):
        if kept and _same(kept[-1], action):
            kept[-1] = max(kept[-1], action, key=lambda item: item.confidence)
        else:
            kept.append(action)
    runs: list[list[Action]] = []
    for index, action in enumerate(kept):
        if index == 0 or action.t_start - kept[index - 1].t_end > BREAK_SECONDS:
            runs.append([])
        runs[-1].append(action)
    return [run for run in runs if len(run) >= LEAST_ACTIONS]


def _same(a: Action, b: Action) -> bool:
    """The same thing found twice: same type, at about the same time and point, or the same text again at once."""
    if a.action.type != b.action.type or b.t_start - a.t_start > SAME_SECONDS:
        return False
    first, second = a.action.args, b.action.args
    if "x" in first and "x" in second:
        return bool(abs(first["x"] - second["x"]) <= SAME_POINT and abs(first["y"] - second["y"]) <= SAME_POINT)
    return dict(first) == dict(second)
