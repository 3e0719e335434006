"""`primitives verify`: the curated library, run on the desktop."""

from __future__ import annotations

from typing import Annotated

import typer

from cuamaster.cli.options import AsJson, Verbose, Workspace, begin
from cuamaster.cli.output import print_rows
from cuamaster.cli.wheels import opened

app = typer.Typer(help="The library of primitives.", no_args_is_help=True)


@app.command("verify")
def primitives_verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="`app` or `app.ability`; none: all that the image can run.")
    ] = None,
    record: Annotated[bool, typer.Option("--record", help="Write what was seen as evidence into primitives/.")] = False,
    image: Annotated[str | None, typer.Option("--image", help="Guest image to run on (default: the setting).")] = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Run every procedure on the desktop: its effect must be false before and true after. Exit code 1 if one is not."""
    from cuamaster import stages, wiring

    settings = begin(workspace, verbose, image=image)
    with (
        opened(settings) as (wheel, bars),
        bars.long("image") as report,
        wiring.desktop_ports(settings, report) as ports,
    ):
        rows = stages.verify_library(wheel, ports, tuple(names or ()), record=record)
    print_rows(rows, as_json=as_json, title="primitives")
    if any(row["status"] != "passed" for row in rows):
        raise typer.Exit(1)
