"""`cuamaster`: noun-verb commands; data on stdout, logs and progress on stderr, exit codes that scripts can use.

Exit codes: 0 done, 1 something failed (typed error on stderr), 2 wrong usage or input, 3 a fault that may pass (try again).
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterator
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
    from cuamaster.exports.preflight import Problem, Rules
    from cuamaster.progress import Bars
    from cuamaster.stages import Imported, Wheel

app = typer.Typer(
    help="A data flywheel for computer-use agents: narrated tutorials in, verified trajectories in Parquet out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
image_app = typer.Typer(help="Guest images: built once from a recipe, cached by its hash.", no_args_is_help=True)
flywheel_app = typer.Typer(help="Whole rounds of the wheel.", no_args_is_help=True)
primitives_app = typer.Typer(help="The library of primitives.", no_args_is_help=True)
import_app = typer.Typer(
    help="Other people's datasets as trajectories and tasks; what has no counterpart is listed with its reason.",
    no_args_is_help=True,
)
taxonomy_app = typer.Typer(help="Domains, applications and search words.", no_args_is_help=True)
app.add_typer(image_app, name="image")
app.add_typer(flywheel_app, name="flywheel")
app.add_typer(primitives_app, name="primitives")
app.add_typer(import_app, name="import")
app.add_typer(taxonomy_app, name="taxonomy")


class Level(StrEnum):
    """What a line of the coverage report is about."""

    domain = "domain"
    subdomain = "subdomain"
    app = "app"


Workspace = Annotated[Path | None, typer.Option("--workspace", "-w", help="Where a run writes (default ./workspace).")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable output on stdout.")]
RoundNumber = Annotated[int | None, typer.Option("--round", min=1, help="Round to work in (default: the newest).")]
Folder = Annotated[Path | None, typer.Argument(help="A dataset's folder (default: the workspace's exports).")]
Against = Annotated[
    list[Path] | None, typer.Option("--against", help="JSONL of benchmark instructions to keep out; may be repeated.")
]
Licenses = Annotated[
    list[str] | None,
    typer.Option("--license", help="SPDX license that is allowed; may be repeated (default: permissive ones)."),
]
Levels = Annotated[list[str] | None, typer.Option("--level", help="CHECK=blocking|warning|off; may be repeated.")]
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

    settings = _begin(workspace, verbose)
    given = read_rl(tasks) if tasks else None  # before a guest image is built for it
    with _wheel(settings) as (wheel, bars), bars.long("image") as report:
        number = round_number or stages.round_to_run(wheel.workspace, advance=False)
        with wiring.desktop_ports(settings, report) as desktops:
            folder = wheel.workspace.round(number)
            own = stages.imported_tasks(folder) if imported else stages.tasks_to_collect(folder)
            chosen = own if given is None else given
            stages.collect(wheel, folder, desktops, chosen[:limit])
    _show_round(wheel, number, as_json)


@app.command()
def export(
    profile: Annotated[
        str | None, typer.Option("--profile", help="trl, ms-swift, llama-factory, verl-sft, openai-jsonl, agentnet, cua-lite; verl, trl-grpo, skyrl; trl-dpo; grounding.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the profile's dataset; replaced as a whole.")] = None,
    again: Annotated[Path | None, typer.Option("--again", help="manifest.json of a dataset to make once more.")] = None,
    upto: Annotated[int | None, typer.Option("--round", min=1, help="Rounds 1 to this one (default: all).")] = None,
    history: Annotated[int | None, typer.Option("--history", min=1, help="One row a step, with so many newest screenshots (default: whole trajectories).")] = None,
    max_side: Annotated[int | None, typer.Option("--max-side", min=32, help="Longer side of screenshots in pixels, at most.")] = None,
    thoughts: Annotated[bool, typer.Option("--thoughts/--no-thoughts", help="Answers with or without the thought.")] = True,
    test_percent: Annotated[int | None, typer.Option("--test-percent", min=0, max=50, help="Share of videos and templates kept for testing (default: 5).")] = None,
    min_k: Annotated[int | None, typer.Option("--min-k", min=1, help="Tasks: primitives, at least.")] = None,
    max_k: Annotated[int | None, typer.Option("--max-k", min=1, help="Tasks: primitives, at most.")] = None,
    min_n: Annotated[int | None, typer.Option("--min-n", min=1, help="Tasks: applications, at least.")] = None,
    max_n: Annotated[int | None, typer.Option("--max-n", min=1, help="Tasks: applications, at most.")] = None,
    base_policy: Annotated[str | None, typer.Option("--base-policy", help="Tasks: whose attempts tell the base success (beginning of its name; default: all).")] = None,
    min_attempts: Annotated[int | None, typer.Option("--min-attempts", min=1, help="Tasks: attempts that make one always or never solved (default: 4).")] = None,
    seeds: Annotated[bool, typer.Option("--seeds", help="Tasks: those mined from videos too.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:  # fmt: skip
    """Write sft.parquet, unproven.parquet, rl.parquet and their card from all rounds, checked before release.

    With --profile and --out, the dataset of one trainer instead: shards by split and round, and a manifest. With --again and
    --out, the dataset of a manifest once more.
    """
    from cuamaster import stages, wiring
    from cuamaster.exports.options import Options

    settings = _begin(workspace, verbose)
    if (profile or again) is None and out is None:
        with _wheel(settings) as (wheel, _):
            files = stages.export(wheel.workspace, wiring.store(settings), settings)
        _print([file.model_dump() for file in files], as_json=as_json, title=str(wheel.workspace.exports))
        return
    if out is None or (profile is None) == (again is None):
        raise InvalidInput("a dataset needs --out and one of --profile and --again")
    given = {
        "history": history, "max_side": max_side, "thoughts": thoughts, "test_percent": test_percent, "mode": settings.mode, "min_k": min_k,
        "max_k": max_k, "min_n": min_n, "max_n": max_n, "base_policy": base_policy, "min_attempts": min_attempts, "seeds": seeds,
    }  # fmt: skip
    options = Options.model_validate({name: value for name, value in given.items() if value is not None})
    with _wheel(settings, write=False) as (wheel, bars), bars.long("export") as report:
        ports = stages.Ports(wiring.store(settings), wiring.reader(settings), report)
        if again is not None:
            made = stages.release_again(wheel.workspace, ports, again, out)
        else:
            made = stages.release(wheel.workspace, ports, str(profile), out, options, upto=upto)
    _print([file.model_dump() for file in made.files], as_json=as_json, title=f"{made.version} in {out}")
    if made.dropped and not as_json:
        _print([{"left out": name, "items": count} for name, count in made.dropped.items()], as_json=False)


@app.command()
def preflight(
    folder: Folder = None,
    against: Against = None,
    license_: Licenses = None,
    level: Levels = None,
    ocr: Annotated[bool, typer.Option("--ocr", help="Read the pictures too: seconds for each distinct one.")] = False,
    everything: Annotated[
        Path | None, typer.Option("--all", help="Write every single problem to this JSONL file.")
    ] = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Check a dataset before its release: files, rows, pictures, secrets, licenses, benchmarks, repeats, balance.

    Findings are printed and left beside the files (preflight.json), where the card and the report take them up. Exit code 1
    if something blocks the release. FOLDER may hold Parquet or JSONL of any trainer's shape.
    """
    from datetime import UTC, datetime

    from cuamaster import wiring
    from cuamaster.exports import datafiles
    from cuamaster.exports import preflight as checks
    from cuamaster.exports.preflight.findings import collect, write_findings

    settings = _begin(workspace, verbose)
    place, rules = folder or settings.workspace / "exports", _rules(against, license_, level)
    found = checks.problems(
        place, rules, embedder=wiring.embedder() if against else None, reader=wiring.reader(settings) if ocr else None
    )
    with _also_written(everything) as note:
        findings = collect(map(note, found), rules, dataset=datafiles.identity(place), now=datetime.now(UTC))
    rows = [
        {"check": item.check, "level": item.level, "file": item.file, "rows": item.count,
         "example": " ".join(part for part in (item.examples[0].row, item.examples[0].detail) if part)}
        for item in findings.findings
    ]  # fmt: skip
    _print(rows, as_json=as_json, title=f"{place}: {findings.blocking} blocking, {findings.warnings} warnings")
    if place.is_dir():
        write_findings(place, findings)
    if findings.blocking:
        raise typer.Exit(1)


@app.command()
def clean(
    out: Annotated[Path, typer.Argument(help="A new folder for the copy.")],
    folder: Annotated[
        Path | None, typer.Option("--from", help="The dataset (default: the workspace's exports).")
    ] = None,
    against: Against = None,
    license_: Licenses = None,
    level: Levels = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Write a copy that may be released: blocked rows left out, secrets and personal data hidden in texts and pictures.

    Pictures are read by OCR, seconds for each distinct one. dropped.jsonl in the copy says why rows are missing.
    """
    from cuamaster import wiring
    from cuamaster.exports.preflight.clean import clean as write

    settings = _begin(workspace, verbose)
    done = write(
        folder or settings.workspace / "exports", out, _rules(against, license_, level), reader=wiring.reader(settings),
        embedder=wiring.embedder() if against else None,
    )  # fmt: skip
    rows = [{"what": "rows written", "of": file.name, "count": file.rows} for file in done.files]
    rows += [{"what": "rows left out", "of": check, "count": count} for check, count in done.dropped.items()]
    rows += [{"what": "values hidden", "of": kind, "count": count} for kind, count in done.hidden.items()]
    rows += [{"what": "pictures changed", "of": "", "count": done.pictures}]
    _print(rows, as_json=as_json, title=str(out))


@app.command()
def card(folder: Folder = None, workspace: Workspace = None) -> None:
    """Write the dataset card (README.md, with the front matter of the Hugging Face hub) beside the files."""
    from cuamaster.exports.card import write_card

    print(write_card(folder or _begin(workspace, verbose=False).workspace / "exports"))


@app.command()
def report(
    folder: Folder = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option("--beside", help="Another dataset for the map: a folder or a JSONL; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write (default: report.html beside the files).")
    ] = None,
    workspace: Workspace = None,
) -> None:
    """Write a one-page HTML report: domain x K x N, actions, lengths, findings of the preflight, a map of the instructions."""
    from cuamaster import wiring
    from cuamaster.exports.report.page import write_report

    place = folder or _begin(workspace, verbose=False).workspace / "exports"
    print(write_report(place, embedder=wiring.embedder(), beside=beside or (), out=out))


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


Images = Annotated[Path | None, typer.Option("--images", help="Folder of the pictures (default: beside the file).")]
License = Annotated[str | None, typer.Option("--license", help="Licence of the dataset, kept with every record.")]


@import_app.command("agentnet")
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


@import_app.command("osworld")
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
        chosen = image or _settings(workspace).image
        done = stages.import_osworld(folder, paths, store, image=chosen, files=files)
    _show_import(done, as_json)


@import_app.command("cua-lite")
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

    settings = _begin(workspace, verbose)
    with _wheel(settings) as (wheel, _):
        chosen = number or stages.round_to_run(wheel.workspace, advance=False)
        yield wheel.workspace.round(chosen), wiring.store(settings)


def _show_import(done: Imported, as_json: bool) -> None:
    if as_json:
        print(done.model_dump_json(indent=2))
    else:
        _print([done.model_dump(exclude={"reasons"})], as_json=False, title="imported")
        addresses = [name for _, name, _ in done.reasons if "://" in name]
        rows = [
            {"records": n, "reason": reason, "name": name} for reason, name, n in done.reasons if name not in addresses
        ]
        if addresses:
            rows.append(
                {"records": "", "reason": "missing-file", "name": f"{len(addresses)} addresses, listed by --json"}
            )
        _print(rows, as_json=False, title="could not be mapped")
    if not done.tasks + done.trajectories + done.already:
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


def _rules(against: list[Path] | None, licenses: list[str] | None, levels: list[str] | None) -> Rules:
    from cuamaster.exports.preflight import Rules

    given: dict[str, Any] = {"levels": dict(item.partition("=")[::2] for item in levels or ())}
    if licenses:
        given["licenses"] = licenses
    try:
        return Rules(benchmarks=tuple(against or ()), **given)
    except ValidationError as exc:
        first = exc.errors()[0]
        told = f"{'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}"
        raise InvalidInput(told, hint="--level CHECK=blocking|warning|off") from exc


@contextmanager
def _also_written(path: Path | None) -> Iterator[Callable[[Problem], Problem]]:
    """Passes problems through, and writes each as a line if a path is given."""
    if path is None:
        yield lambda problem: problem
        return
    with path.open("w", encoding="utf-8") as out:

        def note(problem: Problem) -> Problem:
            out.write(problem.to_json() + "\n")
            return problem

        yield note


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
