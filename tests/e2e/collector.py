"""A collector that the tests of survival start as a process of its own, and that may be told when to die."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from cuamaster import wiring
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.records.condition import FileExists, FileText, WindowTitle
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


def run(workspace: str, count: int, die_at: int = 0, tally: str = "", desktop: str = "simulated") -> None:
    """Collect `count` tasks; before change number `die_at` of the workspace's files, end as kill -9 does."""
    settings = Settings(workspace=Path(workspace), desktop=desktop, fault_share=0.5, max_retries=6)
    changes = [0]

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event in _CHANGES and str(args[0]).startswith(workspace):
            changes[0] += 1
            if changes[0] == die_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    with wiring.desktop_ports(settings) as ports:
        haste = 1 if desktop == "libvirt" else HASTE
        blind = dataclasses.replace(
            ports, reader=KnownReader(lambda _image: []), clock=lambda: time.monotonic() * haste
        )
        collect(Workspace(workspace).round(1), tasks(count), blind, settings, in_turn)
    if tally:
        Path(tally).write_text(str(changes[0]), "utf-8")
