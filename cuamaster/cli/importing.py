"""`import agentnet | osworld | cua-lite`: other people's datasets into a round."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuamaster.cli.options import AsJson, RoundNumber, Verbose, Workspace, begin, settings_of
from cuamaster.cli.output import print_rows
from cuamaster.cli.wheels import opened

if TYPE_CHECKING:
    from cuamaster.stages import Imported


app = typer.Typer(
    help="Other people's datasets as trajectories and tasks; what has no counterpart is listed with its reason.",
    no_args_is_help=True,
)


Images = Annotated[Path | None, typer.Option("--images", help="Folder of the pictures (default: beside the file).")]
License = Annotated[str | None, typer.Option("--license", help="Licence of the dataset, kept with every record.")]


@app.command("agentnet")
def import_agentnet(
    path: Annotated[Path, typer.Argument(help="A JSONL file of AgentNet.")],
    images: Images = None,
    license_name: License = None,
    workspace: Workspace = None,
    round_number: RoundNumber = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Trajectories of AgentNet (OpenCUA): JSON lines, pictures in a folder. Exit code 1 if nothing could be kept."""
    from cuamaster import stages

    with _importing(workspace, round_number, verbose) as (folder, store):
        done = stages.import_agentnet(folder, path, store, images=images, license_name=license_name)
    _show_import(done, as_json)


@app.command("osworld")
def import_osworld(
    paths: Annotated[list[Path], typer.Argument(help="Task files, result folders, or folders of them.")],
    files: Annotated[
        Path | None,
        typer.Option("--files", help="What the tasks download: OSWorld's cache, or a mirror made by `wget -x`."),
    ] = None,
    image: Annotated[
        str | None, typer.Option("--image", help="Guest image the tasks are to run on (default: the setting).")
    ] = None,
    workspace: Workspace = None,
    round_number: RoundNumber = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Tasks of OSWorld with setup and verifier, and trajectories of its result folders. Exit code 1 if nothing could be kept."""
    from cuamaster import stages

    with _importing(workspace, round_number, verbose) as (folder, store):
        chosen = image or settings_of(workspace).image
        done = stages.import_osworld(folder, paths, store, image=chosen, files=files)
    _show_import(done, as_json)


@app.command("cua-lite")
def import_cua_lite(
    path: Annotated[Path, typer.Argument(help="A Parquet file of cua-lite, or a folder of them.")],
    images: Images = None,
    license_name: License = None,
    workspace: Workspace = None,
    round_number: RoundNumber = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Trajectories of cua-lite's Parquet datasets. Exit code 1 if nothing could be kept."""
    from cuamaster import stages

    with _importing(workspace, round_number, verbose) as (folder, store):
        done = stages.import_cua_lite(folder, path, store, images=images, license_name=license_name)
    _show_import(done, as_json)


@contextmanager
def _importing(workspace: Path | None, number: int | None, verbose: bool) -> Iterator[tuple[Any, Any]]:
    """The round to import into, and the store for its pictures."""
    from cuamaster import stages, wiring

    settings = begin(workspace, verbose)
    with opened(settings) as (wheel, _):
        chosen = number or stages.round_to_run(wheel.workspace, advance=False)
        yield wheel.workspace.round(chosen), wiring.store(settings)


def _show_import(done: Imported, as_json: bool) -> None:
    if as_json:
        print(done.model_dump_json(indent=2))
    else:
        print_rows([done.model_dump(exclude={"reasons"})], as_json=False, title="imported")
        addresses = [name for _, name, _ in done.reasons if "://" in name]
        rows = [
            {"records": n, "reason": reason, "name": name} for reason, name, n in done.reasons if name not in addresses
        ]
        if addresses:
            rows.append(
                {"records": "", "reason": "missing-file", "name": f"{len(addresses)} addresses, listed by --json"}
            )
        print_rows(rows, as_json=False, title="could not be mapped")
    if not done.tasks + done.trajectories + done.already:
        raise typer.Exit(1)
