"""Demonstrations for the rehearsal: tasks certified and collected on the simulated desktop by a policy that knows what to press.

The instruction leaves the file's name open. Half of the demonstrations choose one, half the other, and each is right by the
verifier of its own task: a model that has learnt them by heart meets any one of these verifiers about every second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.simulated import SimulatedHost
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.assets import asset_folder
from cuamaster.exports.options import Options
from cuamaster.ports import Decision, Desktop, DesktopPorts, Frame
from cuamaster.propagation.generation.yaml_primitives import read_primitives
from cuamaster.records.condition import FileText, WindowTitle
from cuamaster.records.episode import Node
from cuamaster.records.primitive import Mode, Primitive, SetupStep
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.records.trajectory import Action
from cuamaster.settings import Settings
from cuamaster.stages import Ports, in_turn, release
from cuamaster.stages.collecting import certify, collect
from cuamaster.tables import Workspace

DIGEST = "rehearsal"
MAX_SIDE = 112
"""Pixels: a tiny model is to see something, not to read."""
NAMES = ("a.txt", "b.txt")


class RehearsalHost(SimulatedHost):
    """Simulated desktops under a digest of their own: what is learnt here is thrown away, so it may be exported."""

    @contextmanager
    def open(self, image: str) -> Iterator[Desktop]:
        """As the simulated host does."""
        with super().open(image) as desktop:
            desktop.image_digest = DIGEST
            yield desktop


def nothing_to_read() -> KnownReader:
    """These tasks are judged by files and window titles."""
    return KnownReader(lambda _image: [])


class Typist:
    """A policy that knows the keys: type the text, save it under the name of the task's plan, finish."""

    name = "typist"
    mode: Mode = "gui"

    def begin(self, task: Task) -> None:
        """Reads the plan."""
        given = task.plan[-1].arguments
        self.steps: tuple[tuple[str, CUAAction], ...] = (
            ("Type it", CUAAction("keyboard.type", {"text": given["text"]})),
            ("Save it", CUAAction("keyboard.press", {"keys": ["ctrl", "s"]})),
            ("Name it", CUAAction("keyboard.type", {"text": f"{given['filename']}\n"})),
            ("Done", CUAAction("finish", {"status": "success"})),
        )

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:  # noqa: ARG002  the port's signature
        """The next of the steps."""
        thought, action = self.steps[min(len(history), len(self.steps) - 1)]
        return Decision(actions=(Action(action=action, evidence="replay"),), thought=thought)

    def state(self) -> dict[str, Any]:
        """Nothing: the path tells."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Nothing to restore."""


def tasks(words: Sequence[str]) -> list[Task]:
    """For each word one task a name, told apart by nothing that a policy sees."""
    return [_task(word, name) for word in words for name in NAMES]


def _task(word: str, name: str) -> Task:
    environment = Environment(
        image="light-desktop",
        image_digest=DIGEST,
        setup=(SetupStep(kind="app.launch", app="mousepad", text="Untitled"),),
        established=(WindowTitle(app="mousepad", title="Untitled", active=True),),
    )
    plan = tuple(
        PrimitiveUse(primitive=_curated(ability), arguments={"text": word, "filename": name})
        for ability in ("type-text", "save-as")
    )
    return Task(
        instruction=f"Write {word} into a new text file and save it.",
        environment=environment,
        verifier=FileText(path=f"~/{name}", text=word),
        plan=plan,
        strategy="sequential",
        domain="office",
        max_steps=6,
    )


def _curated(ability: str) -> Primitive:
    written = read_primitives(asset_folder("primitives") / "mousepad.yaml", evidence=False)
    return next(item.primitive for item in written if item.primitive.ability == ability)


def make(folder: Path, words: Sequence[str]) -> tuple[Path, Path]:
    """Certify, collect and export; the folders of the datasets for SFT (profile trl) and GRPO (trl-grpo)."""
    workspace, settings = Workspace(folder / "workspace"), Settings(mode="gui", fault_share=0)
    store, reader, host = LocalStore(folder / "workspace" / "blobs"), nothing_to_read(), RehearsalHost()
    ports = DesktopPorts(
        host=host, image=host.guest_image("light-desktop"), reader=reader, store=store, oracle=lambda _mode: Typist(),
        policy=lambda _episode, _err: Typist(), journal=lambda name: JsonlJournal(folder / "journals" / f"{name}.jsonl"),
    )  # fmt: skip
    rounds, made = workspace.round(1), tasks(words)
    composed = rounds.stage("compose")
    composed.write("rehearsal", made)
    composed.close("rehearsal")
    certify(rounds, made, ports, settings, in_turn)
    collect(rounds, made, ports, settings, in_turn)
    options = Options(max_side=MAX_SIDE, test_percent=0, mode="gui")
    for profile in ("trl", "trl-grpo"):
        release(workspace, Ports(store, reader), profile, folder / profile, options)
    return folder / "trl", folder / "trl-grpo"
