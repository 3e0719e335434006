"""`image build`, `image list`: guest images from the recipes."""

from __future__ import annotations

from typing import Annotated

import typer

from cuamaster.cli.options import AsJson, Verbose, begin
from cuamaster.cli.output import print_rows

app = typer.Typer(help="Guest images: built once from a recipe, cached by its hash.", no_args_is_help=True)


@app.command("build")
def image_build(
    name: Annotated[str, typer.Argument(help="A name that `image list` shows.")] = "light-desktop",
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Build a guest image, unless the cache has it."""
    from cuamaster import wiring
    from cuamaster.progress import Bars

    settings = begin(None, verbose)
    with Bars() as bars, bars.long("image") as report:
        built = wiring.image_builder(settings).build(name, report)
    row = {
        "name": built.name,
        "digest": built.digest,
        "folder": str(built.folder),
        "capabilities": ", ".join(sorted(built.capabilities)),
    }
    print_rows([row], as_json=as_json)


@app.command("list")
def image_list(as_json: AsJson = False, verbose: Verbose = False) -> None:
    """Images there are recipes for, shipped and of your own, and whether each is built."""
    from cuamaster import wiring

    print_rows(wiring.image_list(begin(None, verbose)), as_json=as_json, title="images")
