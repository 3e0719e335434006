"""Which trajectories of some rounds may be trained on, with what proof, and which may not, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from cuamaster.action_space import CUAAction
from cuamaster.errors import IntegrityError
from cuamaster.exports.lineage import completed, sources_of
from cuamaster.records.episode import Dropped, Episode, Node
from cuamaster.records.primitive import Mode
from cuamaster.records.record import canonical_json
from cuamaster.records.task import Certificate, Task
from cuamaster.records.trajectory import Action, Lineage, Observation, Proof, Step, Trajectory

DONE = "The task is done."


@dataclass(frozen=True)
class RoundData:
    """What one round made: all tasks its episodes are of, their certificates, and the video trajectories."""

    round: int
    tasks: Sequence[Task] = ()
    certificates: Sequence[Certificate] = ()
    episodes: Sequence[Episode] = ()
    trajectories: Sequence[Trajectory] = ()


@dataclass(frozen=True)
class Sample:
    """One trajectory on its way to a row; `reason` says why it is unproven."""

    id: str
    round: int
    source: Literal["collected", "video", "imported"]
    instruction: str
    mode: Mode
    policy: str
    steps: tuple[Step, ...]
    proof: Proof
    task: Task | None = None
    episode: Episode | None = None
    reason: str = ""
    n_rollbacks: int = 0
    apps: tuple[str, ...] = ()
    lineage: tuple[Lineage, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Feedback that was given on the way; it must not show up anywhere in the row."""


def samples(rounds: Iterable[RoundData]) -> Iterator[Sample | Dropped]:
    """Proven and unproven ones in the order of the rounds, and what cannot be exported; a path seen before is not repeated.

    Raises IntegrityError for an episode whose task its round does not hold.
    """
    seen: set[str] = set()
    sources: dict[str, Lineage] = {}
    for data in rounds:
        sources.update(sources_of(data.trajectories))
        tasks = {task.id: task for task in data.tasks}
        for sample in [*_collected(data, tasks), *_from_videos(data, tasks)]:
            problem = _unfit(sample)
            if problem:
                yield Dropped(item_id=sample.id, stage="export", reason=problem)
                continue
            actions = [[item.action.to_dict() for item in step.actions] for step in sample.steps]
            path = canonical_json([sample.task.id if sample.task else sample.id, sample.source, sample.mode, actions])
            if path not in seen:
                seen.add(path)
                yield replace(sample, lineage=completed(sample.lineage, sources))


def on_vm(episode: Episode) -> bool:
    """Whether the episode ran on a real guest image; a simulated desktop proves nothing."""
    return _real(episode.image_digest)


def _real(image_digest: str) -> bool:
    return bool(image_digest) and not image_digest.startswith("simulated")


def _unfit(sample: Sample) -> str:
    """Why nobody should learn from this path, as a slug, or ''."""
    if (
        sample.source == "collected"
        and sample.episode is not None
        and any(node.injected for node in sample.episode.path())
    ):
        return "injected-step-kept"
    if not sample.steps:
        return "no-steps"
    last = sample.steps[-1].actions[-1].action
    return "" if last.type == "finish" and last.args["status"] == "success" else "finish-not-success"


def _collected(data: RoundData, tasks: dict[str, Task]) -> Iterator[Sample]:
    for episode in data.episodes:
        if episode.outcome != "passed" or episode.verdict is None or episode.verdict.status != "passed":
            continue
        task = tasks.get(episode.task_id)
        if task is None:
            raise IntegrityError(
                f"episode {episode.id} is of task {episode.task_id}, which round {data.round} does not hold"
            )
        sample = Sample(
            id=episode.id, round=data.round, source="collected", instruction=task.instruction, mode=episode.mode, policy=episode.policy,
            steps=steps_of(episode, task), proof="verified", task=task, episode=episode, n_rollbacks=episode.rollbacks, apps=task.apps,
            lineage=task.lineage, secrets=tuple(divergence.feedback for divergence in episode.divergences if divergence.feedback),
        )  # fmt: skip
        yield sample if on_vm(episode) else replace(sample, proof="none", reason="simulated-desktop")


def steps_of(episode: Episode, task: Task) -> tuple[Step, ...]:
    """The kept path without hints and without rejected actions, ended by a finish."""
    steps: list[Step] = []
    answer: str | None = None
    for node in episode.path():
        actions = _carried_out(node)
        if not actions:  # nothing happened: the next step sees the same screen
            continue
        observation = _plain(node.observation)
        if answer is not None:
            observation = observation.model_copy(update={"response": answer})
        use = task.plan[node.use].primitive.id if node.use is not None and node.use < task.k else ""
        steps.append(Step(observation=observation, actions=actions, thought=node.thought, primitive=use))
        left_out = len(actions) < len(node.actions)
        answer = (
            "\n".join(r.response for r in node.receipts if r.response and r.status != "rejected") if left_out else None
        )
    return _finished(tuple(steps), episode.final)


def _carried_out(node: Node) -> tuple[Action, ...]:
    rejected = {index for index, receipt in enumerate(node.receipts) if receipt.status == "rejected"}
    return tuple(action for index, action in enumerate(node.actions) if index not in rejected)


def _plain(observation: Observation) -> Observation:
    return observation.model_copy(update={"feedback": ""})


def _finished(steps: tuple[Step, ...], final: Observation | None) -> tuple[Step, ...]:
    """A policy must also learn to stop: a path that does not end with `finish` gets that step, seen on the final screen."""
    if not steps or final is None or steps[-1].actions[-1].action.type == "finish":
        return steps
    finish = Action(action=CUAAction("finish", {"status": "success"}), evidence="verifier")
    return (*steps, Step(observation=_plain(final), actions=(finish,), thought=DONE))


def _from_videos(data: RoundData, tasks: dict[str, Task]) -> Iterator[Sample]:
    for trajectory in data.trajectories:
        task = _seed_task(trajectory, data.trajectories, tasks)
        replayed = [
            episode
            for episode in data.episodes
            if task is not None and episode.task_id == task.id and _is_replay(episode)
        ]
        oracle = any(
            task is not None and item.task_id == task.id and item.released and _real(item.image_digest)
            for item in data.certificates
        )
        proof, reason, episode = _proof(trajectory, task, replayed, oracle=oracle)
        steps = tuple(step.model_copy(update={"observation": _plain(step.observation)}) for step in trajectory.steps)
        yield Sample(
            id=trajectory.id, round=data.round, source=trajectory.origin, instruction=trajectory.instruction, mode=_mode_of(trajectory),
            policy=f"{trajectory.origin}:{trajectory.annotator}", steps=_finished(steps, trajectory.final), proof=proof, task=task,
            episode=episode, reason=reason, apps=(trajectory.app,) if trajectory.app else (), lineage=(trajectory.lineage,),
        )  # fmt: skip


def _mode_of(trajectory: Trajectory) -> Mode:
    """What of mouse, keyboard and shell its actions use: others' trajectories may use both."""
    categories = {item.action.category for step in trajectory.steps for item in step.actions} - {"control"}
    return "gui" if categories <= {"gui"} else "cli" if categories <= {"cli", "tool"} else "mixed"


def _seed_task(trajectory: Trajectory, all_: Sequence[Trajectory], tasks: dict[str, Task]) -> Task | None:
    """The seed task made of this trajectory: the one whose plan names it as evidence, else by lineage if that is its alone."""
    seeds = [task for task in tasks.values() if task.strategy == "seed"]
    for task in seeds:
        if any(evidence.trajectory_id == trajectory.id for use in task.plan for evidence in use.primitive.evidence):
            return task
    if sum(_same_origin(trajectory.lineage, other.lineage) for other in all_) != 1:
        return None
    return next(
        (task for task in seeds if any(_same_origin(trajectory.lineage, lineage) for lineage in task.lineage)), None
    )


def _same_origin(a: Lineage, b: Lineage) -> bool:
    """Same span of the same video; the primitives named beside it do not matter."""
    return a.video_id is not None and (a.video_id, a.t_start, a.t_end, a.segment_id) == (
        b.video_id,
        b.t_start,
        b.t_end,
        b.segment_id,
    )


def _is_replay(episode: Episode) -> bool:
    """Whether the episode carried out the video's own steps: the replay policy, with mouse and keyboard only."""
    actions = [item.action for node in episode.path() for item in node.actions]
    return "replay" in episode.policy and all(action.category in ("gui", "control") for action in actions)


def _proof(
    trajectory: Trajectory, task: Task | None, replayed: Sequence[Episode], *, oracle: bool
) -> tuple[Proof, str, Episode | None]:
    """`oracle`: the seed task's certificate is released, for which the same steps were replayed and passed."""
    if trajectory.verifier is None:
        return "none", "no-verifier", None
    if task is None:
        return "none", "no-seed-task", None
    passed = [episode for episode in replayed if episode.outcome == "passed" and on_vm(episode)]
    if passed or oracle:
        return "replayed", "", passed[0] if passed else None
    if not replayed:
        return "none", "not-replayed", None
    return "none", f"replay-{'simulated' if replayed[-1].outcome == 'passed' else replayed[-1].outcome}", replayed[-1]
