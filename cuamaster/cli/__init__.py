"""`cuamaster`: noun-verb commands; data on stdout, logs and progress on stderr, exit codes that scripts can use.

Exit codes: 0 done, 1 something failed (typed error on stderr), 2 wrong usage or input, 3 a fault that may pass (try again).
"""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from cuamaster import __version__
from cuamaster.cli import datasets, diagnosis, images, importing, primitives, rounds, seeding, sites, taxonomy, training
from cuamaster.errors import CuamasterError, InvalidInput, Transient, storage_fault

app = typer.Typer(
    help="A data flywheel for computer-use agents: narrated tutorials in, verified trajectories in Parquet out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for commands in (seeding, rounds, datasets, training, diagnosis):
    app.add_typer(commands.app)
app.add_typer(images.app, name="image")
app.add_typer(primitives.app, name="primitives")
app.add_typer(importing.app, name="import")
app.add_typer(taxonomy.app, name="taxonomy")
app.add_typer(sites.app, name="sites")


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


def _terminated(number: int, _frame: object) -> None:
    """Desktops are ended and leases given back on the way out, as after an error."""
    sys.exit(128 + number)


def main() -> None:
    """Entry point: typed errors become one line on stderr and an exit code."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        app()
    except CuamasterError as exc:
        print(f"cuamaster: {type(exc).__name__}: {exc}", file=sys.stderr)
        sys.exit(2 if isinstance(exc, InvalidInput) else 3 if isinstance(exc, Transient) else 1)
    except OSError as exc:  # the file system's word, from a corner that has no better one
        fault = storage_fault(exc, exc.filename or "the workspace or the temporary folder")
        print(f"cuamaster: {type(fault).__name__}: {fault}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("cuamaster: interrupted; run the same command again to go on", file=sys.stderr)
        sys.exit(130)
