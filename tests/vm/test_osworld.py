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
DONE: Mapping[str, list[CUAAction]] = {
    "695b7f37": TYPED,  # download, open; saved by the closing steps, compared with a file
    "884de5b0": TURNED_ON,  # launch; what a command prints
}
"""Begin of a task's id -> what solves it."""


def test_imported_tasks_are_set_up_solved_and_judged(vm_host: LibvirtHost, tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "blobs")
    osworld = DATA / "osworld"
    found = read_osworld([osworld / "examples"], store, image=IMAGE, files=osworld / "files")
    tasks = {task.lineage[0].source[8:16]: task for item in found for task in item.kept if isinstance(task, Task)}
    with vm_host.open(IMAGE) as desktop:
        desktop.snapshot("fresh")
        for name, actions in DONE.items():
            desktop.rollback("fresh")
            episode = rollout(
                tasks[name], Script([actions], "success"), desktop, reader=NoText(),
                journal=JsonlJournal(tmp_path / f"{name}.jsonl"), detector=RulesDetector(NoText()), store=store,
                budget=Budget(max_steps=10, max_retries=0), clock=time.monotonic, episode_id=name,
            )  # fmt: skip
            assert episode.outcome == "passed", f"{tasks[name].instruction}: {episode.message}"
