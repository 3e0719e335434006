"""collect-trajectories: certified tasks -> verified trajectories on desktops, with rollback."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from cuamaster import stages, wiring
from cuamaster.exports.rl import read_rl
from flows.rounds import Overrides, number_of, open_wheel, show


@flow(name="collect-trajectories", persist_result=False)
def collect_trajectories(
    workspace: str | None = None,
    round: int | None = None,  # noqa: A002  what people type in the UI
    settings: Overrides | None = None,
    tasks: str | None = None,
) -> None:
    """Run the policy on every certified task that has no episode yet.

    workspace: folder (None: the worker's setting). round: None for the newest. settings: by name, over the worker's.
    tasks: an exported rl.parquet to run instead of the round's own tasks.
    """
    wheel = open_wheel(workspace, settings)
    number = number_of(wheel, round)
    chosen = read_rl(Path(tasks)) if tasks else None
    with wiring.desktop_ports(wheel.settings) as ports:
        stages.collect(wheel, wheel.workspace.round(number), ports, chosen)
    show(wheel, number)
