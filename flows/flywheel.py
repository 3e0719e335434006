"""flywheel: one round of the wheel: plan -> seed -> propagate -> collect -> export -> profile."""

from __future__ import annotations

from prefect import flow

from cuamaster import stages, wiring
from flows.rounds import Overrides, open_wheel, show


@flow(name="flywheel", persist_result=False)
def flywheel(
    workspace: str | None = None,
    round: int | None = None,  # noqa: A002  what people type in the UI
    settings: Overrides | None = None,
    next: bool = False,  # noqa: A002
) -> None:
    """Run a round from wherever it stands to its end.

    workspace: folder (None: the worker's setting). round: None for the newest. settings: by name, over the worker's.
    next: begin the following round from its plan once the newest is finished; what the schedule passes.
    """
    wheel = open_wheel(workspace, settings)
    number = round or stages.round_to_run(wheel.workspace, advance=next)
    with wiring.desktop_ports(wheel.settings) as ports:
        stages.turn(wheel, number, wiring.seeding_ports(wheel.settings, wheel.taxonomy), ports)
    show(wheel, number)
