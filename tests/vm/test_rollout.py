"""Rollouts on a real guest: an injected fault is rolled back and the task passes; shell mode; a killed machine is infra."""

from __future__ import annotations

import io
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.policies.faulty import FaultyPolicy
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.screens.live import LiveReader
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.ports import Decision, Desktop, Frame, Policy
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.journal import finished
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.records.condition import FileExists, FileText, ScreenText, WindowTitle
from cuamaster.records.episode import Budget, Episode, Node
from cuamaster.records.primitive import ActionTemplate, Primitive, Procedure, SetupStep
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.records.trajectory import Target

pytestmark = pytest.mark.vm
IMAGE = "light-desktop"
TEXT = "Water the plants twice"


def _click(text: str) -> ActionTemplate:
    return ActionTemplate(type="mouse.click", target=Target(text=text))


def _keys(*keys: str, window: str = "") -> ActionTemplate:
    return ActionTemplate(
        type="keyboard.press", args={"keys": list(keys)}, target=Target(window=window) if window else None
    )


TYPE = Primitive(
    app="mousepad",
    ability="type-text",
    instruction="Type {text}",
    effects=(ScreenText(text="{text}", app="mousepad"), WindowTitle(app="mousepad", title="*", active=True)),
    verifier=ScreenText(text="{text}"),
    procedures=(Procedure(mode="gui", steps=(ActionTemplate(type="keyboard.type", args={"text": "{text}"}),)),),
)
SAVE = Primitive(
    app="mousepad",
    ability="save-as",
    instruction="Save it as {name}",
    effects=(FileExists(path="~/{name}", type="file"), WindowTitle(app="mousepad", title="{name}", active=True)),
    verifier=FileExists(path="~/{name}"),
    procedures=(
        Procedure(
            mode="gui",
            steps=(
                _click("File"),
                _click("Save As..."),
                _keys("ctrl", "a", window="Save As"),
                ActionTemplate(type="keyboard.type", args={"text": "{name}"}),
                _click("Save"),
            ),
        ),
    ),
)
MAKE = Primitive(
    app="lxterminal",
    ability="make-folder",
    instruction="Make the folder {name}",
    effects=(FileExists(path="~/{name}", type="dir"),),
    verifier=FileExists(path="~/{name}", type="dir"),
    procedures=(
        Procedure(mode="cli", steps=(ActionTemplate(type="shell.exec", args={"command": "mkdir ~/{name} && ls"}),)),
    ),
)


def _task(*uses: tuple[Primitive, dict[str, str]], verifier: Any, editor: bool = True) -> Task:
    environment = Environment(
        image=IMAGE,
        image_digest="",
        capabilities=("app:mousepad",),
        setup=(SetupStep(kind="app.launch", app="mousepad", text="Untitled"),) if editor else (),
        established=(WindowTitle(app="mousepad", title="Untitled", active=True),) if editor else (),
    )
    plan = tuple(PrimitiveUse(primitive=primitive, arguments=arguments) for primitive, arguments in uses)
    return Task(
        instruction="Write the line and save it as list.txt.",
        environment=environment,
        verifier=verifier,
        plan=plan,
        strategy="sequential",
    )


SAVED = _task((TYPE, {"text": TEXT}), (SAVE, {"name": "list.txt"}), verifier=FileText(path="~/list.txt", text=TEXT))


def _roll(task: Task, policy: Policy, desktop: Desktop, reader: LiveReader, folder: Path) -> Episode:
    journal = JsonlJournal(folder / "journal.jsonl")
    episode = rollout(
        task,
        policy,
        desktop,
        reader=reader,
        journal=journal,
        detector=RulesDetector(reader),
        store=LocalStore(folder / "blobs"),
        budget=Budget(max_retries=4, max_seconds=900),
        clock=time.monotonic,
        episode_id="e1",
    )
    assert finished(journal) == [episode]
    return episode


def test_an_injected_fault_is_rolled_back_and_the_task_passes(
    vm_host: LibvirtHost, vm_reader: LiveReader, tmp_path: Path
) -> None:
    with vm_host.open(IMAGE) as desktop:
        episode = _roll(
            SAVED,
            FaultyPolicy(ReplayPolicy(vm_reader), seed=1, rate=1.0, episode_id="e1"),
            desktop,
            vm_reader,
            tmp_path,
        )
        assert episode.outcome == "passed", episode.message
        assert desktop.read_file("~/list.txt") in (TEXT.encode(), TEXT.encode() + b"\n")
    assert episode.rollbacks >= 1
    assert episode.injected_faults >= 1
    assert episode.first_attempt_passed is False
    kept = episode.path()
    assert not any(node.injected for node in kept)
    assert kept[-1].actions[-1].action.type == "finish"
    store = LocalStore(tmp_path / "blobs")
    for node in episode.nodes:
        assert Image.open(io.BytesIO(store.get(node.observation.screenshot))).size == (1280, 800)
    for divergence in episode.divergences:
        assert divergence.feedback
        assert TEXT not in divergence.feedback


def test_shell_mode_acts_as_the_user_and_the_answer_is_observed(
    vm_host: LibvirtHost, vm_reader: LiveReader, tmp_path: Path
) -> None:
    goal = FileExists(path="~/my files", type="dir")
    task = _task((MAKE, {"name": "my files"}), verifier=goal, editor=False)
    with vm_host.open(IMAGE) as desktop:
        episode = _roll(task, ReplayPolicy(vm_reader, "cli"), desktop, vm_reader, tmp_path)
        assert desktop.shell("stat -c %U ~/'my files'").stdout.strip() == "user"
    assert (episode.outcome, episode.first_attempt_passed) == ("passed", True)
    assert "my files" in episode.path()[1].observation.response


def test_a_machine_killed_in_mid_episode_is_infra(vm_host: LibvirtHost, vm_reader: LiveReader, tmp_path: Path) -> None:
    with vm_host.open(IMAGE) as desktop:

        class Killer(ReplayPolicy):
            """Ends the machine's own process before the second step."""

            def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:
                if history:
                    for process in Path("/proc").glob("[0-9]*"):
                        arguments = (process / "cmdline").read_bytes() if (process / "cmdline").exists() else b""
                        if b"qemu-system" in arguments and f"guest={desktop.name},".encode() in arguments:  # type: ignore[attr-defined]
                            os.kill(int(process.name), signal.SIGKILL)
                return super().decide(frame, history, hint)

        episode = _roll(SAVED, Killer(vm_reader), desktop, vm_reader, tmp_path)
    assert episode.outcome == "infra", episode.message
    assert episode.first_attempt_passed is None
    assert len(episode.nodes) >= 1
