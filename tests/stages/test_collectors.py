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


def _collectors(folder: Path, count: int) -> list[subprocess.Popen[str]]:
    """Started and told to go at the same moment."""
    collectors = [
        subprocess.Popen(
            [sys.executable, "-c", _COLLECTOR, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(count)
    ]
    for collector in collectors:
        assert collector.stdout is not None
        assert collector.stdout.readline() == "ready\n"
    for collector in collectors:
        assert collector.stdin is not None
        collector.stdin.write("go\n")
        collector.stdin.flush()
    return collectors


def _nothing_is_left(folder: Path) -> None:
    assert SqliteLeases(folder / "leases.sqlite").held() == []
    assert list((folder / "round=001" / "collect" / "claims").iterdir()) == []


@pytest.mark.slow
def test_two_collectors_on_one_workspace(tmp_path: Path) -> None:
    collectors = _collectors(tmp_path, 2)
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
    _nothing_is_left(tmp_path)


@pytest.mark.slow
def test_what_a_killed_collector_held_is_the_other_ones_at_once(tmp_path: Path) -> None:
    """Its slot, its item and its episode: with a lease of a minute, nobody waits that long."""
    doomed, other = _collectors(tmp_path, 2)
    assert doomed.stdout is not None
    assert doomed.stdout.readline().startswith("did")
    doomed.kill()
    doomed.communicate()
    other.communicate(timeout=240)
    assert other.returncode == 0
    episodes = Workspace(tmp_path).round(1).stage("collect").kept(Episode)
    assert len({episode.id for episode in episodes}) == len(episodes)
    assert len({episode.task_id for episode in episodes if episode.outcome == "passed"}) == 8
    broken = [episode for episode in episodes if episode.outcome != "passed"]
    assert len(broken) <= 1 and all(episode.outcome == "infra" for episode in broken)
    _nothing_is_left(tmp_path)
