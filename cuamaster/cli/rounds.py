"""`flywheel run`, `propagate`, `collect`, `show`: a round, whole or in parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cuamaster.cli.options import AsJson, RoundNumber, Verbose, Workspace, begin
from cuamaster.cli.wheels import opened, show_round

app = typer.Typer()
flywheel_app = typer.Typer(help="Whole rounds of the wheel.", no_args_is_help=True)
app.add_typer(flywheel_app, name="flywheel")


@flywheel_app.command("run")
def flywheel_run(
    workspace: Workspace = None,
    advance: Annotated[bool, typer.Option("--next", help="Start the next round from its plan.json.")] = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Finish the newest round, or show its table; with --next start the one after it.

    Search, filter, transcribe, mine, reconstruct, extract, compose, certify, collect, export, profile. Everything that is
    done already is skipped, so the same command resumes after any interruption.
    """
    from cuamaster import stages, wiring

    settings = begin(workspace, verbose)
    with opened(settings) as (wheel, bars), bars.long("image") as report:
        number = stages.round_to_run(wheel.workspace, advance=advance)
        with wiring.desktop_ports(settings, report) as desktops:
            stages.turn(wheel, number, wiring.seeding_ports(settings, wheel.taxonomy), desktops)
    show_round(wheel, number, as_json)


@app.command()
def propagate(
    workspace: Workspace = None, round_number: RoundNumber = None, as_json: AsJson = False, verbose: Verbose = False
) -> None:
    """Extract primitives from trajectories, prove them on the desktop, compose tasks and certify them."""
    from cuamaster import stages, wiring

    settings = begin(workspace, verbose)
    with opened(settings) as (wheel, bars), bars.long("image") as report:
        number = round_number or stages.round_to_run(wheel.workspace, advance=False)
        with wiring.desktop_ports(settings, report) as desktops:
            folder = wheel.workspace.round(number)
            stages.propagate(wheel, folder, stages.begin(wheel, folder, desktops), desktops)
    show_round(wheel, number, as_json)


@app.command()
def collect(
    tasks: Annotated[
        Path | None, typer.Option("--tasks", help="An exported rl.parquet to run instead of the round's tasks.")
    ] = None,
    imported: Annotated[
        bool, typer.Option("--imported", help="Run the tasks imported into the round instead of its own.")
    ] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Run only so many tasks.")] = None,
    workspace: Workspace = None,
    round_number: RoundNumber = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Run the policy on tasks: snapshot at stable boundaries, roll back on divergence, keep what the verifier passes."""
    from cuamaster import stages, wiring
    from cuamaster.exports.rl import read_rl

    settings = begin(workspace, verbose)
    given = read_rl(tasks) if tasks else None  # before a guest image is built for it
    with opened(settings) as (wheel, bars), bars.long("image") as report:
        number = round_number or stages.round_to_run(wheel.workspace, advance=False)
        with wiring.desktop_ports(settings, report) as desktops:
            folder = wheel.workspace.round(number)
            own = stages.imported_tasks(folder) if imported else stages.tasks_to_collect(folder)
            chosen = own if given is None else given
            stages.collect(wheel, folder, desktops, chosen[:limit])
    show_round(wheel, number, as_json)


@app.command()
def show(
    record: Annotated[
        str | None, typer.Argument(help="Id of any record, or none for the newest round's table.")
    ] = None,
    workspace: Workspace = None,
    round_number: RoundNumber = None,
    as_json: AsJson = False,
) -> None:
    """Show a round's table, or any record by its id."""
    from cuamaster import stages
    from cuamaster.catalog import Catalog

    settings = begin(workspace, verbose=False)
    with opened(settings, write=False) as (wheel, _):
        if record is None:
            number = round_number or stages.round_to_run(wheel.workspace, advance=False)
        else:
            with Catalog(wheel.workspace) as catalog:
                stage, row = catalog.find(record)
    if record is None:
        show_round(wheel, number, as_json)
    else:
        print(json.dumps({"stage": stage, **row}, ensure_ascii=False, indent=2, default=str))
