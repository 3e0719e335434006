"""Reads the taxonomy folder: one YAML per domain and `words.yaml`; every fault names file, line and field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from cuamaster.assets import asset_folder
from cuamaster.errors import InvalidInput
from cuamaster.records.located_yaml import line_of, parse_located, parse_yaml
from cuamaster.records.mentions import plain
from cuamaster.records.taxonomy import App, Domain, Taxonomy, WordFile

WORD_FILE = "words.yaml"


@dataclass(frozen=True)
class _File:
    """One domain file as read, with the nodes that know their lines."""

    source: str
    domain: Domain
    node: yaml.Node | None

    def fault(self, path: tuple[str | int, ...], what: str, hint: str | None = None) -> InvalidInput:
        """The fault of one field, with its line."""
        field = ".".join(str(part) for part in path)
        return InvalidInput(f"{self.source}, line {line_of(self.node, path)}, field {field}: {what}", hint=hint)


def load(folder: Path | None = None) -> Taxonomy:
    """The taxonomy in `folder` (default: the one that ships); raises InvalidInput naming file, line and field."""
    folder = asset_folder("taxonomy") if folder is None else folder
    texts = {str(path): _text(path) for path in sorted(folder.glob("*.yaml"))}
    if not texts:
        raise InvalidInput(f"{folder}: no taxonomy files", hint="one YAML per domain and words.yaml")
    return parse(texts)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as exc:
        line = path.read_bytes()[: exc.start].count(b"\n") + 1
        raise InvalidInput(f"{path}, line {line}: not UTF-8", hint="save the file as UTF-8") from exc


def parse(texts: dict[str, str]) -> Taxonomy:
    """Taxonomy from file name -> YAML text. Besides the fields' own rules: application ids, domains and subdomains are
    given once, homes and cross-links exist, nothing is named twice, and a name that two applications claim is ambiguous
    for both, with context words that tell them apart. Raises InvalidInput for the first fault."""
    words = WordFile(languages={})
    files: list[_File] = []
    for source, text in texts.items():
        if Path(source).name == WORD_FILE:
            words = parse_yaml(WordFile, text, source)
        else:
            files.append(_File(source, *parse_located(Domain, text, source)))
    for check in (_domains, _applications):
        for fault in check(files):
            raise fault
    if words.languages:
        for fault in _languages(files, words):
            raise fault
    for fault in _names(files):
        raise fault
    return Taxonomy(domains=tuple(file.domain for file in files), words=words.languages)


def _domains(files: list[_File]) -> Iterator[InvalidInput]:
    domains: dict[str, str] = {}
    homes: dict[str, str] = {}
    for file in files:
        name = file.domain.domain
        if name in domains:
            yield file.fault(("domain",), f"{name!r} has a file already: {domains[name]}")
        domains[name] = file.source
        for slug in file.domain.subdomains:
            if slug in homes:
                yield file.fault(("subdomains", slug), f"{slug!r} is already in {homes[slug]}")
            homes[slug] = file.source
        empty = set(file.domain.subdomains) - {app.subdomain for app in file.domain.applications}
        for slug in sorted(empty):
            yield file.fault(("subdomains", slug), "no application has its home here")


def _applications(files: list[_File]) -> Iterator[InvalidInput]:
    every = {slug for file in files for slug in file.domain.subdomains}
    owner: dict[str, str] = {}
    for file in files:
        known = ", ".join(file.domain.subdomains)
        for index, app in enumerate(file.domain.applications):
            at = ("applications", index)
            if app.subdomain not in file.domain.subdomains:
                yield file.fault((*at, "subdomain"), f"no subdomain {app.subdomain!r} here", hint=f"known: {known}")
            if app.id in owner:
                yield file.fault((*at, "id"), f"{app.id!r} is already in {owner[app.id]}")
            owner[app.id] = file.source
            if app.ambiguous and not app.context:
                yield file.fault((*at, "ambiguous"), "ambiguous names need context words")
            if app.command and not app.package:
                yield file.fault((*at, "command"), "a launch command without a package")
            for slug in app.also:
                if slug not in every:
                    yield file.fault((*at, "also"), f"no subdomain {slug!r} in any domain")
                if slug == app.subdomain:
                    yield file.fault((*at, "also"), f"{slug!r} is its home already")


def _languages(files: list[_File], words: WordFile) -> Iterator[InvalidInput]:
    for file in files:
        for index, app in enumerate(file.domain.applications):
            for code in sorted(set(app.local) - set(words.languages)):
                known = ", ".join(sorted(words.languages))
                yield file.fault(
                    ("applications", index, "local", code), f"no search words for {code!r}", f"known: {known}"
                )


def _names(files: list[_File]) -> Iterator[InvalidInput]:
    """No name twice in one application; in two applications only where it is ambiguous for both and context decides."""
    owner: dict[str, tuple[App, _File]] = {}
    for file in files:
        for index, app in enumerate(file.domain.applications):
            at = ("applications", index)
            given: set[str] = set()
            for field, name in _fields(app):
                if plain(name) in given:
                    yield file.fault((*at, field), f"the name {name!r} is given twice")
                given.add(plain(name))
            ordinary = {plain(name) for name in app.ambiguous}
            for name in sorted(given | ordinary):
                other, there = owner.setdefault(name, (app, file))
                if other is app:
                    continue
                field = next((field for field, own in _fields(app) if plain(own) == name), "ambiguous")
                if name not in ordinary or name not in {plain(item) for item in other.ambiguous}:
                    yield file.fault(
                        (*at, field), f"the name {name!r} is claimed by {other.id!r} ({there.source}) too",
                        "list it under `ambiguous` in both, with context words that tell them apart",
                    )  # fmt: skip
                elif set(app.context) == set(other.context):
                    yield file.fault((*at, "context"), f"the same context as {other.id!r}, which claims {name!r} too")


def _fields(app: App) -> Iterator[tuple[str, str]]:
    yield "name", app.name
    for field in ("aliases", "former"):
        yield from ((field, name) for name in getattr(app, field))
    every = (name for names in app.local.values() for name in names)  # one name may serve two languages
    yield from (("local", name) for name in dict.fromkeys(every))
