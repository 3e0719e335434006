"""Preference pairs out of attempt trees: one step done right and the same step done wrong, from the same attested snapshot."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from cuamaster.exports.lineage import completed, sources_of
from cuamaster.exports.paths import on_vm, steps_of_nodes, task_of_episode
from cuamaster.exports.sample import RoundData
from cuamaster.exports.samples import MAX_INSTRUCTION, MAX_STEPS, hint_in
from cuamaster.records.episode import Dropped, Episode, Node
from cuamaster.records.record import canonical_json
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Lineage, Step
from cuamaster.tables import Shelf


@dataclass(frozen=True)
class Pair:
    """After `before`, `chosen` led to where the verifier passed and `rejected` to where it failed; both saw the same screen."""

    id: str
    round: int
    task: Task
    episode: Episode
    before: tuple[Step, ...]
    chosen: Step
    rejected: Step
    lineage: tuple[Lineage, ...]


def pairs(rounds: Iterable[RoundData]) -> Iterator[Pair | Dropped]:
    """All pairs of the verified episodes, in the order of the rounds, and the branches that give none, with the reason."""
    sources: dict[str, Lineage] = {}
    with Shelf(Task) as tasks:
        for data in rounds:
            sources.update(sources_of(data.trajectories))
            for task in data.tasks:
                tasks.put(task.id, task)
            for episode in data.episodes:
                if episode.outcome != "passed" or episode.verdict is None or episode.verdict.status != "passed":
                    continue
                if on_vm(episode) and any(node.dropped for node in episode.nodes):
                    task = task_of_episode(episode, tasks, data.round)
                    yield from _of_tree(episode, task, data.round, completed(task.lineage, sources))


def _of_tree(episode: Episode, task: Task, round_number: int, lineage: tuple[Lineage, ...]) -> Iterator[Pair | Dropped]:
    children: dict[int, list[Node]] = {}
    for node in episode.nodes:
        children.setdefault(node.parent, []).append(node)
    path = episode.path()
    spared = episode.unjudged()
    seen: set[tuple[int, str]] = set()
    for place, kept in enumerate(path):
        for branch in children.get(kept.parent, ()):
            if not branch.dropped:
                continue
            if branch.index in spared:
                yield Dropped(item_id=f"{episode.id}/{branch.index}", stage="export", reason="not-failed")
                continue
            problem = ""
            if path[place].parent >= 0 and not _node(episode, kept.parent).snapshot_after:
                problem = "no-snapshot"
            if any(node.injected for node in (*path, *_subtree(branch, children))):
                problem = "injected-fault"
            if len(path) > MAX_STEPS or len(task.instruction) > MAX_INSTRUCTION:
                problem = "too-long"
            for wrong, found in _parted(path[place:], branch, children, spared):
                name = f"{episode.id}/{wrong.index}"
                if problem or isinstance(found, str):
                    yield Dropped(item_id=name, stage="export", reason=problem or str(found))
                    continue
                steps, right = steps_of_nodes(path[: place + found + 1], task), path[place + found]
                if (right.index, _deed(wrong)) in seen:  # a policy may err in one way again and again
                    yield Dropped(item_id=name, stage="export", reason="seen-before")
                    continue
                seen.add((right.index, _deed(wrong)))
                if (
                    not steps
                    or not right.actions
                    or steps[-1].actions[0] != right.actions[0]
                    or not _of_node(steps[-1], right)
                ):
                    yield Dropped(item_id=name, stage="export", reason="nothing-carried-out")
                    continue
                rejected = steps[-1].model_copy(update={"actions": wrong.actions, "thought": wrong.thought})
                pair = Pair(name, round_number, task, episode, steps[:-1], steps[-1], rejected, lineage)
                told = hint_in([*steps, rejected], [item.feedback for item in episode.divergences])
                yield Dropped(item_id=name, stage="export", reason="hint-in-row", detail=told) if told else pair


def _parted(
    path: Sequence[Node], branch: Node, children: dict[int, list[Node]], spared: Collection[int]
) -> Iterator[tuple[Node, int | str]]:
    """Each dropped step that first does something else than the kept path, and how far along that is, or why it cannot be said.

    `spared`: dropped nodes that nothing says were wrong.

    Both begin on the restored snapshot, whose state was compared; further on, equal steps with an equal picture and answer show
    an equal state.
    """
    waiting = [(0, branch)]
    while waiting:
        depth, wrong = waiting.pop()
        right = path[depth]
        later = [node for node in children.get(wrong.index, ()) if node.dropped and node.index not in spared]
        if depth and _seen(right) != _seen(wrong):
            yield wrong, "screens-differ"
        elif _deed(right) != _deed(wrong):
            yield wrong, depth
        elif not later or depth + 1 == len(path):
            yield wrong, "same-actions"
        else:  # a boundary within the abandoned branch may have been returned to as well
            waiting += [(depth + 1, node) for node in reversed(later)]


def _of_node(step: Step, node: Node) -> bool:
    return step.observation.screenshot == node.observation.screenshot


def _seen(node: Node) -> tuple[str, str]:
    return node.observation.screenshot, node.observation.response


def _deed(node: Node) -> str:
    return canonical_json([item.action.to_dict() for item in node.actions])


def _node(episode: Episode, index: int) -> Node:
    return next(node for node in episode.nodes if node.index == index)


def _subtree(node: Node, children: dict[int, list[Node]]) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += children.get(found.index, ())
