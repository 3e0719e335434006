"""What an error means for an episode: only a policy's own failure is `failed`; machinery is never held against it."""

from __future__ import annotations

from cuamaster.errors import (
    BudgetExceeded,
    CheckFailed,
    CuamasterError,
    DesktopFault,
    EndpointUnavailable,
    InvalidAction,
    MissingCapability,
    ModelAnswerError,
    ModelRefusal,
    SetupFailed,
    StateDrift,
)
from cuamaster.records.verdict import Outcome

_OUTCOMES: tuple[tuple[type[CuamasterError], Outcome], ...] = (
    (SetupFailed, "setup"),
    (MissingCapability, "setup"),
    (StateDrift, "drift"),
    (CheckFailed, "verifier"),
    (DesktopFault, "infra"),
    (EndpointUnavailable, "infra"),
    (BudgetExceeded, "infra"),
    (ModelAnswerError, "failed"),
    (ModelRefusal, "failed"),
    (InvalidAction, "failed"),
)
"""The first class that fits decides, so subclasses stand before their parents."""
ENDINGS = tuple(error for error, _ in _OUTCOMES)
"""Errors that end an episode; any other is the caller's business."""


def outcome_of(error: CuamasterError) -> tuple[Outcome, str]:
    """The outcome of an episode that one of ENDINGS ended, and a message with the error's name."""
    outcome = next(outcome for kind, outcome in _OUTCOMES if isinstance(error, kind))
    return outcome, f"{type(error).__name__}: {error}"
