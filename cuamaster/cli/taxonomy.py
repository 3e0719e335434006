"""`taxonomy show | validate | coverage`: the applications that are searched for."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cuamaster.cli.options import AsJson, Workspace, begin
from cuamaster.cli.output import print_rows

app = typer.Typer(help="Domains, applications and search words.", no_args_is_help=True)


class Level(StrEnum):
    """What a line of the coverage report is about."""

    domain = "domain"
    subdomain = "subdomain"
    app = "app"


@app.command("validate")
def taxonomy_validate(folder: Annotated[Path | None, typer.Argument(help="Another taxonomy folder.")] = None) -> None:
    """Check the taxonomy; a fault is told with file, line and field."""
    from cuamaster.stages import load_taxonomy

    found = load_taxonomy(folder)
    subdomains = sum(len(domain.subdomains) for domain in found.domains)
    print(
        f"{len(found.domains)} domains, {subdomains} subdomains, {len(found.apps)} applications, {len(found.words)} languages"
    )


@app.command("show")
def taxonomy_show(
    name: Annotated[
        str | None, typer.Argument(help="A domain, a subdomain, an application's id, or a text that names some.")
    ] = None,
    language: Annotated[str | None, typer.Option("--language", "-l", help="Show how it is searched for in it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the subdomains, the applications of one, or all that is known of an application."""
    from cuamaster.stages import load_taxonomy, show_taxonomy

    settings = begin(None, verbose=False)
    print_rows(show_taxonomy(load_taxonomy(), name, language or settings.language), as_json=as_json)


@app.command("coverage")
def taxonomy_coverage(
    by: Annotated[Level, typer.Option("--by", help="One line for each of these.")] = Level.subdomain,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Report what the taxonomy names, and how much of it the workspace has searched and kept."""
    from cuamaster.stages import load_taxonomy, survey

    settings = begin(workspace, verbose=False)
    taxonomy = load_taxonomy()
    lines = survey(settings.workspace, taxonomy, by.value)
    narrow = (by.value, "applications", "packages", "names", "reached", "searches", "tasks")
    shown = lines if as_json else [{name: line[name] for name in narrow if name in line} for line in lines]
    print_rows(shown, as_json=as_json, title="coverage")
    if not as_json:
        print(f"{len(taxonomy.words)} search languages: {', '.join(sorted(taxonomy.words))}", file=sys.stderr)
