"""Two collectors on one workspace: they share its desktops, both get on, no episode is run twice, nothing is left behind."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.leases.sqlite import SqliteLeases
from cuamaster.records.episode import Episode
from cuamaster.tables import Workspace

_COLLECTOR = """
import os, sys
from cuamaster import wiring
from cuamaster.assets import asset_folder
from cuamaster.propagation.generation.yaml_primitives import read_primitives
from cuamaster.records.condition import FileExists
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.settings import Settings
from cuamaster.stages.collecting import collect
from cuamaster.tables import Workspace
settings = Settings(workspace=sys.argv[1], desktop="simulated", mode="cli", vm_capacity=1, fault_share=0.0)
written = read_primitives(asset_folder("primitives") / "lxterminal.yaml", evidence=False)
make = next(item.primitive for item in written if item.primitive.ability == "make-folder")
tasks = [
    Task(
        instruction=f"Make the folder {name}.", environment=Environment(image="light-desktop", image_digest=""),
        verifier=FileExists(path=f"~/{name}", type="dir"), plan=(PrimitiveUse(primitive=make, arguments={"dirname": name}),),
        strategy="sequential",
    )
    for name in ("apple", "beet", "carrot", "dill", "elder", "fennel", "garlic", "hops")
]
print("ready", flush=True)
sys.stdin.readline()
def each(name, items, work, label):
    for item in items:
        work(item)
        print("did", label(item), flush=True)
with wiring.desktop_ports(settings) as ports:
    collect(Workspace(settings.workspace).round(1), tasks, ports, settings, each)
"""


@pytest.mark.slow
def test_two_collectors_on_one_workspace(tmp_path: Path) -> None:
    collectors = [
        subprocess.Popen(
            [sys.executable, "-c", _COLLECTOR, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for collector in collectors:
        assert collector.stdout is not None
        assert collector.stdout.readline() == "ready\n"
    for collector in collectors:
        assert collector.stdin is not None
        collector.stdin.write("go\n")
        collector.stdin.flush()
    told = [collector.communicate(timeout=240)[0] for collector in collectors]
    assert [collector.returncode for collector in collectors] == [0, 0]
    episodes = Workspace(tmp_path).round(1).stage("collect").kept(Episode)
    assert [episode.outcome for episode in episodes] == ["passed"] * 8
    assert len({episode.task_id for episode in episodes}) == 8
    begun = Counter(
        event["episode"]
        for path in (tmp_path / "journals").glob("*.jsonl")
        for event in JsonlJournal(path).events()
        if event["event"] == "begin"
    )
    assert set(begun.values()) == {1} and len(begun) == 8, "every episode was begun once"
    assert all("did" in output for output in told), "both got on"
    assert SqliteLeases(tmp_path / "leases.sqlite").held() == []
    assert list((tmp_path / "round=001" / "collect" / "claims").iterdir()) == []
