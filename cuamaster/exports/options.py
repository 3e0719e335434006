"""What may be chosen about a dataset, whatever trainer it is for; kept in its manifest, so that it can be made again."""

from __future__ import annotations

from pydantic import Field

from cuamaster.exports.splits import TEST_PERCENT
from cuamaster.records.primitive import Mode
from cuamaster.records.record import Record


class Options(Record):
    """Defaults give whole trajectories with all their screenshots."""

    history: int | None = Field(
        default=None,
        ge=1,
        description="one row a step that shows the newest so many screenshots; None: whole trajectories",
    )
    max_side: int | None = Field(default=None, ge=32, description="longer side of a screenshot in pixels, at most")
    thoughts: bool = Field(default=True, description="whether answers begin with the thought")
    test_percent: int = Field(
        default=TEST_PERCENT, ge=0, le=50, description="share of videos and templates kept for testing"
    )
    mode: Mode = Field(default="mixed", description="tools that prompts of tasks offer: gui | cli | mixed")
    min_k: int = Field(default=1, ge=1, description="tasks: primitives, at least")
    max_k: int | None = Field(default=None, ge=1, description="tasks: primitives, at most")
    min_n: int = Field(default=1, ge=1, description="tasks: applications, at least")
    max_n: int | None = Field(default=None, ge=1, description="tasks: applications, at most")
    base_policy: str = Field(
        default="", description="tasks: measure base success on attempts of policies whose name begins so; empty: all"
    )
    min_attempts: int = Field(
        default=4, ge=1, description="tasks: attempts after which one is always or never solved, and left out"
    )
    seeds: bool = Field(default=False, description="tasks: those mined from videos too")
