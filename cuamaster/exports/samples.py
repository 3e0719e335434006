"""Which trajectories of some rounds may be trained on, with what proof, and which may not, and why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cuamaster.exports.lineage import completed, sources_of
from cuamaster.exports.paths import on_vm, steps_of, task_of_episode
from cuamaster.exports.sample import RoundData, Sample
from cuamaster.exports.video_samples import Seeds, from_videos
from cuamaster.records.episode import Dropped
from cuamaster.records.record import canonical_json
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Lineage, Step
from cuamaster.tables import Shelf

__all__ = ["RoundData", "Sample", "hint_in", "on_vm", "samples"]

MAX_STEPS = 1000
"""Longer paths are no sample for a trainer, and as one row they would not fit into memory."""
MAX_INSTRUCTION = 20_000
"""Characters."""


def samples(rounds: Iterable[RoundData]) -> Iterator[Sample | Dropped]:
    """Proven and unproven ones in the order of the rounds, and what cannot be exported, a path seen before among it.

    Of a round, only what is known of its seed tasks is in memory. Raises IntegrityError for an episode whose task neither
    its round nor an earlier one holds.
    """
    seen: set[bytes] = set()
    sources: dict[str, Lineage] = {}
    with Shelf(Task) as tasks:
        for data in rounds:
            sources.update(sources_of(data.trajectories))
            seeds = Seeds.of(data, tasks)
            for sample in _of_round(data, tasks, seeds):
                problem = _unfit(sample)
                if problem:
                    yield Dropped(item_id=sample.id, stage="export", reason=problem[0], detail=problem[1])
                    continue
                path = _path_hash(sample)
                if path in seen:
                    yield Dropped(item_id=sample.id, stage="export", reason="seen-before")
                    continue
                seen.add(path)
                yield replace(sample, lineage=completed(sample.lineage, sources))


def _of_round(data: RoundData, tasks: Shelf[Task], seeds: Seeds) -> Iterator[Sample]:
    yield from _collected(data, tasks)
    yield from from_videos(data, tasks, seeds)


def _path_hash(sample: Sample) -> bytes:
    actions = [[item.action.to_dict() for item in step.actions] for step in sample.steps]
    path = canonical_json([sample.task.id if sample.task else sample.id, sample.source, sample.mode, actions])
    return hashlib.sha256(path.encode()).digest()[:16]


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
