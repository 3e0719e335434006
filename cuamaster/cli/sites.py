"""`sites show | forget`: which video sites are left alone on this machine, until when and why."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from cuamaster.cli.options import AsJson, begin
from cuamaster.cli.output import print_rows
from cuamaster.errors import UnknownName

app = typer.Typer(help="Video sites and the pace at which they are asked.", no_args_is_help=True)


@app.command("show")
def sites_show(as_json: AsJson = False) -> None:
    """List the sites that were asked from this machine, and those that are left alone until their time has come."""
    from cuamaster import wiring

    states = wiring.sites(begin(None, verbose=False)).states()
    now = time.time()
    rows = [
        {"site": state.site, "left alone for": _span(state.until - now), "reason": state.reason, "refusals in a row": state.strikes}
        for state in states
    ]  # fmt: skip
    print_rows(rows, as_json=as_json, title="sites", none="no site was asked from this machine yet")


@app.command("forget")
def sites_forget(site: Annotated[str, typer.Argument(help="A name that `sites show` lists.")]) -> None:
    """Ask a site again at once, for instance through another proxy."""
    from cuamaster import wiring

    if not wiring.sites(begin(None, verbose=False)).forget(site):
        raise UnknownName(f"nothing is known of a site {site!r}", hint="cuamaster sites show lists them")


def _span(seconds: float) -> str:
    """`1:02:03`, or nothing for a time that has passed."""
    left = int(seconds)
    return f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}" if left > 0 else ""
