"""Journal events back into episodes: pure; what was begun and never ended can be closed as infra or started again.

Events of one episode, in order: `begin`, then `boundary`, `intent` (before acting), `node` (after), `divergence`, `rollback`,
and at last `end` with the whole episode. An intent without its node means that the actions may or may not have happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cuamaster.ports import Journal
from cuamaster.records.episode import Boundary, Episode, Node
from cuamaster.records.verdict import Divergence


@dataclass
class EpisodeLog:
    """One episode as journalled so far."""

    header: dict[str, Any]
    nodes: list[Node] = field(default_factory=list)
    boundaries: list[Boundary] = field(default_factory=list)
    divergences: list[Divergence] = field(default_factory=list)
    rollbacks: int = 0
    pending: dict[str, Any] | None = None
    """The intent whose outcome is unknown."""
    episode: Episode | None = None
    """The finished episode."""

    @property
    def id(self) -> str:
        """The episode's id."""
        return str(self.header["episode"])


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


def resume_point(log: EpisodeLog) -> Boundary | None:
    """The newest boundary on the kept path, from which the episode could go on if its desktop still lives."""
    return log.boundaries[-1] if log.boundaries else None


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
    if kind == "intent":
        log.pending = dict(event)
    elif kind == "node":
        log.nodes.append(Node.model_validate(event["node"]))
        log.pending = None
    elif kind == "boundary":
        boundary = Boundary.model_validate(event["boundary"])
        log.boundaries.append(boundary)
        log.nodes = [
            node.model_copy(update={"snapshot_after": boundary.label}) if node.index == boundary.node else node
            for node in log.nodes
        ]
    elif kind == "divergence":
        log.divergences.append(Divergence.model_validate(event["divergence"]))
    elif kind == "rollback":
        log.rollbacks += 1
        labels = [boundary.label for boundary in log.boundaries]
        if event["label"] in labels:
            del log.boundaries[labels.index(event["label"]) + 1 :]
        log.nodes = drop_after(log.nodes, int(event["node"]))
    elif kind == "end":
        log.episode = Episode.model_validate(event["result"])


def drop_after(nodes: Iterable[Node], index: int) -> list[Node]:
    """The tree with every node after `index` on an abandoned branch."""
    return [
        node.model_copy(update={"dropped": True}) if node.index > index and not node.dropped else node for node in nodes
    ]
