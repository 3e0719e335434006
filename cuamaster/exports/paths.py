"""The kept path of an episode as steps to learn from: no hints, nothing that was rejected, an end."""

from __future__ import annotations

from collections.abc import Iterable

from cuamaster.action_space import CUAAction
from cuamaster.errors import IntegrityError
from cuamaster.records.episode import Episode, Node
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action, Observation, Step
from cuamaster.tables import Shelf

DONE = "The task is done."


def on_vm(episode: Episode) -> bool:
    """Whether the episode ran on a real guest image; a simulated desktop proves nothing."""
    return is_real(episode.image_digest)


def is_real(image_digest: str) -> bool:
    """Whether a digest is that of a guest image."""
    return bool(image_digest) and not image_digest.startswith("simulated")


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
    return finished(steps_of_nodes(episode.path(), task), episode.final)


def steps_of_nodes(path: Iterable[Node], task: Task) -> tuple[Step, ...]:
    """The steps of a part of a path that begins at the start, without hints and without rejected actions."""
    steps: list[Step] = []
    answer: str | None = None
    for node in path:
        actions = _carried_out(node)
        if not actions:  # nothing happened: the next step sees the same screen
            continue
        observation = plain(node.observation)
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


def plain(observation: Observation) -> Observation:
    """Without the hint."""
    return observation.model_copy(update={"feedback": ""})


def finished(steps: tuple[Step, ...], final: Observation | None) -> tuple[Step, ...]:
    """A policy must also learn to stop: a path that does not end with `finish` gets that step, seen on the final screen."""
    if not steps or final is None or steps[-1].actions[-1].action.type == "finish":
        return steps
    finish = Action(action=CUAAction("finish", {"status": "success"}), evidence="verifier")
    return (*steps, Step(observation=plain(final), actions=(finish,), thought=DONE))
