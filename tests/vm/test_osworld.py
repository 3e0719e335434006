"""Tasks of OSWorld on a real guest: downloads, `open`, `launch` and `execute` reach their start state, evaluators judge what was done."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from cuamaster.action_space import CUAAction
from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.importers.osworld import read_osworld
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.records.episode import Budget
from cuamaster.records.task import Task
from tests.importers.conftest import DATA, NoText, Script

pytestmark = pytest.mark.vm
IMAGE = "light-desktop"
TYPED = [
    CUAAction("keyboard.press", {"keys": ["ctrl", "end"]}),
    CUAAction("keyboard.type", {"text": "water the plants"}),
]
TURNED_ON = [
    CUAAction("shell.exec", {"command": "gsettings set org.xfce.mousepad.preferences.view show-line-numbers true"})
]
TRIES: Mapping[str, list[tuple[list[CUAAction], str]]] = {
    "695b7f37": [(TYPED, "passed")],  # download, open; saved by the closing steps, compared with a file
    "884de5b0": [([], "failed"), (TURNED_ON, "passed")],  # launch; a command's output
}
"""Begin of a task's id -> what is done, and what the evaluator must say of it."""


def test_imported_tasks_are_set_up_and_judged(vm_host: LibvirtHost, tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "blobs")
    osworld = DATA / "osworld"
    found = read_osworld([osworld / "examples"], store, image=IMAGE, files=osworld / "files")
    tasks = {task.lineage[0].source[8:16]: task for item in found for task in item.kept if isinstance(task, Task)}
    with vm_host.open(IMAGE) as desktop:
        desktop.snapshot("fresh")
        for name, tries in TRIES.items():
            for number, (actions, outcome) in enumerate(tries):
                desktop.rollback("fresh")
                episode = rollout(
                    tasks[name], Script([actions] if actions else [], "success"), desktop, reader=NoText(),
                    journal=JsonlJournal(tmp_path / f"{name}-{number}.jsonl"), detector=RulesDetector(NoText()),
                    store=store, budget=Budget(max_steps=10, max_retries=0), clock=time.monotonic,
                    episode_id=f"{name}-{number}",
                )  # fmt: skip
                assert episode.outcome == outcome, f"{tasks[name].instruction}: {episode.message}"
