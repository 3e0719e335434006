"""seed-videos: search -> filter -> fetch -> transcribe -> score -> mine -> reconstruct. Needs no desktop."""

from __future__ import annotations

from prefect import flow

from cuamaster import stages, wiring
from flows.rounds import Overrides, number_of, open_wheel, show


@flow(name="seed-videos", persist_result=False)
def seed_videos(
    workspace: str | None = None,
    round: int | None = None,  # noqa: A002  what people type in the UI
    settings: Overrides | None = None,
    places: list[str] | None = None,
) -> None:
    """Turn tutorials into trajectories.

    workspace: folder (None: the worker's setting). round: None for the newest. settings: by name, over the worker's.
    places: folders, recordings or feeds to take whole, instead of what the round's plan looks for.
    """
    wheel = open_wheel(workspace, settings)
    number = number_of(wheel, round)
    folder = wheel.workspace.round(number)
    ports = wiring.seeding_ports(wheel.settings, wheel.taxonomy, places or ())
    queries = stages.everything(ports.sources) if places else stages.wanted(wheel, folder, ports.sources)
    stages.seed(wheel, folder, queries, ports)
    show(wheel, number)
