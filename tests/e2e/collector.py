"""A collector that the tests of survival start as a process of its own, and that may be told when to die."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cuamaster import wiring
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.records.condition import All, FileExists, FileText, WindowTitle
from cuamaster.records.primitive import ActionTemplate, Parameter, Primitive, Procedure, SetupStep
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.settings import Settings
from cuamaster.stages.collecting import collect
from cuamaster.stages.running import in_turn
from cuamaster.tables import Workspace

HASTE = 30
"""A simulated desktop answers at once: what a real one may take for its reactions is not waited for."""
_CHANGES = {"open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "os.rmdir"}


def _keys(*keys: str) -> ActionTemplate:
    return ActionTemplate(type="keyboard.press", args={"keys": list(keys)})


def _type(text: str) -> ActionTemplate:
    return ActionTemplate(type="keyboard.type", args={"text": text})


def _primitive(ability: str, effect: Any, *steps: ActionTemplate) -> Primitive:
    return Primitive(
        app="mousepad",
        ability=ability,
        instruction=f"{ability} {{text}} {{name}}",
        parameters=(Parameter(name="text", examples=("a",)), Parameter(name="name", examples=("b",))),
        effects=(effect,),
        verifier=effect,
        procedures=(Procedure(mode="gui", steps=steps),),
    )


WRITE = _primitive("write", WindowTitle(app="mousepad", title="*", active=True), _type("{text}"))
SAVE = _primitive(
    "save", FileExists(path="~/{name}"), _keys("ctrl", "s"), _keys("ctrl", "a"), _type("{name}"), _keys("enter")
)


def tasks(count: int) -> list[Task]:
    """Write a line, save it under a name; everything by keyboard, so that nothing has to be read off the screen."""
    made = []
    for number in range(count):
        arguments = {"text": f"line {number}", "name": f"{number}.txt"}
        made.append(
            Task(
                instruction=f"Write a line and save it as {number}.txt.",
                environment=Environment(
                    image="light-desktop",
                    image_digest="",
                    setup=(SetupStep(kind="app.launch", app="mousepad", text="Untitled"),),
                    established=(WindowTitle(app="mousepad", title="Untitled", active=True),),
                ),
                verifier=FileText(path=f"~/{number}.txt", text=f"line {number}"),
                plan=(
                    PrimitiveUse(primitive=WRITE, arguments=arguments),
                    PrimitiveUse(primitive=SAVE, arguments=arguments),
                ),
                strategy="sequential",
            )
        )
    return made


MAKE = Primitive(
    app="lxterminal",
    ability="make-folder",
    instruction="Make the folder {name}",
    parameters=(Parameter(name="name", examples=("a",)),),
    effects=(FileExists(path="~/{name}", type="dir"),),
    verifier=FileExists(path="~/{name}", type="dir"),
    procedures=(Procedure(mode="cli", steps=(ActionTemplate(type="shell.exec", args={"command": "mkdir ~/{name}"}),)),),
)
FOLDERS = Task(
    instruction="Make the folders one and two.",
    environment=Environment(image="light-desktop", image_digest=""),
    verifier=All(of=tuple(FileExists(path=f"~/{name}", type="dir") for name in ("one", "two"))),
    plan=tuple(PrimitiveUse(primitive=MAKE, arguments={"name": name}) for name in ("one", "two")),
    strategy="sequential",
)
"""By commands: the quickest task that has a boundary on its way."""


def run(workspace: str, count: int, die_at: int = 0, tally: str = "") -> None:
    """Collect `count` tasks on simulated desktops; before change number `die_at` of the workspace's files, die as of kill -9."""
    settings = Settings(workspace=Path(workspace), desktop="simulated", fault_share=0.5, max_retries=6)
    changes = _die_at(workspace, die_at)
    _collect(settings, tasks(count), HASTE)
    if tally:
        Path(tally).write_text(str(changes[0]), "utf-8")


def run_on_guest(workspace: str, die_at: int) -> None:
    """The same with one short task on a real guest."""
    _die_at(workspace, die_at)
    _collect(Settings(workspace=Path(workspace), mode="cli", fault_share=0), [FOLDERS], 1)


def _collect(settings: Settings, wanted: Sequence[Task], haste: int) -> None:
    with wiring.desktop_ports(settings) as ports:
        blind = dataclasses.replace(
            ports, reader=KnownReader(lambda _image: []), clock=lambda: time.monotonic() * haste
        )
        collect(Workspace(settings.workspace).round(1), wanted, blind, settings, in_turn)


def _die_at(workspace: str, number: int) -> list[int]:
    """A counter of changes to the workspace's files, which ends the process before change `number`."""
    changes = [0]

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event in _CHANGES and str(args[0]).startswith(workspace):
            changes[0] += 1
            if changes[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    return changes
