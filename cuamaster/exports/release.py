"""A profile's dataset in a folder: shards by split and round, pictures, dropped.jsonl, and the manifest from which it can be made again."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from cuamaster.errors import IntegrityError, InvalidAction, MediaError
from cuamaster.exports.elements import Element
from cuamaster.exports.options import Options
from cuamaster.exports.pairs import Pair
from cuamaster.exports.pictures import Album, lost
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.rl import Released
from cuamaster.exports.rounds import Cell, Delta, Tally
from cuamaster.exports.samples import Sample
from cuamaster.exports.shards import Shards
from cuamaster.exports.splits import Split, lineage_keys, split_of
from cuamaster.exports.turns import Row
from cuamaster.exports.writer import ExportFile
from cuamaster.ports import Store
from cuamaster.records.episode import Dropped
from cuamaster.records.record import Record
from cuamaster.tables import FileEntry, write_atomic

FORMAT = 1
MANIFEST, DROPPED, README = "manifest.json", "dropped.jsonl", "README.md"
Item = Sample | Released | Pair | Element


class Input(Record):
    """The files of one stage of one round that a dataset was made of."""

    round: int
    stage: str
    files: tuple[FileEntry, ...]


class Release(Record):
    """manifest.json: what the dataset is, of what and how it was made, and what was left out."""

    format: int = FORMAT
    version: str = Field(description="dataset@round-N: the union of rounds 1 to N")
    inputs_id: str = Field(description="hash of the inputs")
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


@dataclass
class Written:
    """What became of the stream."""

    files: list[ExportFile] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    splits: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)


def write_release(
    profile: Profile, items: Iterable[Item | Dropped], options: Options, store: Store, folder: Path
) -> Written:
    """Write all rows of a stream under `folder`, which must be new; memory does not grow with their number. Raises StoreFull."""
    found = Written()
    with (
        Album(store, options.max_side) as album,
        _drops(folder, found) as drop,
        Shards(profile, options, folder) as shards,
    ):
        for item in items:
            if isinstance(item, Dropped):
                drop(item)
                continue
            split = split_of(_keys(item), options.test_percent)
            if split == "neither":
                drop(
                    Dropped(item_id=_id(item), stage="export", reason="straddles-splits", detail="made of both splits")
                )
                continue
            rows = 0
            for row in _rows(profile, item, options, album):
                if isinstance(row, Dropped):
                    drop(row)
                else:
                    shards.add(split, item_round(item), row)
                    rows += 1
            if rows:
                found.splits[split] += rows
                found.tally.add(item_round(item), _cell(item), rows)
        shards.close()
        found.files = shards.files
    for name, data in profile.extras(options, sorted(found.splits)).items():
        write_atomic(folder / name, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())
    return found


def _rows(profile: Profile, item: Item, options: Options, album: Album) -> Iterator[Row | Dropped]:
    """The rows of an item with their pictures; an item of which one row cannot be said is dropped as a whole."""
    try:
        rows = list(profile.rows(item, options))
    except InvalidAction as exc:
        yield Dropped(item_id=_id(item), stage="export", reason="not-in-dialect", detail=str(exc))
        return
    for row in rows:
        if isinstance(row, Dropped):
            yield row
            continue
        try:
            yield {**row, "images": album.show(row.get("images", ()))}
        except (IntegrityError, MediaError) as exc:
            yield Dropped(item_id=row.get("id") or _id(item), stage="export", reason=lost(exc), detail=str(exc))


@contextlib.contextmanager
def _drops(folder: Path, found: Written) -> Iterator[Callable[[Dropped], None]]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / DROPPED).open("w", encoding="utf-8") as file:

        def drop(item: Dropped) -> None:
            found.dropped[item.reason] += 1
            file.write(item.to_json() + "\n")

        yield drop


def _id(item: Item) -> str:
    return item.task.id if isinstance(item, Released) else item.id


def item_round(item: Item) -> int:
    """The round that added it."""
    return item.sample.round if isinstance(item, Element) else item.round


def _keys(item: Item) -> set[str]:
    if isinstance(item, Element):
        return lineage_keys(item.sample.lineage, item.sample.task)
    return lineage_keys(item.lineage, item.task)


def _cell(item: Item) -> tuple[str, int, int]:
    task = item.sample.task if isinstance(item, Element) else item.task
    return (task.domain, task.k, task.n) if task else ("", 0, 0)


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
    from pydantic import ValidationError

    from cuamaster.errors import InvalidInput

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


__all__ = ["Input", "Release", "Split", "readme", "software", "write_release"]
