"""Trajectories out of videos, each with the seed task that was made of it and what its replays proved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from cuamaster.exports.paths import finished, is_real, on_vm, plain
from cuamaster.exports.sample import RoundData, Sample
from cuamaster.records.episode import Episode
from cuamaster.records.primitive import Mode
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Lineage, Proof, Trajectory
from cuamaster.tables import Shelf


@dataclass(frozen=True)
class _Replay:
    """What an episode of a seed task says about the video."""

    episode_id: str
    outcome: str
    real: bool
    image_digest: str


_Origin = tuple[str, float | None, float | None, str | None]


@dataclass
class Seeds:
    """What a round knows of its seed tasks, for finding the one that was made of a trajectory, and its proof."""

    by_trajectory: dict[str, str] = field(default_factory=dict)
    by_origin: dict[_Origin, str] = field(default_factory=dict)
    origins: Counter[_Origin] = field(default_factory=Counter)
    released: set[str] = field(default_factory=set)
    replays: dict[str, list[_Replay]] = field(default_factory=dict)

    @classmethod
    def of(cls, data: RoundData, tasks: Shelf[Task]) -> Seeds:
        """Looks once at everything the round holds, and puts its tasks on the shelf."""
        found, seeds = cls(), set()
        for task in data.tasks:
            tasks.put(task.id, task)
            if task.strategy == "seed":
                seeds.add(task.id)
                for evidence in (evidence for use in task.plan for evidence in use.primitive.evidence):
                    if evidence.trajectory_id:
                        found.by_trajectory.setdefault(evidence.trajectory_id, task.id)
                for origin in filter(None, map(_origin, task.lineage)):
                    found.by_origin.setdefault(origin, task.id)
        found.origins.update(filter(None, (_origin(item.lineage) for item in data.trajectories)))
        found.released = {
            item.task_id
            for item in data.certificates
            if item.task_id in seeds and item.released and is_real(item.image_digest)
        }
        for episode in data.episodes if seeds else ():
            if episode.task_id in seeds and _is_replay(episode):
                replay = _Replay(episode.id, episode.outcome, on_vm(episode), episode.image_digest)
                found.replays.setdefault(episode.task_id, []).append(replay)
        return found

    def task_of(self, trajectory: Trajectory) -> str | None:
        """The seed task made of this trajectory: the one whose plan names it as evidence, else by lineage if that is its alone."""
        named = self.by_trajectory.get(trajectory.id)
        origin = _origin(trajectory.lineage)
        if named or origin is None or self.origins[origin] != 1:
            return named
        return self.by_origin.get(origin)


def from_videos(data: RoundData, tasks: Shelf[Task], seeds: Seeds) -> Iterator[Sample]:
    """The round's video trajectories, each with its proof or why there is none."""
    for trajectory in data.trajectories:
        task_id = seeds.task_of(trajectory)
        task = tasks.get(task_id) if task_id else None
        replays = seeds.replays.get(task_id or "", [])
        proof, reason, replay = _proof(trajectory, task, replays, oracle=task_id in seeds.released)
        steps = tuple(step.model_copy(update={"observation": plain(step.observation)}) for step in trajectory.steps)
        yield Sample(
            id=trajectory.id, round=data.round, source=trajectory.origin, instruction=trajectory.instruction,
            mode=_mode_of(trajectory), policy=f"{trajectory.origin}:{trajectory.annotator}", steps=finished(steps, trajectory.final), proof=proof, task=task,
            episode_id=replay.episode_id if replay else None, image_digest=replay.image_digest if replay else None,
            reason=reason, apps=(trajectory.app,) if trajectory.app else (), lineage=(trajectory.lineage,),
        )  # fmt: skip


def _mode_of(trajectory: Trajectory) -> Mode:
    """What of mouse, keyboard and shell its actions use: others' trajectories may use both."""
    categories = {item.action.category for step in trajectory.steps for item in step.actions} - {"control"}
    return "gui" if categories <= {"gui"} else "cli" if categories <= {"cli", "tool"} else "mixed"


def _origin(lineage: Lineage) -> _Origin | None:
    """Which span of which video; the primitives named beside it do not matter."""
    if lineage.video_id is None:
        return None
    return lineage.video_id, lineage.t_start, lineage.t_end, lineage.segment_id


def _is_replay(episode: Episode) -> bool:
    """Whether the episode carried out the video's own steps: the replay policy, with mouse and keyboard only."""
    actions = [item.action for node in episode.path() for item in node.actions]
    return "replay" in episode.policy and all(action.category in ("gui", "control") for action in actions)


def _proof(
    trajectory: Trajectory, task: Task | None, replays: list[_Replay], *, oracle: bool
) -> tuple[Proof, str, _Replay | None]:
    """`oracle`: the seed task's certificate is released, for which the same steps were replayed and passed."""
    if trajectory.verifier is None:
        return "none", "no-verifier", None
    if task is None:
        return "none", "no-seed-task", None
    passed = [replay for replay in replays if replay.outcome == "passed" and replay.real]
    if passed or oracle:
        return "replayed", "", passed[0] if passed else None
    if not replays:
        return "none", "not-replayed", None
    last = replays[-1]
    return "none", f"replay-{'simulated' if last.outcome == 'passed' else last.outcome}", last
