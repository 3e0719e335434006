"""`export`, and what is done to a dataset before its release: `preflight`, `clean`, `card`, `report`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from cuamaster.cli.options import AsJson, Verbose, Workspace, begin
from cuamaster.cli.output import print_rows
from cuamaster.cli.wheels import opened
from cuamaster.errors import InvalidInput

if TYPE_CHECKING:
    from cuamaster.exports.preflight import Problem, Rules


app = typer.Typer()

Folder = Annotated[Path | None, typer.Argument(help="A dataset's folder (default: the workspace's exports).")]
Against = Annotated[
    list[Path] | None, typer.Option("--against", help="JSONL of benchmark instructions to keep out; may be repeated.")
]
Licenses = Annotated[
    list[str] | None,
    typer.Option("--license", help="SPDX license that is allowed; may be repeated (default: permissive ones)."),
]
Levels = Annotated[list[str] | None, typer.Option("--level", help="CHECK=blocking|warning|off; may be repeated.")]


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

    settings = begin(workspace, verbose)
    if (profile or again) is None and out is None:
        with opened(settings) as (wheel, _):
            files = stages.export(wheel.workspace, wiring.store(settings), settings)
        print_rows([file.model_dump() for file in files], as_json=as_json, title=str(wheel.workspace.exports))
        return
    if out is None or (profile is None) == (again is None):
        raise InvalidInput("a dataset needs --out and one of --profile and --again")
    given = {
        "history": history, "max_side": max_side, "thoughts": thoughts, "test_percent": test_percent, "mode": settings.mode, "min_k": min_k,
        "max_k": max_k, "min_n": min_n, "max_n": max_n, "base_policy": base_policy, "min_attempts": min_attempts, "seeds": seeds,
    }  # fmt: skip
    options = Options.model_validate({name: value for name, value in given.items() if value is not None})
    with opened(settings, write=False) as (wheel, bars), bars.long("export") as report:
        ports = stages.Ports(wiring.store(settings), wiring.reader(settings), report)
        if again is not None:
            made = stages.release_again(wheel.workspace, ports, again, out)
        else:
            made = stages.release(wheel.workspace, ports, str(profile), out, options, upto=upto)
    print_rows([file.model_dump() for file in made.files], as_json=as_json, title=f"{made.version} in {out}")
    if made.dropped and not as_json:
        print_rows([{"left out": name, "items": count} for name, count in made.dropped.items()], as_json=False)


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

    settings = begin(workspace, verbose)
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
    print_rows(rows, as_json=as_json, title=f"{place}: {findings.blocking} blocking, {findings.warnings} warnings")
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

    settings = begin(workspace, verbose)
    done = write(
        folder or settings.workspace / "exports", out, _rules(against, license_, level), reader=wiring.reader(settings),
        embedder=wiring.embedder() if against else None,
    )  # fmt: skip
    rows = [{"what": "rows written", "of": file.name, "count": file.rows} for file in done.files]
    rows += [{"what": "rows left out", "of": check, "count": count} for check, count in done.dropped.items()]
    rows += [{"what": "values hidden", "of": kind, "count": count} for kind, count in done.hidden.items()]
    rows += [{"what": "pictures changed", "of": "", "count": done.pictures}]
    print_rows(rows, as_json=as_json, title=str(out))


@app.command()
def card(folder: Folder = None, workspace: Workspace = None) -> None:
    """Write the dataset card (README.md, with the front matter of the Hugging Face hub) beside the files."""
    from cuamaster.exports.card import write_card

    print(write_card(folder or begin(workspace, verbose=False).workspace / "exports"))


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

    place = folder or begin(workspace, verbose=False).workspace / "exports"
    print(write_report(place, embedder=wiring.embedder(), beside=beside or (), out=out))


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
