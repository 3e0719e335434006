"""Which trajectories of some rounds may be trained on, with what proof, and which may not, and why."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
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
from cuamaster.tables import Shelf

DONE = "The task is done."
MAX_STEPS = 2000
"""Longer paths are no sample for a trainer, and as one row they would not fit into memory."""
MAX_INSTRUCTION = 20_000
"""Characters."""


@dataclass(frozen=True)
class RoundData:
    """What one round made: all tasks its episodes are of, their certificates, and the video trajectories.

    Everything is iterated several times; it may be read from files each time, so that no round need fit into memory.
    """

    round: int
    tasks: Iterable[Task] = ()
    certificates: Iterable[Certificate] = ()
    episodes: Iterable[Episode] = ()
    trajectories: Iterable[Trajectory] = ()


@dataclass(frozen=True)
class Sample:
    """One trajectory on its way to a row; `reason` says why it is unproven."""

    id: str
    round: int
    source: Literal["collected", "video"]
    instruction: str
    mode: Mode
    policy: str
    steps: tuple[Step, ...]
    proof: Proof
    task: Task | None = None
    episode_id: str | None = None
    """The episode it is, or the one that proves it."""
    image_digest: str | None = None
    reason: str = ""
    n_rollbacks: int = 0
    apps: tuple[str, ...] = ()
    lineage: tuple[Lineage, ...] = ()
    injected: bool = False
    """A step that was made wrong on purpose is on the kept path."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Feedback that was given on the way; it must not show up anywhere in the row."""


def samples(rounds: Iterable[RoundData]) -> Iterator[Sample | Dropped]:
    """Proven and unproven ones in the order of the rounds, and what cannot be exported; a path seen before is not repeated.

    Of a round, only what is known of its seed tasks is in memory. Raises IntegrityError for an episode whose task neither
    its round nor an earlier one holds.
    """
    seen: set[bytes] = set()
    sources: dict[str, Lineage] = {}
    with Shelf(Task) as tasks:
        for data in rounds:
            sources.update(sources_of(data.trajectories))
            seeds = _Seeds.of(data, tasks)
            for sample in _of_round(data, tasks, seeds):
                problem = _unfit(sample)
                if problem:
                    yield Dropped(item_id=sample.id, stage="export", reason=problem[0], detail=problem[1])
                    continue
                path = _path_hash(sample)
                if path not in seen:
                    seen.add(path)
                    yield replace(sample, lineage=completed(sample.lineage, sources))


def _of_round(data: RoundData, tasks: Shelf[Task], seeds: _Seeds) -> Iterator[Sample]:
    yield from _collected(data, tasks)
    yield from _from_videos(data, tasks, seeds)


def _path_hash(sample: Sample) -> bytes:
    actions = [[item.action.to_dict() for item in step.actions] for step in sample.steps]
    path = canonical_json([sample.task.id if sample.task else sample.id, sample.source, sample.mode, actions])
    return hashlib.sha256(path.encode()).digest()[:16]


def on_vm(episode: Episode) -> bool:
    """Whether the episode ran on a real guest image; a simulated desktop proves nothing."""
    return _real(episode.image_digest)


def _real(image_digest: str) -> bool:
    return bool(image_digest) and not image_digest.startswith("simulated")


def _unfit(sample: Sample) -> tuple[str, str] | None:
    """Why nobody should learn from this path, as a slug and what was found."""
    if sample.injected:
        return "injected-step-kept", ""
    if not sample.steps:
        return "no-steps", ""
    last = sample.steps[-1].actions[-1].action
    if last.type != "finish" or last.args["status"] != "success":
        return "finish-not-success", ""
    if len(sample.steps) > MAX_STEPS:
        return "too-long", f"{len(sample.steps)} steps; at most {MAX_STEPS} are exported"
    if len(sample.instruction) > MAX_INSTRUCTION:
        return "instruction-too-long", f"{len(sample.instruction)} characters; at most {MAX_INSTRUCTION} are exported"
    told = hint_in(sample.steps, sample.secrets, sample.instruction)
    return ("hint-in-row", told) if told else None


def hint_in(steps: Iterable[Step], secrets: Iterable[str], instruction: str = "") -> str:
    """A hint that shows through in what would be exported: as it was given, or with its blanks made single as in a thought."""
    secrets = [secret for secret in secrets if secret]
    if not secrets:
        return ""
    steps = tuple(steps)
    texts = [text for step in steps for text in (step.thought, step.observation.response)]
    actions = [canonical_json(item.model_dump(mode="json")) for step in steps for item in step.actions]
    plain = "\n".join([instruction, *texts, *actions])
    found = f"{plain}\n{' '.join(plain.split())}"
    shapes = ((secret, secret, " ".join(secret.split()), canonical_json(secret)[1:-1]) for secret in secrets)
    return next((secret for secret, *forms in shapes if any(form in found for form in forms)), "")


def _collected(data: RoundData, tasks: Shelf[Task]) -> Iterator[Sample]:
    for episode in data.episodes:
        if episode.outcome != "passed" or episode.verdict is None or episode.verdict.status != "passed":
            continue
        task = task_of_episode(episode, tasks, data.round)
        sample = Sample(
            id=episode.id, round=data.round, source="collected", instruction=task.instruction, mode=episode.mode, policy=episode.policy,
            steps=steps_of(episode, task), proof="verified", task=task, episode_id=episode.id, image_digest=episode.image_digest,
            n_rollbacks=episode.rollbacks, apps=task.apps, lineage=task.lineage, injected=any(node.injected for node in episode.path()),
            secrets=tuple(divergence.feedback for divergence in episode.divergences if divergence.feedback),
        )  # fmt: skip
        yield sample if on_vm(episode) else replace(sample, proof="none", reason="simulated-desktop")


def task_of_episode(episode: Episode, tasks: Shelf[Task], round_number: int) -> Task:
    """The task that an episode is of; raises IntegrityError when nobody holds it."""
    task = tasks.get(episode.task_id)
    if task is None:
        raise IntegrityError(
            f"episode {episode.id} is of task {episode.task_id}, which round {round_number} does not hold"
        )
    return task


def steps_of(episode: Episode, task: Task) -> tuple[Step, ...]:
    """The kept path without hints and without rejected actions, ended by a finish."""
    return _finished(steps_of_nodes(episode.path(), task), episode.final)


def steps_of_nodes(path: Iterable[Node], task: Task) -> tuple[Step, ...]:
    """The steps of a part of a path that begins at the start, without hints and without rejected actions."""
    steps: list[Step] = []
    answer: str | None = None
    for node in path:
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
    return tuple(steps)


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


@dataclass(frozen=True)
class _Replay:
    """What an episode of a seed task says about the video."""

    episode_id: str
    outcome: str
    real: bool
    image_digest: str


_Origin = tuple[str, float | None, float | None, str | None]


@dataclass
class _Seeds:
    """What a round knows of its seed tasks, for finding the one that was made of a trajectory, and its proof."""

    by_trajectory: dict[str, str] = field(default_factory=dict)
    by_origin: dict[_Origin, str] = field(default_factory=dict)
    origins: Counter[_Origin] = field(default_factory=Counter)
    released: set[str] = field(default_factory=set)
    replays: dict[str, list[_Replay]] = field(default_factory=dict)

    @classmethod
    def of(cls, data: RoundData, tasks: Shelf[Task]) -> _Seeds:
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
            if item.task_id in seeds and item.released and _real(item.image_digest)
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


def _from_videos(data: RoundData, tasks: Shelf[Task], seeds: _Seeds) -> Iterator[Sample]:
    for trajectory in data.trajectories:
        task_id = seeds.task_of(trajectory)
        task = tasks.get(task_id) if task_id else None
        replays = seeds.replays.get(task_id or "", [])
        proof, reason, replay = _proof(trajectory, task, replays, oracle=task_id in seeds.released)
        steps = tuple(step.model_copy(update={"observation": _plain(step.observation)}) for step in trajectory.steps)
        yield Sample(
            id=trajectory.id, round=data.round, source="video", instruction=trajectory.instruction, mode="gui",
            policy=f"video:{trajectory.annotator}", steps=_finished(steps, trajectory.final), proof=proof, task=task,
            episode_id=replay.episode_id if replay else None, image_digest=replay.image_digest if replay else None,
            reason=reason, apps=(trajectory.app,), lineage=(trajectory.lineage,),
        )  # fmt: skip


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
