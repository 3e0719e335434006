"""Journal events back into episodes: pure; what was begun and never ended can be closed as infra or started again.

Events of one episode, in order: `begin`, then `boundary`, `intent` (before acting), `node` (after), `divergence`, `rollback`,
and at last `end` with the whole episode. An intent without its node means that the actions may or may not have happened.
`fork` begins another branch at a boundary; events with that `branch` belong to it, those without to branch 0. `kept` names the
branch whose path is the episode's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cuamaster.ports import Journal
from cuamaster.records.episode import Boundary, Episode, Node
from cuamaster.records.verdict import Divergence


@dataclass
class EpisodeLog:
    """One episode as journalled so far."""

    header: dict[str, Any]
    trees: dict[int, list[Node]] = field(default_factory=lambda: {0: []})
    """By branch, the nodes before it included."""
    kept: int = 0
    divergences: list[Divergence] = field(default_factory=list)
    rollbacks: int = 0
    intents: dict[int, dict[str, Any]] = field(default_factory=dict)
    """By branch, the intent whose outcome is unknown."""
    episode: Episode | None = None
    """The finished episode."""

    @property
    def id(self) -> str:
        """The episode's id."""
        return str(self.header["episode"])

    @property
    def nodes(self) -> list[Node]:
        """The whole tree; dropped is what does not lie on the kept branch."""
        return joined(self.trees, self.kept)

    @property
    def pending(self) -> dict[str, Any] | None:
        """An intent whose outcome is unknown, if there is one."""
        return next(iter(self.intents.values()), None)


def fold(events: Iterable[Mapping[str, Any]]) -> dict[str, EpisodeLog]:
    """Episodes by id, in order of their begin; a second begin of the same id starts it anew."""
    logs: dict[str, EpisodeLog] = {}
    for event in events:
        kind, episode = event["event"], event["episode"]
        if kind == "begin":
            logs.pop(episode, None)
            logs[episode] = EpisodeLog(header=dict(event))
        elif episode in logs:
            _apply(logs[episode], kind, event)
    return logs


def unfinished(journal: Journal) -> list[EpisodeLog]:
    """Episodes that were begun and never ended: their process died."""
    return [log for log in fold(journal.events()).values() if log.episode is None]


def finished(journal: Journal) -> list[Episode]:
    """Episodes with their end."""
    return [log.episode for log in fold(journal.events()).values() if log.episode is not None]


def as_infra(log: EpisodeLog, message: str) -> Episode:
    """The unfinished episode closed with outcome infra: kept for the record, never reward or training data."""
    return Episode(
        id=log.id,
        task_id=log.header["task"],
        policy=log.header["policy"],
        mode=log.header["mode"],
        outcome="infra",
        verdict=None,
        nodes=tuple(log.nodes),
        divergences=tuple(log.divergences),
        rollbacks=log.rollbacks,
        injected_faults=sum(node.injected for node in log.nodes),
        first_attempt_passed=False if log.divergences else None,
        message=message,
        image_digest=log.header.get("image_digest", ""),
    )


def _apply(log: EpisodeLog, kind: str, event: Mapping[str, Any]) -> None:
    branch = int(event.get("branch", 0))
    if kind == "fork":
        log.trees[branch] = list(log.trees[0])
        return
    nodes = log.trees.setdefault(branch, [])
    if kind == "intent":
        log.intents[branch] = dict(event)
    elif kind == "node":
        nodes.append(Node.model_validate(event["node"]))
        log.intents.pop(branch, None)
    elif kind == "boundary":
        boundary = Boundary.model_validate(event["boundary"])
        log.trees[branch] = [
            node.model_copy(update={"snapshot_after": boundary.label}) if node.index == boundary.node else node
            for node in nodes
        ]
    elif kind == "divergence":
        log.divergences.append(Divergence.model_validate(event["divergence"]))
    elif kind == "rollback":
        log.rollbacks += 1
        log.trees[branch] = drop_after(nodes, int(event["node"]))
    elif kind == "kept":
        log.kept = branch
    elif kind == "end":
        log.episode = Episode.model_validate(event["result"])


def drop_after(nodes: Iterable[Node], index: int) -> list[Node]:
    """The tree with every node after `index` on an abandoned branch."""
    return [
        node.model_copy(update={"dropped": True}) if node.index > index and not node.dropped else node for node in nodes
    ]


def joined(trees: Mapping[int, Sequence[Node]], kept: int) -> list[Node]:
    """One tree out of branches that have their first nodes in common: what the kept one has as it is there, the rest dropped."""
    found = {node.index: node.model_copy(update={"dropped": True}) for tree in trees.values() for node in tree}
    found.update((node.index, node) for node in trees[kept])
    return [found[index] for index in sorted(found)]
