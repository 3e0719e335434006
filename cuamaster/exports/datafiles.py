"""The data files of a folder, whatever wrote them: their configuration, split and kind, and their rows one after the other."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from cuamaster.errors import IntegrityError, InvalidInput
from cuamaster.records.record import content_id

Kind = Literal["sft", "rl", "other"]
"""sft: trajectories in the columns of `columns.SFT`; rl: tasks in those of `columns.RL`; other: any trainer's own shape."""

_SUFFIXES = (".parquet", ".jsonl")
_SHARD = re.compile(r"-\d{5}(-of-\d{5})?$")
_SPLITS = {"train": "train", "test": "test", "validation": "validation", "valid": "validation", "val": "validation", "dev": "validation"}  # fmt: skip
_IDS = ("id", "task_id", "episode_id", "trajectory_id", "uid")
_MARKS: dict[Kind, set[str]] = {
    "sft": {"steps_json", "messages", "proof"},
    "rl": {"task_json", "oracle_json", "certificate_json"},
}
_NAMED: dict[str, Kind] = {"sft": "sft", "unproven": "sft", "rl": "rl"}
_TAIL = 1 << 16
_NOTES = {"dropped.jsonl"}
"""Beside the data, not of it."""
MAX_LINE = 512 << 20
"""Bytes of one JSONL line; a longer one is no row but a fault."""


@dataclass(frozen=True)
class DataFile:
    """One file; `name` is its path inside the folder, `config` and `split` what `datasets` would call them."""

    path: Path
    name: str
    config: str
    split: str
    kind: Kind


@dataclass(frozen=True)
class Row:
    """One row with its number in the file, from 0, and its id ('row 7' if no column gives one)."""

    file: DataFile
    number: int
    id: str
    values: dict[str, Any]


def data_files(place: Path) -> list[DataFile]:
    """Every .parquet and .jsonl file under a folder (hidden ones and unfinished writes left aside), or the one file given.

    Raises InvalidInput when there is no such place.
    """
    if place.is_file():
        return [_data_file(place, place.parent)]
    if not place.is_dir():
        raise InvalidInput(f"{place}: no such file or folder")
    paths = sorted(path for path in place.rglob("*") if path.suffix in _SUFFIXES and path.is_file())
    return [_data_file(path, place) for path in paths if not _hidden(path.relative_to(place))]


def _hidden(path: Path) -> bool:
    return path.name in _NOTES or any(part.startswith((".", "draft")) for part in path.parts)


def _data_file(path: Path, root: Path) -> DataFile:
    name = path.relative_to(root).as_posix()
    stem = _SHARD.sub("", path.stem)
    words = stem.rsplit("-", 1)
    parent = path.parent.name if path.parent != root else ""
    if parent in _SPLITS:  # train/r001-00000.parquet
        config, split = "default", _SPLITS[parent]
    elif stem in _SPLITS:
        config, split = parent or "default", _SPLITS[stem]
    elif len(words) == 2 and words[1] in _SPLITS:
        config, split = words[0], _SPLITS[words[1]]
    else:
        config, split = (parent if parent and _SHARD.search(path.stem) else stem), "train"
    return DataFile(path, name, config, split, _kind(path, config))


def _kind(path: Path, config: str) -> Kind:
    """By the name of the configuration, else by the columns: a damaged file must still be known for what it should be."""
    if path.suffix != ".parquet" or config in _NAMED:
        return _NAMED.get(config, "other") if path.suffix == ".parquet" else "other"
    try:
        names = set(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return "other"
    return next((kind for kind, marks in _MARKS.items() if marks <= names), "other")


def identity(place: Path) -> str:
    """Tells two states of a dataset apart without reading it: names, sizes, and the last bytes, where Parquet keeps its footer."""
    told = []
    for file in data_files(place):
        with file.path.open("rb") as opened:
            size = opened.seek(0, 2)
            opened.seek(max(0, size - _TAIL))
            told.append([file.name, size, hashlib.sha256(opened.read()).hexdigest()])
    return content_id("dataset", told)


def rows(file: DataFile, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """The rows in order; at most one row group of a Parquet file, one line of a JSONL file, is in memory.

    `columns`: only these, as far as the file has them. Raises IntegrityError for what cannot be read.
    """
    found = _parquet(file, columns) if file.path.suffix == ".parquet" else _jsonl(file)
    for number, values in enumerate(found):
        name = next((values[key] for key in _IDS if isinstance(values.get(key), str) and values[key]), f"row {number}")
        yield Row(file, number, name, values)


def _parquet(file: DataFile, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    try:
        with pq.ParquetFile(file.path) as opened:
            there = None if columns is None else [name for name in columns if name in opened.schema_arrow.names]
            size = 1 if columns is None else 1024
            for group in range(opened.num_row_groups):
                for batch in opened.iter_batches(batch_size=size, row_groups=[group], columns=there):
                    yield from batch.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as exc:
        raise IntegrityError(f"{file.path}: damaged, or not a Parquet file: {exc}") from exc


def _jsonl(file: DataFile) -> Iterator[dict[str, Any]]:
    with file.path.open("rb") as lines:
        number = 0
        while line := lines.readline(MAX_LINE):
            number += 1
            if not line.strip():
                continue
            try:
                values = json.loads(line)
                if b"\\u" in line:
                    json.dumps(values, ensure_ascii=False).encode()
            except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as exc:
                raise IntegrityError(f"{file.path}, line {number}: not JSON: {exc}") from exc
            except UnicodeEncodeError as exc:
                raise IntegrityError(
                    f"{file.path}, line {number}: holds half of a surrogate pair, which is no text"
                ) from exc
            if not isinstance(values, dict):
                raise IntegrityError(f"{file.path}, line {number}: not an object")
            yield values
