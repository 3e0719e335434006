"""What the taxonomy holds and how far it is explored, as rows for the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cuamaster.errors import UnknownName
from cuamaster.records.taxonomy import App, Taxonomy
from cuamaster.seeding.coverage import By, coverage, total
from cuamaster.seeding.search_plan import SearchPlan
from cuamaster.stages.searching import kept_tasks, searched
from cuamaster.tables import Workspace


def show_taxonomy(taxonomy: Taxonomy, name: str | None, language: str) -> list[dict[str, Any]]:
    """Rows of the domains and subdomains (no name), of a domain's or subdomain's applications, or of one application.

    Raises UnknownName for a name that is none of these, and for a language without search words.
    """
    taxonomy.words_for(language)
    if name is None:
        return [
            {"domain": domain.domain, "subdomain": slug, "title": title,
             "applications": sum(app.subdomain == slug for app in domain.applications)}
            for domain in taxonomy.domains for slug, title in domain.subdomains.items()
        ]  # fmt: skip
    apps = [
        app
        for domain in taxonomy.domains
        for app in domain.applications
        if name in (domain.domain, app.subdomain) or name in app.also
    ]
    if apps:
        return [_brief(app) for app in apps]
    try:
        app = taxonomy.app(name)
    except UnknownName:
        named = taxonomy.match(name)
        if not named:
            raise
        return [_brief(app) for app in named]
    fields = {**app.model_dump(exclude_defaults=True), "searched as": app.search_names(language)}
    return [{"field": field, "value": _told(value)} for field, value in fields.items()]


def survey(root: Path, taxonomy: Taxonomy, by: By) -> list[dict[str, Any]]:
    """The coverage report over the workspace in `root` (there need not be one), with a line for all at its end; empty labels of the other levels are left out."""
    workspace = Workspace(root)
    folders = [workspace.round(number) for number in workspace.rounds()]
    lines = coverage(taxonomy, by, searched(folders), kept_tasks(folders))
    unused = {"domain": {"subdomain", "app"}, "subdomain": {"app"}, "app": {"applications", "reached"}}[by]
    every = total(lines).model_copy(update={by: "all"})
    return [line.model_dump(exclude=unused) for line in (*lines, every)]


def dry_run(plan: SearchPlan) -> list[dict[str, Any]]:
    """The searches of a round before any of them is sent; `results` is None where all there are is taken."""
    return [
        {"app": item.query.app or "(any)", "tasks so far": item.tasks, "provider": item.query.provider, "language": item.query.language,
         "query": item.query.text or "(everything)", "from": item.query.offset + 1, "results": item.query.limit if item.query.text else None, "expected kept": round(item.expected, 1)}
        for item in plan.searches
    ]  # fmt: skip


def totals(number: int, plan: SearchPlan) -> dict[str, Any]:
    """The numbers of a round's searches; `waiting` counts applications for which no request was left."""
    return {
        "round": number, "searches": len(plan.searches), "requests": plan.requests, "results at most": plan.results,
        "expected kept": round(sum(item.expected for item in plan.searches), 1),
        "applications": len({query.app for query in plan.queries if query.app}),
        "languages": ", ".join(sorted({query.language for query in plan.queries if query.app})), "waiting": len(plan.waiting),
    }  # fmt: skip


def _brief(app: App) -> dict[str, Any]:
    return {
        "id": app.id, "name": app.name, "subdomain": app.subdomain, "vendor": app.vendor, "kind": app.kind,
        "platforms": ", ".join(app.platforms), "package": app.package or "",
    }  # fmt: skip


def _told(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_told(item)}" for key, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
