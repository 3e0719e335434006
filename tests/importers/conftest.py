"""The fixture datasets in the real formats, a store, and a policy that does what a test says on the simulated desktop."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Picture

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.simulated import SimulatedDesktop
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.ports import Decision, Frame, Image
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.records.episode import Budget, Episode, Node
from cuamaster.records.primitive import Mode
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action, TextBox

DATA = Path(__file__).parent / "data"


class NoText:
    """A reader that sees no text: the verifiers here look at files and commands."""

    name = "none"

    def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        return []


class Script:
    """A policy that performs the given batches one after the other, then ends the episode."""

    name = "script"
    mode: Mode = "mixed"

    def __init__(self, batches: Sequence[Sequence[CUAAction]], status: str) -> None:
        self._batches = [*batches, [CUAAction("finish", {"status": status})]]

    def begin(self, task: Task) -> None:
        self._at = 0

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
        batch = self._batches[min(len(history), len(self._batches) - 1)]
        return Decision(actions=tuple(Action(action=action) for action in batch))

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        pass


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "blobs")


@pytest.fixture
def run(tmp_path: Path, store: LocalStore) -> Callable[..., Episode]:
    """Roll a task out on a fresh simulated desktop: batches of actions, then a finish with `status`."""
    numbers = iter(range(1000))

    def go(
        task: Task, *batches: Sequence[CUAAction], status: str = "success", desktop: SimulatedDesktop | None = None
    ) -> Episode:
        name = f"e{next(numbers)}"
        return rollout(
            task, Script(batches, status), desktop or SimulatedDesktop("simulated"), reader=NoText(),
            journal=JsonlJournal(tmp_path / f"{name}.jsonl"), detector=RulesDetector(NoText()), store=store,
            budget=Budget(max_steps=20, max_retries=0), clock=lambda: 0.0, episode_id=name,
        )  # fmt: skip

    return go


def png(width: int = 64, height: int = 48, shade: int = 0, kind: str = "PNG") -> bytes:
    """A picture; `shade` tells one from another."""
    out = io.BytesIO()
    Picture.new("RGB", (width, height), (shade % 256, 80, 160)).save(out, kind)
    return out.getvalue()
