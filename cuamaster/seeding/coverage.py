"""How much of the open world the taxonomy names, and how much of it has been searched and kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from cuamaster.records.record import Record
from cuamaster.records.search import Searched
from cuamaster.records.taxonomy import App, Taxonomy

By = Literal["domain", "subdomain", "app"]


class Coverage(Record):
    """One line of the report: what the taxonomy has, then what a workspace found."""

    domain: str
    subdomain: str = ""
    app: str = ""
    applications: int
    gui: int
    web: int
    cli: int
    linux: int
    windows: int
    macos: int
    packages: int
    names: int
    reached: int = 0
    """Applications with a kept task."""
    searches: int = 0
    candidates: int = 0
    tasks: int = 0


def coverage(
    taxonomy: Taxonomy, by: By, rows: Iterable[Searched] = (), tasks: Mapping[str, int] | None = None
) -> list[Coverage]:
    """A line for each domain, subdomain or application, in the taxonomy's order; an application counts where it has its home.

    `rows`: searches of a workspace; `tasks`: application id -> kept tasks.
    """
    tasks = tasks or {}
    searches: Counter[str] = Counter()
    candidates: Counter[str] = Counter()
    for row in rows:
        searches[row.app] += 1
        candidates[row.app] += row.candidates
    groups: dict[tuple[str, str, str], list[App]] = {}
    for domain in taxonomy.domains:
        for slug in domain.subdomains:
            for app in (app for app in domain.applications if app.subdomain == slug):
                key = (domain.domain, slug if by != "domain" else "", app.id if by == "app" else "")
                groups.setdefault(key, []).append(app)
    return [
        Coverage(
            domain=domain, subdomain=slug, app=name, applications=len(apps), names=sum(len(app.spellings) for app in apps),
            packages=sum(app.package is not None for app in apps), reached=sum(tasks.get(app.id, 0) > 0 for app in apps),
            searches=sum(searches[app.id] for app in apps), candidates=sum(candidates[app.id] for app in apps),
            tasks=sum(tasks.get(app.id, 0) for app in apps),
            **{kind: sum(app.kind == kind for app in apps) for kind in ("gui", "web", "cli")},
            **{platform: sum(platform in app.platforms for app in apps) for platform in ("linux", "windows", "macos")},
        )
        for (domain, slug, name), apps in groups.items()
    ]  # fmt: skip


def total(lines: Iterable[Coverage]) -> Coverage:
    """All lines as one."""
    lines = list(lines)
    numbers = [name for name, field in Coverage.model_fields.items() if field.annotation is int]
    return Coverage(domain="all", **{name: sum(getattr(line, name) for line in lines) for name in numbers})
