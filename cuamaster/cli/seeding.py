"""`seed`: tutorials -> trajectories, or with --dry-run only what would be searched."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from cuamaster.cli.options import AsJson, RoundNumber, Verbose, Workspace, begin
from cuamaster.cli.output import print_rows
from cuamaster.cli.wheels import opened
from cuamaster.settings import Settings

app = typer.Typer()


@app.command()
def seed(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            help="Folders, recordings, feeds or addresses of videos, accounts, playlists; none: what the settings say."
        ),
    ] = None,
    workspace: Workspace = None,
    round_number: RoundNumber = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Only show what would be searched; send no request.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Turn tutorials into trajectories: search, filter, transcribe, score, mine, reconstruct. Needs no desktop.

    With PLACES everything in them is taken, whatever it is about; without, what the round's plan looks for, or while there is
    none, everything in the folders of the settings and, on sites with a search, the applications with the fewest tasks. The
    trajectories are listed at the end. What cannot be used is dropped with its reason beside the rest; exit code 1 if no
    video was found at all, 3 if that is because every site wants to be left alone for now.
    """
    from cuamaster import stages, wiring
    from cuamaster.records.trajectory import Trajectory

    settings = begin(workspace, verbose)
    if dry:
        _show_searches(settings, tuple(places or ()), round_number, as_json)
        return
    with opened(settings) as (wheel, _):
        folder = wheel.workspace.round(round_number or stages.round_to_run(wheel.workspace, advance=False))
        ports = wiring.seeding_ports(settings, wheel.taxonomy, tuple(places or ()))
        queries = stages.everything(ports.sources) if places else stages.wanted(wheel, folder, ports.sources)
        stages.seed(wheel, folder, queries, ports)
        candidates, answered = folder.stage("search").count(), folder.stage("search").items()
        found = folder.stage("reconstruct").kept(Trajectory)
        lost = [item for name in folder.stages() for item in folder.stage(name).dropped()]
    rows = [
        {"trajectory": item.id, "app": item.app, "actions": sum(len(step.actions) for step in item.steps),
         "verifier": "yes" if item.verifier else "no", "instruction": item.instruction}
        for item in found
    ]  # fmt: skip
    print_rows(rows, as_json=as_json, title=f"{len(found)} trajectories in {folder.folder}")
    if lost and not as_json:
        print_rows([item.model_dump() for item in lost], as_json=False, title="dropped")
    if not candidates:
        raise typer.Exit(1 if answered else 3)


def _show_searches(settings: Settings, places: tuple[str, ...], number: int | None, as_json: bool) -> None:
    """What a round would search, without a request: with PLACES everything in them."""
    from cuamaster import stages, wiring

    for place in places:
        if "://" not in place and not Path(place).exists():
            print(f"no such folder, recording or feed: {place}; a round drops it", file=sys.stderr)
    with opened(settings, write=False) as (wheel, _):
        number = number or stages.round_to_run(wheel.workspace, advance=False)
        providers = tuple(dict.fromkeys(source.name for source in wiring.sources(settings, places)))
        plan = stages.searches(wheel, wheel.workspace.round(number), providers, everything=bool(places))
    totals = stages.totals(number, plan)
    if as_json:
        print(json.dumps({**totals, "queries": stages.dry_run(plan)}, ensure_ascii=False, indent=2))
        return
    print_rows(stages.dry_run(plan), as_json=False, title=f"Round {number} would search (nothing was sent)")
    print_rows([{"what": name, "number": str(value)} for name, value in totals.items()], as_json=False)
