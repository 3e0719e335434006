"""The seed task of a video: its own actions as the plan, its start state as setup, its derived end state as verifier.

A replay of this plan on a desktop that passes the verifier is what proves a trajectory from a video.
"""

from __future__ import annotations

from cuamaster.propagation.generation.composer import Surroundings
from cuamaster.propagation.generation.extractor import setup_for, template_of
from cuamaster.propagation.generation.intents import Scene
from cuamaster.records.condition import Condition
from cuamaster.records.episode import Dropped
from cuamaster.records.parts import conjuncts
from cuamaster.records.primitive import Evidence, Primitive, Procedure, SetupStep
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.records.trajectory import Trajectory

STAGE = "seed-tasks"
SECONDS_PER_ACTION = 20.0


def seed_task(trajectory: Trajectory, guest: Surroundings, *, domain: str = "") -> tuple[list[Task], list[Dropped]]:
    """One task with K = 1, N = 1 whose plan repeats the video, or the reason why there is none."""
    if trajectory.verifier is None:
        return [], [Dropped(item_id=trajectory.id, stage=STAGE, reason="no-verifier", detail=trajectory.instruction)]
    needed = f"app:{trajectory.app}"
    if not guest.supports([needed]):
        return [], [Dropped(item_id=trajectory.id, stage=STAGE, reason="missing-capability", detail=f"needs {needed}")]
    lineage = trajectory.lineage
    start = tuple(part for condition in trajectory.start_state for part in conjuncts(condition))
    actions = [action for step in trajectory.steps for action in step.actions]
    steps = tuple(template_of(action, {}) for action in actions)
    whole = Primitive(
        app=trajectory.app,
        ability="replay-of-video",
        instruction=trajectory.instruction,
        preconditions=start,
        requires=(needed,),
        effects=conjuncts(trajectory.verifier),
        verifier=trajectory.verifier,
        procedures=(Procedure(mode="gui", steps=steps),),
        evidence=(
            Evidence(
                kind="video",
                source=lineage.video_id or lineage.video_url or trajectory.id,
                t_start=lineage.t_start,
                t_end=lineage.t_end,
                trajectory_id=trajectory.id,
            ),
        ),
        origin="extracted",
    )
    environment = Environment(
        image=guest.image,
        image_digest=guest.image_digest,
        capabilities=(needed,),
        setup=_setup(trajectory, start),
        established=start,
        screen=guest.screen,
    )
    task = Task(
        instruction=trajectory.instruction,
        environment=environment,
        verifier=trajectory.verifier,
        plan=(PrimitiveUse(primitive=whole),),
        strategy="seed",
        domain=domain,
        max_steps=20 + 3 * len(actions),
        timeout_s=60.0 + SECONDS_PER_ACTION * len(actions),
        lineage=(lineage,),
    )
    return [task], []


def _setup(trajectory: Trajectory, start: tuple[Condition, ...]) -> tuple[SetupStep, ...]:
    """What brings the start state about; the application is opened even if no window title could be read."""
    steps = setup_for(start, Scene(trajectory.app, start))
    if any(step.kind == "app.launch" for step in steps):
        return steps
    return (*steps, SetupStep(kind="app.launch", app=trajectory.app))
