"""The whole loop without a machine: procedures grounded by reading the simulated screen, every kind of fault, all modes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cuamaster.adapters.desktops.simulated import SimulatedHost
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.policies.faulty import FaultyPolicy
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.screens.live import LiveReader
from cuamaster.adapters.screens.rapidocr import RapidOcrReader
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.assets import asset_folder
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.collection.feedback import leaks
from cuamaster.propagation.collection.rollout import rollout
from cuamaster.propagation.generation.yaml_primitives import read_primitives
from cuamaster.records.condition import FileExists, FileText, WindowTitle
from cuamaster.records.episode import Budget, Episode
from cuamaster.records.primitive import Mode, SetupStep
from cuamaster.records.task import Environment, PrimitiveUse, Task

TEXT = "Water the plants twice"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> LiveReader:
    return LiveReader(RapidOcrReader(tmp_path_factory.mktemp("ocr")))


def _use(app: str, ability: str, **arguments: str) -> PrimitiveUse:
    written = read_primitives(asset_folder("primitives") / f"{app}.yaml", evidence=False)
    primitive = next(item.primitive for item in written if item.primitive.ability == ability)
    return PrimitiveUse(primitive=primitive, arguments=arguments)


@pytest.fixture(scope="module")
def saved() -> Task:
    """Curated primitives: type a line into Mousepad, save it under a name."""
    return Task(
        instruction=f'Write "{TEXT}" and save it as list.txt.',
        environment=Environment(
            image="light-desktop",
            image_digest="",
            setup=(SetupStep(kind="app.launch", app="mousepad", text="Untitled"),),
            established=(WindowTitle(app="mousepad", title="Untitled", active=True),),
        ),
        verifier=FileText(path="~/list.txt", text=TEXT),
        plan=(
            _use("mousepad", "type-text", text=TEXT),
            _use("mousepad", "save-as", text=TEXT, filename="list.txt"),
        ),
        strategy="state_dependent",
    )


@pytest.fixture(scope="module")
def made() -> Task:
    """One use with a command and a terminal procedure."""
    return Task(
        instruction="Make the folder garden.",
        environment=Environment(
            image="light-desktop", image_digest="", setup=(SetupStep(kind="app.launch", app="lxterminal"),)
        ),
        verifier=FileExists(path="~/garden", type="dir"),
        plan=(_use("lxterminal", "make-folder", dirname="garden"),),
        strategy="sequential",
    )


def _roll(task: Task, reader: LiveReader, folder: Path, *, mode: Mode = "gui", seed: int | None = None) -> Episode:
    policy = ReplayPolicy(reader, mode)
    with SimulatedHost().open("light-desktop") as desktop:
        return rollout(
            task,
            policy if seed is None else FaultyPolicy(policy, seed=seed, rate=1.0, episode_id="e"),
            desktop,
            reader=reader,
            journal=JsonlJournal(folder / "journal.jsonl"),
            detector=RulesDetector(reader),
            store=LocalStore(folder / "blobs"),
            budget=Budget(max_retries=6),
            clock=time.monotonic,
            episode_id="e",
        )


@pytest.mark.slow
def test_procedures_are_carried_out_on_the_screen_as_it_is_read(
    saved: Task, reader: LiveReader, tmp_path: Path
) -> None:
    more = (
        _use("mousepad", "append-line", text="and the trees", filename="list.txt"),
        _use("mousepad", "save", text="and the trees", filename="list.txt"),
    )
    goal = FileText(path="~/list.txt", text=f"{TEXT}\nand the trees")
    task = saved.model_copy(update={"plan": (*saved.plan, *more), "verifier": goal})
    episode = _roll(task, reader, tmp_path)
    assert (episode.outcome, episode.first_attempt_passed) == ("passed", True), episode.message
    clicked = [item.target.text for node in episode.path() for item in node.actions if item.target is not None]
    assert clicked[-2:] == ["File", "Save"], "the menu was found by reading it"
    assert sum(bool(node.snapshot_after) for node in episode.path()) == 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_faults_are_found_and_undone_without_leaking_the_answer(
    saved: Task, reader: LiveReader, tmp_path: Path, seed: int
) -> None:
    episode = _roll(saved, reader, tmp_path, seed=seed)
    assert episode.outcome == "passed", episode.message
    assert episode.injected_faults >= 1
    assert episode.rollbacks >= 1
    for divergence in episode.divergences:
        assert leaks(divergence.feedback, saved, []) == [] or "Windows" in divergence.feedback


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["gui", "cli", "mixed"])
def test_modes(made: Task, reader: LiveReader, tmp_path: Path, mode: Mode) -> None:
    episode = _roll(made, reader, tmp_path, mode=mode)
    assert (episode.outcome, episode.mode) == ("passed", mode), episode.message
    kinds = {item.action.category for node in episode.path() for item in node.actions}
    assert ("cli" in kinds) == (mode != "gui")
