"""Reads the taxonomy folder: one YAML per domain and `words.yaml`; every fault names file, line and field."""

from __future__ import annotations

from pathlib import Path

from cuamaster.assets import asset_folder
from cuamaster.errors import InvalidInput
from cuamaster.records.located_yaml import line_of, load_yaml, parse_yaml
from cuamaster.records.taxonomy import Domain, Taxonomy, WordFile

WORD_FILE = "words.yaml"


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
    """Taxonomy from file name -> YAML text; application ids and domains must be unique, subdomains must exist."""
    domains: list[Domain] = []
    words = WordFile(languages={})
    owner: dict[str, str] = {}
    for source, text in texts.items():
        if Path(source).name == WORD_FILE:
            words = parse_yaml(WordFile, text, source)
            continue
        domain = parse_yaml(Domain, text, source)
        _, node = load_yaml(text, source)
        for index, app in enumerate(domain.applications):
            where = f"{source}, line {{}}, field applications.{index}.{{}}"
            if app.subdomain not in domain.subdomains:
                line = line_of(node, ("applications", index, "subdomain"))
                known = ", ".join(domain.subdomains)
                raise InvalidInput(
                    f"{where.format(line, 'subdomain')}: no subdomain {app.subdomain!r} here", hint=f"known: {known}"
                )
            if app.id in owner:
                line = line_of(node, ("applications", index, "id"))
                raise InvalidInput(f"{where.format(line, 'id')}: {app.id!r} is already in {owner[app.id]}")
            if app.ambiguous and not app.context:
                line = line_of(node, ("applications", index, "ambiguous"))
                raise InvalidInput(f"{where.format(line, 'context')}: ambiguous names need context words")
            owner[app.id] = source
        if any(domain.domain == other.domain for other in domains):
            raise InvalidInput(
                f"{source}, line {line_of(node, ('domain',))}, field domain: {domain.domain!r} has a file already"
            )
        domains.append(domain)
    return Taxonomy(domains=tuple(domains), words=words.languages)
