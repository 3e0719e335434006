"""The report's page: what is in the dataset, what a preflight found, and how its tasks spread, from top to bottom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from cuamaster.errors import InvalidInput
from cuamaster.exports.preflight.decontaminate import read_instructions
from cuamaster.exports.preflight.findings import Findings, read_findings
from cuamaster.exports.report.diversity import COVERED, Diversity, diversity
from cuamaster.exports.report.plots import bars, heatmap, histogram, legend, scatter
from cuamaster.exports.report.style import STYLE
from cuamaster.exports.survey import SAMPLE, Config, Survey, survey
from cuamaster.ports import Embedder
from cuamaster.tables import write_atomic

REPORT = "report.html"


def write_report(folder: Path, *, embedder: Embedder, beside: Sequence[Path] = (), out: Path | None = None) -> Path:
    """Write the page beside the files (or to `out`) and return its path.

    `beside`: other datasets for the map, each a folder or a JSONL of instructions. Raises InvalidInput, IntegrityError.
    """
    found = survey(folder)
    spread = diversity(found.sample, _others(beside), embedder)
    path = out or folder / REPORT
    write_atomic(path, page(folder.resolve().name, found, read_findings(folder), spread).encode())
    return path


def _others(places: Sequence[Path]) -> dict[str, list[str]]:
    others: dict[str, list[str]] = {}
    for place in places:
        if place.suffix == ".jsonl" and place.is_file():
            texts = [text for _, text in zip(range(SAMPLE), read_instructions(place), strict=False)]
        else:
            texts = [text for _, text in survey(place).sample]
        if not texts:
            raise InvalidInput(f"{place}: holds no instruction to lay beside")
        name = place.stem if place.is_file() else place.resolve().name
        others[name if name not in others else str(place)] = texts
    return others


def page(title: str, found: Survey, findings: Findings | None, spread: Diversity | None) -> str:
    """The whole page as text."""
    body = "\n".join(
        [
            *_head(title, found, findings),
            *_checked(findings),
            *_tasks(found),
            *_deeds(found),
            *_map(spread),
            *_files(found),
        ]
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}: dataset report</title>
<style>{STYLE}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _head(title: str, found: Survey, findings: Findings | None) -> Iterator[str]:
    configs = found.configs.values()
    yield f"<header><h1>{escape(title)}</h1><p>Computer-use trajectories and tasks: what is in this dataset.</p></header>"
    tiles = [
        ("rows", f"{found.rows:,}"),
        ("steps", f"{sum(config.steps for config in configs):,}"),
        ("applications", f"{len({app for config in configs for app in config.apps}):,}"),
        ("rollbacks", f"{sum(config.rollbacks for config in configs):,}"),
        ("size", _size(sum(config.bytes for config in configs))),
    ]
    told = any("n_rollbacks" in config.columns for config in configs)
    # what nothing in these files tells of is not none of it
    tiles = [(name, value) for name, value in tiles if value != "0" or name == "rows" or (name == "rollbacks" and told)]
    cells = [f"<div><b>{value}</b><span>{name}</span></div>" for name, value in tiles]
    if findings is not None:
        state = "bad" if findings.blocking else "good"
        cells.append(f'<div class="{state}"><b>{findings.blocking:,}</b><span>blocking</span></div>')
        cells.append(f"<div><b>{findings.warnings:,}</b><span>warnings</span></div>")
    yield f'<section class="tiles">{"".join(cells)}</section>'


def _size(count: int) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if count >= 100 or unit == "B" else f"{count:.1f} {unit}"
        count = round(count / 1000, 1)  # type: ignore[assignment]
    return f"{count:.1f} TB"


def _checked(findings: Findings | None) -> Iterator[str]:
    yield "<section><h2>Preflight</h2>"
    if findings is None:
        yield "<p>These files have not been checked: run <code>cuamaster preflight</code>.</p></section>"
        return
    yield f"<p>{len(findings.checks)} checks on {findings.made:%Y-%m-%d %H:%M} UTC.</p>"
    if findings.findings:
        yield '<div class="wide"><table><thead><tr><th>check</th><th>it wants that</th><th>file</th><th class="n">found</th><th>for example</th></tr></thead><tbody>'
        for item in findings.findings:
            first = item.examples[0]
            badge = f'<span class="badge {item.level}">{item.level}</span>'
            example = escape(" ".join(part for part in (first.row, first.detail) if part)[:160])
            yield f'<tr><td>{badge} {escape(item.check)}</td><td>{escape(item.meaning)}</td><td>{escape(item.file)}</td><td class="n">{item.count:,}</td><td class="soft">{example}</td></tr>'
        yield "</tbody></table></div>"
    else:
        yield "<p>Nothing was found.</p>"
    yield "</section>"


def _tasks(found: Survey) -> Iterator[str]:
    shown = [config for config in found.configs.values() if config.cells]
    if shown:
        yield "<section><h2>Domain, K and N</h2><p>Rows by domain and difficulty: K primitives in N applications.</p>"
        for config in shown:
            yield f"<h3>{escape(config.name)}</h3>{_heat(config)}"
        yield "</section>"
    apps = _sum(config.apps for config in found.configs.values())
    if apps:
        yield f"<section><h2>Applications</h2>{_figure(bars(apps, label='rows by application'))}</section>"


def _heat(config: Config) -> str:
    most = Counter[str]()
    for (domain, _, _), count in config.cells.items():
        most[domain] += count
    domains = [name for name, _ in most.most_common(24)]
    sizes = sorted({(k, n) for _, k, n in config.cells})
    cells = {(domain, f"{k} × {n}"): count for (domain, k, n), count in config.cells.items()}
    columns = [f"{k} × {n}" for k, n in sizes]
    return _figure(heatmap(cells, label=f"{config.name}: rows by domain and K × N", rows=domains, columns=columns))


def _deeds(found: Survey) -> Iterator[str]:
    actions = _sum(config.actions for config in found.configs.values())
    if actions:
        yield f"<section><h2>Actions</h2><p>{sum(actions.values()):,} actions by type.</p>{_figure(bars(actions, label='actions by type'))}</section>"
    lengths = Counter[int]()
    for config in found.configs.values():
        lengths.update(config.lengths)
    if lengths:
        mean = sum(length * count for length, count in lengths.items()) / sum(lengths.values())
        told = f"{mean:.1f} steps in the mean, {min(lengths)} to {max(lengths)}."
        plot = histogram(lengths, label="trajectories by number of steps", axis="steps")
        yield f"<section><h2>Length</h2><p>{told}</p>{_figure(plot)}</section>"


def _map(spread: Diversity | None) -> Iterator[str]:
    yield "<section><h2>Map of instructions</h2>"
    if spread is None:
        yield "<p>There are too few instructions for a map.</p></section>"
        return
    yield "<p>Each dot is an instruction; what lies close together means something similar (t-SNE of sentence embeddings; distances across the map mean nothing).</p>"
    yield legend(spread.series)
    yield _figure(scatter(spread.points, label="instructions by meaning"))
    told = [f"Mean cosine to the nearest other instruction: {spread.nearest:.2f} (lower is more diverse)."]
    told += [
        f"{share:.0%} of {escape(name)} has a neighbour here (cosine ≥ {COVERED:g})."
        for name, share in spread.coverage.items()
    ]
    yield f"<p>{' '.join(told)}</p></section>"


def _files(found: Survey) -> Iterator[str]:
    yield '<section><h2>Files</h2><div class="wide"><table><thead><tr><th>configuration</th><th>split</th><th>files</th><th class="n">rows</th><th class="n">size</th><th>license of the sources</th></tr></thead><tbody>'
    for config in found.configs.values():
        licenses = ", ".join(f"{escape(name)}: {count:,}" for name, count in config.licenses.most_common(6)) or "–"
        for split, files in config.files.items():
            names = escape(files[0].name) + (f" and {len(files) - 1} more" if len(files) > 1 else "")
            row = f'<td class="n">{config.rows_of_split[split]:,}</td><td class="n">{_size(config.bytes_of_split[split])}</td>'
            yield f"<tr><td>{escape(config.name)}</td><td>{split}</td><td>{names}</td>{row}<td>{licenses}</td></tr>"
    yield "</tbody></table></div></section>"


def _figure(svg: str) -> str:
    return f"<figure>{svg}</figure>"


def _sum(counters: Iterator[Counter[str]]) -> Mapping[str, int]:
    total = Counter[str]()
    for counter in counters:
        total.update(counter)
    return total
