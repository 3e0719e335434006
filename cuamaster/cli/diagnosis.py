"""`doctor`: what is there, what is missing, and what each lack disables."""

from __future__ import annotations

import typer

from cuamaster.cli.options import AsJson, Verbose, Workspace, begin
from cuamaster.cli.output import print_rows

app = typer.Typer()


@app.command()
def doctor(workspace: Workspace = None, as_json: AsJson = False, verbose: Verbose = False) -> None:
    """Say what is there, what is missing, and what each lack disables. Probes KVM by booting a kernel with it."""
    from cuamaster.doctor import examine

    findings = examine(begin(workspace, verbose))
    print_rows(
        [finding.model_dump(exclude=None if as_json else {"needed"}) for finding in findings],
        as_json=as_json,
        title="doctor",
    )
    if any(finding.status == "missing" and finding.needed for finding in findings):
        raise typer.Exit(1)
