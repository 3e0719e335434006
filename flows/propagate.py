"""propagate: extract primitives -> prove them on a desktop -> compose tasks -> certify them on a desktop."""

from __future__ import annotations

from prefect import flow

from cuamaster import stages, wiring
from flows.rounds import Overrides, number_of, open_wheel, show


@flow(name="propagate", persist_result=False)
def propagate(
    workspace: str | None = None,
    round: int | None = None,  # noqa: A002  what people type in the UI
    settings: Overrides | None = None,
) -> None:
    """Turn trajectories into certified tasks.

    workspace: folder (None: the worker's setting). round: None for the newest. settings: by name, over the worker's.
    """
    wheel = open_wheel(workspace, settings)
    number = number_of(wheel, round)
    folder = wheel.workspace.round(number)
    with wiring.desktop_ports(wheel.settings) as ports:
        stages.propagate(wheel, folder, stages.begin(wheel, folder, ports), ports)
    show(wheel, number)
