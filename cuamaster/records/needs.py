"""Which capabilities of a desktop conditions, start states and tasks need, so that they are refused before they are tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cuamaster.records.condition import Condition, ScreenText
from cuamaster.records.primitive import SetupStep
from cuamaster.records.task import Environment, Task

_CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "setting.value": ("shell", "settings:gsettings"),
    "clipboard.text": ("shell", "clipboard"),
    "screen.text": (),
    "episode.finish": (),
}
"""What other conditions look at, files, programs and windows, is asked inside the guest."""
_STEPS: Mapping[str, tuple[str, ...]] = {
    "setting.write": ("shell", "settings:gsettings"),
    "clipboard.set": ("shell", "clipboard"),
    "desktop.act": (),
}


def needs_of(condition: Condition) -> frozenset[str]:
    """Capabilities without which a condition can be neither true nor false."""
    parts = condition.parts()
    if parts:
        return frozenset().union(*map(needs_of, parts))
    if isinstance(condition, ScreenText) and condition.app:
        return frozenset({"shell"})  # which window is the active one
    return frozenset(_CONDITIONS.get(condition.kind, ("shell",)))


def needs_of_environment(environment: Environment) -> frozenset[str]:
    """Capabilities that a start state needs: those it names, and those of its steps and conditions."""
    return frozenset(environment.capabilities).union(
        needs_of_steps(environment.setup), *map(needs_of, environment.established)
    )


def needs_of_steps(steps: Iterable[SetupStep]) -> frozenset[str]:
    """Capabilities that setup steps need."""
    found: set[str] = set()
    for step in steps:
        found.update(_STEPS.get(step.kind, ("shell",)))
    return frozenset(found)


def needs_of_task(task: Task) -> frozenset[str]:
    """Capabilities that a task needs from its start state to its verdict."""
    return needs_of_environment(task.environment) | needs_of(task.verifier) | needs_of_steps(task.closing)
