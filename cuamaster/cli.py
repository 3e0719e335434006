"""`cuamaster`: noun-verb commands; data on stdout, logs and progress on stderr, exit codes that scripts can use.

Exit codes: 0 done, 1 something failed (typed error on stderr), 2 wrong usage or input, 3 a fault that may pass (try again).
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError
from pydantic_settings import SettingsError

from cuamaster import __version__
from cuamaster.errors import CuamasterError, InvalidInput, Transient, storage_fault
from cuamaster.settings import Settings

if TYPE_CHECKING:
    from cuamaster.progress import Bars
    from cuamaster.stages import Wheel

app = typer.Typer(
    help="A data flywheel for computer-use agents: narrated tutorials in, verified trajectories in Parquet out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
image_app = typer.Typer(help="Guest images: built once from a recipe, cached by its hash.", no_args_is_help=True)
flywheel_app = typer.Typer(help="Whole rounds of the wheel.", no_args_is_help=True)
primitives_app = typer.Typer(help="The library of primitives.", no_args_is_help=True)
taxonomy_app = typer.Typer(help="Domains, applications and search words.", no_args_is_help=True)
app.add_typer(image_app, name="image")
app.add_typer(flywheel_app, name="flywheel")
app.add_typer(primitives_app, name="primitives")
app.add_typer(taxonomy_app, name="taxonomy")


class Level(StrEnum):
    """What a line of the coverage report is about."""

    domain = "domain"
    subdomain = "subdomain"
    app = "app"


Workspace = Annotated[Path | None, typer.Option("--workspace", "-w", help="Where a run writes (default ./workspace).")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable output on stdout.")]
RoundNumber = Annotated[int | None, typer.Option("--round", min=1, help="Round to work in (default: the newest).")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Tell more on stderr.")]


def _settings(workspace: Path | None, **given: Any) -> Settings:
    wanted = {name: value for name, value in given.items() if value is not None}
    if workspace is not None:
        wanted["workspace"] = workspace
    try:
        return Settings(**wanted)
    except ValidationError as exc:
        first = exc.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(
            f"setting {name}: {first['msg'].removeprefix('Value error, ')}",
            hint=f"environment variable CUAMASTER_{name.upper()}",
        ) from exc
    except SettingsError as exc:  # a list in an environment variable that is no JSON
        raise InvalidInput(str(exc), hint="lists are written as JSON: CUAMASTER_VIDEOS='[\"folder\"]'") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"cuamaster.toml: {exc}") from exc


@contextmanager
def _wheel(settings: Settings, *, write: bool = True) -> Iterator[tuple[Wheel, Bars]]:
    from cuamaster.progress import Bars
    from cuamaster.stages import open_wheel

    with Bars() as bars:
        wheel = open_wheel(settings, bars.each)
        if write:
            wheel.workspace.make()
        yield wheel, bars


def _print(rows: list[dict[str, Any]], *, as_json: bool, title: str = "") -> None:
    if as_json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left")
    for name in rows[0] if rows else ():
        table.add_column(name, justify="right" if isinstance(rows[0][name], int) else "left", overflow="fold")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console().print(table)


def _show_round(wheel: Wheel, number: int, as_json: bool) -> None:
    from cuamaster.stages.summary import summarize

    rows = [row.model_dump() for row in summarize(wheel.workspace, number)]
    _print(rows, as_json=as_json, title=f"Round {number} in {wheel.workspace.root}")


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

    settings = _begin(workspace, verbose)
    with _wheel(settings) as (wheel, bars), bars.long("image") as report:
        number = stages.round_to_run(wheel.workspace, advance=advance)
        with wiring.desktop_ports(settings, report) as desktops:
            stages.turn(wheel, number, wiring.seeding_ports(settings, wheel.taxonomy), desktops)
    _show_round(wheel, number, as_json)


@app.command()
def seed(
    places: Annotated[
        list[str] | None, typer.Argument(help="Folders, recordings or feeds; none: what the settings say.")
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
    video was found at all.
    """
    from cuamaster import stages, wiring
    from cuamaster.records.trajectory import Trajectory

    settings = _begin(workspace, verbose)
    if dry:
        _show_searches(settings, tuple(places or ()), round_number, as_json)
        return
    with _wheel(settings) as (wheel, _):
        folder = wheel.workspace.round(round_number or stages.round_to_run(wheel.workspace, advance=False))
        ports = wiring.seeding_ports(settings, wheel.taxonomy, tuple(places or ()))
        queries = stages.everything(ports.sources) if places else stages.wanted(wheel, folder, ports.sources)
        stages.seed(wheel, folder, queries, ports)
        candidates = folder.stage("search").count()
        found = folder.stage("reconstruct").kept(Trajectory)
        lost = [item for name in folder.stages() for item in folder.stage(name).dropped()]
    rows = [
        {"trajectory": item.id, "app": item.app, "actions": sum(len(step.actions) for step in item.steps),
         "verifier": "yes" if item.verifier else "no", "instruction": item.instruction}
        for item in found
    ]  # fmt: skip
    _print(rows, as_json=as_json, title=f"{len(found)} trajectories in {folder.folder}")
    if lost and not as_json:
        _print([item.model_dump() for item in lost], as_json=False, title="dropped")
    if not candidates:
        raise typer.Exit(1)


def _show_searches(settings: Settings, places: tuple[str, ...], number: int | None, as_json: bool) -> None:
    """What a round would search, without a request: with PLACES everything in them."""
    from cuamaster import stages, wiring

    with _wheel(settings, write=False) as (wheel, _):
        number = number or stages.round_to_run(wheel.workspace, advance=False)
        providers = tuple(dict.fromkeys(source.name for source in wiring.sources(settings, places)))
        plan = stages.searches(wheel, wheel.workspace.round(number), providers, everything=bool(places))
    totals = stages.totals(number, plan)
    if as_json:
        print(json.dumps({**totals, "queries": stages.dry_run(plan)}, ensure_ascii=False, indent=2))
        return
    _print(stages.dry_run(plan), as_json=False, title=f"Round {number} would search (nothing was sent)")
    _print([{"what": name, "number": str(value)} for name, value in totals.items()], as_json=False)


@app.command()
def propagate(
    workspace: Workspace = None, round_number: RoundNumber = None, as_json: AsJson = False, verbose: Verbose = False
) -> None:
    """Extract primitives from trajectories, prove them on the desktop, compose tasks and certify them."""
    from cuamaster import stages, wiring

    settings = _begin(workspace, verbose)
    with _wheel(settings) as (wheel, bars), bars.long("image") as report:
        number = round_number or stages.round_to_run(wheel.workspace, advance=False)
        with wiring.desktop_ports(settings, report) as desktops:
            folder = wheel.workspace.round(number)
            stages.propagate(wheel, folder, stages.begin(wheel, folder, desktops), desktops)
    _show_round(wheel, number, as_json)


@app.command()
def collect(
    tasks: Annotated[
        Path | None, typer.Option("--tasks", help="An exported rl.parquet to run instead of the round's tasks.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Run only so many tasks.")] = None,
    workspace: Workspace = None,
    round_number: RoundNumber = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Run the policy on tasks: snapshot at stable boundaries, roll back on divergence, keep what the verifier passes."""
    from cuamaster import stages, wiring
    from cuamaster.exports.rl import read_rl

    settings = _begin(workspace, verbose)
    given = read_rl(tasks) if tasks else None  # before a guest image is built for it
    with _wheel(settings) as (wheel, bars), bars.long("image") as report:
        number = round_number or stages.round_to_run(wheel.workspace, advance=False)
        with wiring.desktop_ports(settings, report) as desktops:
            folder = wheel.workspace.round(number)
            chosen = stages.tasks_to_collect(folder) if given is None else given
            stages.collect(wheel, folder, desktops, chosen[:limit])
    _show_round(wheel, number, as_json)


@app.command()
def export(workspace: Workspace = None, as_json: AsJson = False, verbose: Verbose = False) -> None:
    """Write sft.parquet, unproven.parquet, rl.parquet and their card from all rounds, checked before release."""
    from cuamaster import stages, wiring

    settings = _begin(workspace, verbose)
    with _wheel(settings) as (wheel, _):
        files = stages.export(wheel.workspace, wiring.store(settings), settings)
    _print([file.model_dump() for file in files], as_json=as_json, title=str(wheel.workspace.exports))


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

    settings = _begin(workspace, verbose=False)
    with _wheel(settings, write=False) as (wheel, _):
        if record is None:
            number = round_number or stages.round_to_run(wheel.workspace, advance=False)
        else:
            with Catalog(wheel.workspace) as catalog:
                stage, row = catalog.find(record)
    if record is None:
        _show_round(wheel, number, as_json)
    else:
        print(json.dumps({"stage": stage, **row}, ensure_ascii=False, indent=2, default=str))


@image_app.command("build")
def image_build(
    name: Annotated[str, typer.Argument(help="A folder under vm_snapshots/.")] = "light-desktop",
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Build a guest image, unless the cache has it."""
    from cuamaster import wiring
    from cuamaster.progress import Bars

    settings = _begin(None, verbose)
    with Bars() as bars, bars.long("image") as report:
        built = wiring.image_builder(settings).build(name, report)
    row = {
        "name": built.name,
        "digest": built.digest,
        "folder": str(built.folder),
        "capabilities": ", ".join(sorted(built.capabilities)),
    }
    _print([row], as_json=as_json)


@primitives_app.command("verify")
def primitives_verify(
    names: Annotated[list[str] | None, typer.Argument(help="`app` or `app.ability`; none: all of primitives/.")] = None,
    record: Annotated[bool, typer.Option("--record", help="Write what was seen as evidence into primitives/.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Run every procedure on the desktop: its effect must be false before and true after. Exit code 1 if one is not."""
    from cuamaster import stages, wiring

    settings = _begin(workspace, verbose)
    with (
        _wheel(settings) as (wheel, bars),
        bars.long("image") as report,
        wiring.desktop_ports(settings, report) as ports,
    ):
        rows = stages.verify_library(wheel, ports, tuple(names or ()), record=record)
    _print(rows, as_json=as_json, title="primitives")
    if any(row["status"] != "passed" for row in rows):
        raise typer.Exit(1)


@taxonomy_app.command("validate")
def taxonomy_validate(folder: Annotated[Path | None, typer.Argument(help="Another taxonomy folder.")] = None) -> None:
    """Check the taxonomy; a fault is told with file, line and field."""
    from cuamaster.stages import load_taxonomy

    found = load_taxonomy(folder)
    subdomains = sum(len(domain.subdomains) for domain in found.domains)
    print(
        f"{len(found.domains)} domains, {subdomains} subdomains, {len(found.apps)} applications, {len(found.words)} languages"
    )


@taxonomy_app.command("show")
def taxonomy_show(
    name: Annotated[
        str | None, typer.Argument(help="A domain, a subdomain, an application's id, or a text that names some.")
    ] = None,
    language: Annotated[str | None, typer.Option("--language", "-l", help="Show how it is searched for in it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the subdomains, the applications of one, or all that is known of an application."""
    from cuamaster.stages import load_taxonomy, show_taxonomy

    settings = _begin(None, verbose=False)
    _print(show_taxonomy(load_taxonomy(), name, language or settings.language), as_json=as_json)


@taxonomy_app.command("coverage")
def taxonomy_coverage(
    by: Annotated[Level, typer.Option("--by", help="One line for each of these.")] = Level.subdomain,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Report what the taxonomy names, and how much of it the workspace has searched and kept."""
    from cuamaster.stages import load_taxonomy, survey

    settings = _begin(workspace, verbose=False)
    taxonomy = load_taxonomy()
    lines = survey(settings.workspace, taxonomy, by.value)
    narrow = (by.value, "applications", "packages", "names", "reached", "searches", "tasks")
    shown = lines if as_json else [{name: line[name] for name in narrow if name in line} for line in lines]
    _print(shown, as_json=as_json, title="coverage")
    if not as_json:
        print(f"{len(taxonomy.words)} search languages: {', '.join(sorted(taxonomy.words))}", file=sys.stderr)


@app.command()
def doctor(workspace: Workspace = None, as_json: AsJson = False, verbose: Verbose = False) -> None:
    """Say what is there, what is missing, and what each lack disables. Probes KVM by booting a kernel with it."""
    from cuamaster.doctor import examine

    findings = examine(_begin(workspace, verbose))
    _print(
        [finding.model_dump(exclude=None if as_json else {"needed"}) for finding in findings],
        as_json=as_json,
        title="doctor",
    )
    if any(finding.status == "missing" and finding.needed for finding in findings):
        raise typer.Exit(1)


def _begin(workspace: Path | None, verbose: bool) -> Settings:
    from cuamaster.progress import configure_logs

    configure_logs(verbose=verbose)
    return _settings(workspace)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


def main() -> None:
    """Entry point: typed errors become one line on stderr and an exit code."""
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


if __name__ == "__main__":
    main()
