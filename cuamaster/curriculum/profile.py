"""First-attempt success by domain, application, ability, K, N and failure kind, without what injected or infrastructure faults did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from cuamaster.errors import UnknownName
from cuamaster.records.episode import Episode, Node
from cuamaster.records.profile import Dimension, ProfileRow
from cuamaster.records.task import Task

First = Literal["passed", "failed", "injected", "infra"]
_ORDER: tuple[Dimension, ...] = ("domain", "app", "ability", "k", "n", "failure")


def profile(tasks: Iterable[Task], episodes: Iterable[Episode]) -> list[ProfileRow]:
    """Rows sorted by policy, dimension and value; raises UnknownName for an episode whose task is not given."""
    by_id = {task.id: task for task in tasks}
    counts: dict[tuple[str, Dimension, str], Counter[First]] = {}
    for episode in episodes:
        task = by_id.get(episode.task_id)
        if task is None:
            raise UnknownName(f"episode {episode.id} is of task {episode.task_id!r}, which is not among the tasks")
        for dimension, value, first in _slices(task, episode):
            counts.setdefault((episode.policy, dimension, value), Counter())[first] += 1
    rows = [
        ProfileRow(
            policy=policy, by=dimension, value=value, attempts=c["passed"] + c["failed"], passed=c["passed"], injected=c["injected"], infra=c["infra"]
        )
        for (policy, dimension, value), c in counts.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row.policy, _ORDER.index(row.by), row.value))


def first_attempt(episode: Episode) -> First:
    """What the first attempt says of the policy, or why it says nothing."""
    if episode.outcome not in ("passed", "failed"):
        return "infra"
    passed = episode.first_attempt_passed
    if passed is None:
        passed = episode.outcome == "passed" and not episode.rollbacks
    if passed:
        return "passed"
    return "failed" if any(not attempt.injected for attempt in _failed_attempts(episode)) else "injected"


def failure_kind(episode: Episode) -> str:
    """What was wrong, as a slug: the kind of the first condition found false, else the detector that saw the divergence."""
    if episode.verdict is not None and episode.verdict.status == "failed":
        for check in episode.verdict.checks:
            if check.holds is False:
                return check.condition.kind
    return f"diverged-{episode.divergences[0].detector}" if episode.divergences else "unfinished"


@dataclass(frozen=True)
class _Attempt:
    """One branch that did not succeed: whether a fault was injected in it, and the plan use it broke off in."""

    injected: bool
    use: int | None


def _failed_attempts(episode: Episode) -> list[_Attempt]:
    """Abandoned branches in the order they were begun, then the kept path if the episode failed."""
    nodes = {node.index: node for node in episode.nodes}
    branches: dict[int, list[Node]] = {}
    unjudged = episode.unjudged()
    for node in sorted(episode.nodes, key=lambda node: node.index):
        if node.dropped and node.index not in unjudged:
            branches.setdefault(_root(node, nodes), []).append(node)
    found = [_attempt(branch) for _, branch in sorted(branches.items())]
    if episode.outcome == "failed":
        found.append(_attempt(episode.path()))
    return found


def _root(node: Node, nodes: Mapping[int, Node]) -> int:
    while node.parent in nodes and nodes[node.parent].dropped:
        node = nodes[node.parent]
    return node.index


def _attempt(nodes: Iterable[Node]) -> _Attempt:
    steps = list(nodes)
    uses = [node.use for node in steps if node.use is not None]
    return _Attempt(
        injected=any(node.injected for node in steps), use=uses[0 if steps[0].dropped else -1] if uses else None
    )


def _slices(task: Task, episode: Episode) -> Iterator[tuple[Dimension, str, First]]:
    first = first_attempt(episode)
    yield "domain", task.domain or "unknown", first
    yield "k", str(task.k), first
    yield "n", str(task.n), first
    for app, result in _by_app(task, episode, first).items():
        yield "app", app, result
    for ability, result in _by_ability(task, episode, first).items():
        yield "ability", ability, result
    if first == "failed":
        yield "failure", failure_kind(episode), first


def _by_app(task: Task, episode: Episode, first: First) -> dict[str, First]:
    """A failure counts against the application it happened in; those before it passed, those after it were not tried."""
    broke = _broke_in(task, episode) if first == "failed" else None
    if broke is None:
        return dict.fromkeys(task.apps, first)
    done: dict[str, First] = {use.primitive.app: "passed" for use in task.plan[:broke]}
    return {**done, task.plan[broke].primitive.app: "failed"}


def _by_ability(task: Task, episode: Episode, first: First) -> dict[str, First]:
    """As by application; a failure in no known place says nothing of any one ability."""
    names = [f"{use.primitive.app}.{use.primitive.ability}" for use in task.plan]
    if first != "failed":
        return dict.fromkeys(names, first)
    broke = _broke_in(task, episode)
    if broke is None:
        return {}
    done: dict[str, First] = dict.fromkeys(names[:broke], "passed")
    return {**done, names[broke]: "failed"}


def _broke_in(task: Task, episode: Episode) -> int | None:
    """The use of the plan in which the first genuine failure happened, if that is known."""
    genuine = next(attempt for attempt in _failed_attempts(episode) if not attempt.injected)
    return genuine.use if genuine.use is not None and genuine.use < task.k else None
