"""Outcomes: every error that may end an episode is typed, and only the policy's own failures count against it."""

from __future__ import annotations

import pytest

from cuamaster import errors
from cuamaster.propagation.collection.outcomes import ENDINGS, outcome_of


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (errors.SetupFailed("x"), "setup"),
        (errors.StateDrift("x"), "drift"),
        (errors.CheckFailed("x"), "verifier"),
        (errors.GuestDied("x"), "infra"),
        (errors.GuestUnresponsive("x"), "infra"),
        (errors.BadFrame("x", reason="black"), "infra"),
        (errors.HostBusy("x"), "infra"),
        (errors.EndpointUnavailable("x"), "infra"),
        (errors.BudgetExceeded("x"), "infra"),
        (errors.ModelAnswerError("x"), "failed"),
        (errors.ModelRefusal("x"), "failed"),
        (errors.InvalidAction("x", field="y"), "failed"),
    ],
)
def test_each_ending_has_its_outcome(error: errors.CuamasterError, outcome: str) -> None:
    assert isinstance(error, ENDINGS)
    assert outcome_of(error) == (outcome, f"{type(error).__name__}: x")


@pytest.mark.parametrize("error", [errors.StoreFull("x"), errors.InvalidInput("x"), errors.IntegrityError("x")])
def test_mistakes_of_the_caller_and_full_disks_end_no_episode(error: errors.CuamasterError) -> None:
    assert not isinstance(error, ENDINGS)


def test_no_desktop_fault_is_ever_held_against_the_policy() -> None:
    for kind in errors.DesktopFault.__subclasses__():
        fault = kind("x", reason="size") if kind is errors.BadFrame else kind("x")
        assert outcome_of(fault)[0] not in ("passed", "failed")
