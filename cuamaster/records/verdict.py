"""Verdicts of verifiers, outcomes of episodes, and feedback after a divergence."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cuamaster.records.condition import Condition
from cuamaster.records.record import Record

VerdictStatus = Literal["passed", "failed", "errored"]
Outcome = Literal["passed", "failed", "infra", "setup", "verifier", "drift"]
"""Only passed and failed say anything about the policy; the others never become reward or training data."""


class Check(Record):
    """One leaf condition as found: holds, does not, or could not be evaluated; `observed` says what was seen."""

    condition: Condition
    holds: bool | None
    observed: str = ""


class Verdict(Record):
    """The result of a verifier run."""

    status: VerdictStatus
    checks: tuple[Check, ...] = ()
    message: str = ""


class Divergence(Record):
    """The earliest step that left the task's path, with feedback from observed facts only."""

    step: int = Field(ge=0, description="index of the first wrong step in the current path")
    snapshot: str = Field(description="label of the nearest stable snapshot before it")
    feedback: str
    detector: str
