"""The composing stage: the settings' strategies, sizes and the plan's applications are what its tasks are made of."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from cuamaster.adapters.desktops.simulated import SimulatedHost
from cuamaster.records.episode import PlanCell, RoundPlan
from cuamaster.records.task import Task
from cuamaster.seeding.taxonomy import load
from cuamaster.settings import Settings
from cuamaster.stages.composing import compose
from cuamaster.tables import Workspace


def test_tasks_are_composed_by_the_strategies_of_the_settings(tmp_path: Path) -> None:
    settings = Settings(workspace=tmp_path, strategies={"sequential": 1, "parameterized": 2}, max_primitives=3)
    workspace, taxonomy = Workspace(tmp_path), load()
    cell = PlanCell(app="pcmanfm", domain=taxonomy.domain_of("pcmanfm"), videos=0, tasks=3, k=2, n=1, reason="test")
    folder = workspace.round(1)
    image = SimulatedHost(1).guest_image("light-desktop")
    compose(workspace, folder, RoundPlan(round=1, cells=(cell,)), image, taxonomy, settings)
    tasks = list(folder.stage("compose").kept(Task))
    assert Counter(task.strategy for task in tasks) == {"sequential": 1, "parameterized": 2}
    assert {app for task in tasks for app in task.apps} == {"pcmanfm"}
    assert all(2 <= task.k <= 3 for task in tasks)
