"""What exports are made of: the data of a round, and one trajectory on its way to a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from cuamaster.records.episode import Episode
from cuamaster.records.primitive import Mode
from cuamaster.records.task import Certificate, Task
from cuamaster.records.trajectory import Lineage, Proof, Step, Trajectory


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
    source: Literal["collected", "video", "imported"]
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
