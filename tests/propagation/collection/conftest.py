"""A desktop of one text editor, small enough to see through, and the tasks that are rolled out on it."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.errors import GuestDied, HostBusy, StateDrift
from cuamaster.ports import Frame, Image, Policy, ShellResult
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.records.condition import Condition, FileText, WindowTitle
from cuamaster.records.episode import Budget, Episode, Receipt
from cuamaster.records.primitive import ActionTemplate, Parameter, Primitive, Procedure
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.records.trajectory import StateSignature, TextBox, Window


class NoText:
    """A reader for pictures without text."""

    name = "none"

    def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        return []


class Editor:
    """One editor window on a file: typing fills it, ctrl+s saves it, ctrl+n empties it; the title shows text and state."""

    image, image_digest = "editor", "sha256:editor"
    width, height = 64, 48
    capabilities = frozenset({"app:editor", "shell", "clipboard", "settings:gsettings"})

    def __init__(self) -> None:
        self.text, self.dirty = "", False
        self.files: dict[str, bytes] = {}
        self.saved: dict[str, Any] = {}
        self.performed: list[str] = []
        self.released = 0
        self.snapshot_bytes = 100
        self.drifts = False
        self.dies_at: int | None = None
        self.forks, self.twins = 4, list[Editor]()
        self.twins_die_at: int | None = None

    def _facts(self) -> dict[str, Any]:
        return {"text": self.text, "dirty": self.dirty, "files": self.files}

    def act(self, action: CUAAction, action_id: str) -> Receipt:
        self._alive()
        self.performed.append(action_id)
        if action.type == "keyboard.type":
            self.text, self.dirty = self.text + action.args["text"], True
        elif action.type == "keyboard.press" and tuple(action.args["keys"]) == ("ctrl", "s"):
            self.files["~/out.txt"], self.dirty = self.text.encode(), False
        elif action.type == "keyboard.press" and tuple(action.args["keys"]) == ("ctrl", "n"):
            self.text, self.dirty = "", False
        elif action.type == "shell.exec":
            return Receipt(action_id=action_id, status="effect_seen", response="exit 0", exit_code=0)
        return Receipt(action_id=action_id, status="sent")

    def release(self) -> None:
        self.released += 1

    def snapshot_sizes(self) -> dict[str, int]:
        return dict.fromkeys(self.saved, self.snapshot_bytes)

    def screenshot(self) -> Frame:
        seed = int.from_bytes(hashlib.sha256(repr(self._facts()).encode()).digest()[:4], "big")
        image = np.random.default_rng(seed).integers(0, 255, (self.height, self.width, 3), dtype=np.uint8)
        return Frame(image=image, t=0.0)

    def settle(self, *, timeout: float = 10.0, quiet: float = 0.4) -> Frame:
        return self.screenshot()

    def shell(self, command: str, *, cwd: str | None = None, timeout: float = 60.0) -> ShellResult:
        if command == "hang":
            return ShellResult("", "", None)
        return ShellResult("", "no shell here", 127)

    def launch(self, app: str, args: Sequence[str] = ()) -> None:
        raise NotImplementedError(app)

    def read_file(self, path: str) -> bytes | None:
        return self.files.get(path)

    def write_file(self, path: str, data: bytes) -> None:
        self.files[path] = data

    def state(self, files: Sequence[str] = ()) -> StateSignature:
        window = Window(app="editor", title=f"{'*' if self.dirty else ''}{self.text} - Editor")
        hashes = {path: hashlib.sha256(self.files[path]).hexdigest() if path in self.files else "" for path in files}
        return StateSignature(active=window, windows=(window,), files=hashes)

    def snapshot(self, label: str, files: Sequence[str] = ()) -> StateSignature:
        self.saved[label] = copy.deepcopy(self._facts())
        return self.state(files)

    def rollback(self, label: str) -> StateSignature:
        if self.drifts:
            raise StateDrift("the restored windows are not the attested ones")
        for name, value in copy.deepcopy(self.saved[label]).items():
            setattr(self, name, value)
        return self.state()

    def _alive(self) -> None:
        if self.dies_at is not None and len(self.performed) >= self.dies_at:
            raise GuestDied("the machine is gone")

    def drop_snapshot(self, label: str) -> None:
        self._alive()
        del self.saved[label]

    @contextmanager
    def fork(self, label: str) -> Iterator[Editor]:
        """At most `forks` twins at once; `twins` keeps them for a test to look at."""
        if len(self.twins) >= self.forks:
            raise HostBusy("no room for another editor")
        twin = Editor()
        twin.saved, twin.dies_at = copy.deepcopy(self.saved), self.twins_die_at
        twin.rollback(label)
        self.twins.append(twin)
        yield twin
        twin.close()

    def close(self) -> None:
        self.saved.clear()


def _primitive(ability: str, effect: Condition, steps: Sequence[ActionTemplate]) -> Primitive:
    return Primitive(
        app="editor",
        ability=ability,
        instruction=f"{ability} {{text}}",
        parameters=(Parameter(name="text", examples=("alpha",)),),
        effects=(effect,),
        verifier=FileText(path="~/out.txt", text="{text}", match="contains"),
        procedures=(Procedure(mode="gui", steps=tuple(steps)),),
    )


def _keys(*keys: str) -> ActionTemplate:
    return ActionTemplate(type="keyboard.press", args={"keys": list(keys)})


@pytest.fixture
def make_task() -> Callable[..., Task]:
    """A task that types, then saves; `weak`: the effect of typing is too vague to tell a wrong text."""

    def make(
        text: str = "alpha", *, weak: bool = False, instruction: str = "Write the word and save the document."
    ) -> Task:
        title = "*" if weak else "*{text} -"
        write = _primitive(
            "write",
            WindowTitle(title=title, app="editor", active=True),
            [_keys("ctrl", "n"), ActionTemplate(type="keyboard.type", args={"text": "{text}"})],
        )
        save = _primitive("save", FileText(path="~/out.txt", text="", match="contains"), [_keys("ctrl", "s")])
        return Task(
            instruction=instruction,
            environment=Environment(image="editor", image_digest="sha256:editor"),
            verifier=FileText(path="~/out.txt", text=text),
            plan=(
                PrimitiveUse(primitive=write, arguments={"text": text}),
                PrimitiveUse(primitive=save, arguments={"text": text}),
            ),
            strategy="sequential",
        )

    return make


@pytest.fixture
def editor() -> Editor:
    return Editor()


@pytest.fixture
def reader() -> NoText:
    return NoText()


@pytest.fixture
def journal(tmp_path: Path) -> JsonlJournal:
    return JsonlJournal(tmp_path / "journal.jsonl")


@pytest.fixture
def roll(editor: Editor, reader: NoText, journal: JsonlJournal, tmp_path: Path) -> Callable[..., Episode]:
    """Roll a task out on the editor; the clock gains half a second whenever it is read."""

    def run(
        task: Task,
        policy: Policy | None = None,
        *,
        budget: Budget | None = None,
        episode_id: str = "e1",
        rival: Callable[[int], Policy] | None = None,
    ) -> Episode:
        seconds = [0.0]

        def clock() -> float:
            seconds[0] += 0.5
            return seconds[0]

        return rollout(
            task,
            policy or ReplayPolicy(reader),
            editor,
            reader=reader,
            journal=journal,
            detector=RulesDetector(reader),
            store=LocalStore(tmp_path / "blobs"),
            budget=budget or Budget(),
            clock=clock,
            episode_id=episode_id,
            rival=rival,
        )

    return run
