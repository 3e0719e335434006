"""The manifest of a dataset, from which it can be made again, and the README beside it."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from cuamaster.errors import InvalidInput
from cuamaster.exports.options import Options
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.rounds import Cell, Delta
from cuamaster.exports.writer import ExportFile
from cuamaster.records.record import Record
from cuamaster.tables import FileEntry

FORMAT = 1
MANIFEST, DROPPED, README = "manifest.json", "dropped.jsonl", "README.md"


class Input(Record):
    """The files of one stage of one round that a dataset was made of."""

    round: int
    stage: str
    files: tuple[FileEntry, ...]


class Release(Record):
    """manifest.json: what the dataset is, of what and how it was made, and what was left out."""

    format: int = FORMAT
    version: str = Field(description="dataset@round-N: the union of rounds 1 to N")
    profile: str
    options: Options
    inputs: tuple[Input, ...]
    files: tuple[ExportFile, ...]
    rounds: tuple[Delta, ...] = Field(description="what each round added")
    weights: tuple[Cell, ...] = Field(
        description="sampling weights by domain, K and N; their mean over all samples is 1"
    )
    splits: dict[str, int] = Field(description="rows by split")
    dropped: dict[str, int] = Field(description="what was left out, by reason; one by one in dropped.jsonl")
    software: dict[str, str]
    cleaned: bool = Field(
        default=False, description="a copy without what may not be released; not to be made from `inputs`"
    )


def software() -> dict[str, str]:
    """Versions of what the bytes of the files depend on."""
    return {name: importlib.metadata.version(name) for name in ("cuamaster", "pyarrow", "pillow")}


def readme(profile: Profile, release: Release) -> str:
    """The few lines that say what this is and how it is read; `datasets` finds the splits by these data_files."""
    ending = "parquet" if profile.columns else "jsonl"
    configs = [
        line for split in sorted(release.splits) for line in (f"  - split: {split}", f"    path: {split}/*.{ending}")
    ]
    counts = ", ".join(f"{rows} rows to {split}" for split, rows in sorted(release.splits.items())) or "no rows"
    return "\n".join(
        [
            "---", "configs:", "- config_name: default", *(["  data_files:", *configs] if configs else []), "---",
            f"# {release.version}, profile {profile.name}", "",
            f"Computer-use trajectories and tasks of rounds 1 to {max((item.round for item in release.rounds), default=0)}: {counts}.", "",
            f"Use: {profile.use}", "",
            "`manifest.json` names the inputs, the options, what each round added (`rounds`; files are named `r<round>-`), sampling",
            "weights by domain, K and N (`weights`), and what was left out (`dropped`; one by one in `dropped.jsonl`).",
            "`cuamaster export --again manifest.json --out FOLDER` makes the same files again.", "",
        ]
    )  # fmt: skip


def read_manifest(path: Path) -> Release:
    """A release's manifest; raises InvalidInput for none, a damaged one, or one of a newer version."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as exc:
        raise InvalidInput(f"{path}: no manifest of a dataset: {exc}") from exc
    made_with = data.get("format", 0) if isinstance(data, Mapping) else 0
    if isinstance(made_with, int) and made_with > FORMAT:
        raise InvalidInput(f"{path}: of format {made_with}, this version knows {FORMAT}", hint="upgrade cuamaster")
    try:
        return Release.model_validate(data)
    except ValidationError as exc:
        raise InvalidInput(f"{path}: no manifest of a dataset: {exc}") from exc
