"""export-datasets: all rounds' verified trajectories and certified tasks -> sft, unproven and rl Parquet with a card."""

from __future__ import annotations

from prefect import flow

from cuamaster import stages, wiring
from flows.rounds import Overrides, number_of, open_wheel, show


@flow(name="export-datasets", persist_result=False)
def export_datasets(
    workspace: str | None = None,
    round: int | None = None,  # noqa: A002  what people type in the UI
    settings: Overrides | None = None,
) -> None:
    """Write and check the datasets under <workspace>/exports.

    workspace: folder (None: the worker's setting). round: whose table is shown (None: the newest). settings: by name, over the worker's.
    """
    wheel = open_wheel(workspace, settings)
    stages.export(wheel.workspace, wiring.store(wheel.settings), wheel.settings)
    show(wheel, number_of(wheel, round))
