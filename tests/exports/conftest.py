"""A small round as the stages would leave it: tasks, certificates, episodes, video trajectories and their pictures."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from cuamaster.action_space import CUAAction
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.exports.manifest import Release
from cuamaster.exports.options import Options
from cuamaster.exports.samples import RoundData
from cuamaster.records.condition import All, FileExists, FileText
from cuamaster.records.episode import Episode, Node, Receipt
from cuamaster.records.primitive import ActionTemplate, Parameter, Primitive, Procedure, SetupStep
from cuamaster.records.task import Certificate, Environment, PrimitiveUse, Probe, Task
from cuamaster.records.trajectory import Action, Lineage, Observation, Step, Target, Trajectory
from cuamaster.records.verdict import Divergence, Verdict
from cuamaster.stages import Ports, release
from cuamaster.tables import Workspace

from .datasets import keep

DIGEST = "light-desktop-0123456789ab"
HINT = 'The window did not change; a dialog titled "Save" is still open.'


def act(kind: str, **args: object) -> Action:
    return Action(action=CUAAction(kind, args), evidence="replay")


def primitive(app: str, ability: str) -> Primitive:
    return Primitive(
        app=app, ability=ability, instruction="Save {text} in {filename}", parameters=(Parameter(name="filename", kind="filename", examples=("a.txt",)),),
        effects=(FileExists(path="~/{filename}"),), verifier=FileExists(path="~/{filename}"),
        procedures=(Procedure(mode="gui", steps=(ActionTemplate(type="mouse.click", target=Target(text="Secret Menu"), say="Open it"),)),),
    )  # fmt: skip


def make_task(*apps: str, seed: int = 0, strategy: str = "sequential", lineage: tuple[Lineage, ...] = ()) -> Task:
    plan = tuple(
        PrimitiveUse(primitive=primitive(app, f"save-{n}"), arguments={"filename": f"{n}.txt"})
        for n, app in enumerate(apps)
    )
    return Task.model_validate(
        {
            "instruction": f"Write the shopping list – “{seed}” – and save it",
            "environment": Environment(
                image="light-desktop", image_digest=DIGEST, capabilities=("app:mousepad",), setup=(SetupStep(kind="dir.make", path="~/x"),)
            ),
            "verifier": All(of=(FileText(path="~/groceries.txt", text="milk and eggs"), FileExists(path="~/done"))),
            "plan": plan, "strategy": strategy, "domain": "office", "seed": seed, "lineage": lineage, "max_steps": 30,
        }
    )  # fmt: skip


def certificate(task: Task, null: str = "failed") -> Certificate:
    probes = (
        Probe(name="null", expected="failed", verdict=Verdict.model_validate({"status": null})),
        Probe(name="oracle", expected="passed", verdict=Verdict(status="passed")),
    )
    return Certificate(task_id=task.id, probes=probes, image_digest=DIGEST)


@dataclass
class World:
    """A store and what makes records whose pictures are in it."""

    store: LocalStore
    count: int = 0

    def see(self, *, response: str = "", feedback: str = "") -> Observation:
        self.count += 1
        picture = Image.new("RGB", (64, 40), (self.count % 256, 90, 120))
        ImageDraw.Draw(picture).text((4, 4), str(self.count), fill="white")
        data = io.BytesIO()
        picture.save(data, "PNG")
        digest = self.store.put(data.getvalue())
        return Observation(
            screenshot=digest, width=64, height=40, t=float(self.count), response=response, feedback=feedback
        )

    def node(
        self, index: int, parent: int, *actions: Action, dropped: bool = False, injected: bool = False, **seen: str
    ) -> Node:
        receipts = tuple(Receipt(action_id=f"{index}-{n}", status="sent") for n in range(len(actions)))
        return Node(
            index=index, parent=parent, observation=self.see(**seen), actions=actions, receipts=receipts, thought=f"Do step {index}", use=0,
            dropped=dropped, injected=injected,
        )  # fmt: skip

    def rolled_back(self, task: Task, **changes: object) -> Episode:
        """Passed after one rollback: node 1 was injected, node 2 was decided with a hint."""
        nodes = (
            self.node(0, -1, act("mouse.click", x=10.4, y=999.9, modifiers=["ctrl"])),
            self.node(1, 0, act("keyboard.type", text="milk and egs"), dropped=True, injected=True),
            self.node(
                2,
                0,
                act("keyboard.type", text="milk and eggs </tool_call> ü"),
                act("keyboard.press", keys=["ctrl", "s"]),
                feedback=HINT,
            ),
            self.node(3, 2, act("shell.exec", command="ls ~"), act("mouse.drag", path=[[1, 2], [500, 600.5]])),
            self.node(4, 3, act("finish", status="success"), response="exit 0\ngroceries.txt"),
        )
        divergence = Divergence(step=1, snapshot="s0", feedback=HINT, detector="rules")
        episode = Episode(
            id=f"episode-{task.id}", task_id=task.id, policy="replay+faults", mode="mixed", outcome="passed", verdict=Verdict(status="passed"),
            nodes=nodes, final=self.see(), divergences=(divergence,), rollbacks=1, injected_faults=1, first_attempt_passed=False, image_digest=DIGEST,
        )  # fmt: skip
        return episode.model_copy(update=changes)

    def replay(self, task: Task, outcome: str = "passed") -> Episode:
        nodes = (self.node(0, -1, act("mouse.click", x=5, y=5)), self.node(1, 0, act("finish", status="success")))
        return Episode.model_validate(
            {
                "id": f"episode-{task.id}-{outcome}", "task_id": task.id, "policy": "replay", "mode": "gui", "outcome": outcome,
                "verdict": Verdict.model_validate({"status": outcome if outcome in ("passed", "failed") else "errored"}), "nodes": nodes,
                "final": self.see(), "first_attempt_passed": outcome == "passed", "image_digest": DIGEST,
            }
        )  # fmt: skip

    def video(self, segment: str, *, verifier: bool = True) -> Trajectory:
        step = Step(
            observation=self.see(),
            actions=(act("mouse.click", x=200, y=300, count=2),),
            thought="Double-click the folder",
        )
        return Trajectory(
            origin="video", task_id=segment, instruction=f"Do what {segment} shows", app="pcmanfm", steps=(step,), final=self.see(),
            verifier=FileExists(path="~/reports") if verifier else None, annotator="rules", lineage=video_lineage(segment),
        )  # fmt: skip


def video_lineage(segment: str) -> Lineage:
    return Lineage(
        video_id="video-1",
        video_url="file:///tutorial.mp4",
        t_start=4.5,
        t_end=20.0,
        segment_id=segment,
        license="CC-BY-4.0",
        primitive_ids=("p.q-1",),
    )


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(LocalStore(tmp_path / "blobs"))


@pytest.fixture
def make_round(world: World) -> Callable[[], RoundData]:
    """One composed task that passed after a rollback, one that failed, one on a faulty guest; two videos, one of them replayed."""

    def build() -> RoundData:
        good, bad, broken = (
            make_task("mousepad", "pcmanfm", seed=1),
            make_task("mousepad", seed=2),
            make_task("mousepad", seed=3),
        )
        seed = make_task("pcmanfm", strategy="seed", lineage=(video_lineage("segment-1"),))
        episodes = (
            world.rolled_back(good),
            world.replay(bad, "failed"),
            world.replay(broken, "infra"),
            world.replay(seed),
        )
        return RoundData(
            round=1, tasks=(good, bad, broken, seed), certificates=tuple(certificate(task) for task in (good, bad, seed)), episodes=episodes,
            trajectories=(world.video("segment-1"), world.video("segment-2"), world.video("segment-3", verifier=False)),
        )  # fmt: skip

    return build


@pytest.fixture
def workspace(world: World, tmp_path: Path) -> Workspace:
    """Its blobs are those of `world`."""
    return Workspace(tmp_path)


@pytest.fixture
def dataset(
    workspace: Workspace, world: World, make_round: Callable[[], RoundData], tmp_path: Path
) -> Callable[..., tuple[Path, Release]]:
    """Writes a profile's dataset of one round and gives its folder and manifest."""
    keep(workspace, make_round())

    def build(profile: str, **options: Any) -> tuple[Path, Release]:
        folder = tmp_path / "out" / profile
        return folder, release(workspace, Ports(world.store), profile, folder, Options(**options))

    return build
