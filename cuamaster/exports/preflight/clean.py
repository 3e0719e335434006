"""A copy of a dataset that may be released: rows that a preflight blocks are left out, personal data is made unreadable.

Texts get placeholders ([email 1], the same wherever the value stands in a row); the regions of screenshots that show such a value
become a mosaic. Trajectories are rendered again from the changed steps, so that all columns go on saying the same. A task is never
changed, since its certificate is of the task as it was: one that holds personal data is left out.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cuamaster.errors import IntegrityError, InvalidInput, storing
from cuamaster.exports.card import write_card
from cuamaster.exports.datafiles import DataFile, data_files, rows
from cuamaster.exports.manifest import Release, read_manifest
from cuamaster.exports.preflight.check import MANIFEST, Examination
from cuamaster.exports.preflight.hiding import Hider
from cuamaster.exports.preflight.problem import Problem, Rules
from cuamaster.exports.preflight.screens import Screens
from cuamaster.exports.rounds import Tally
from cuamaster.exports.writer import ExportFile, write_rows
from cuamaster.ports import Embedder, ScreenReader
from cuamaster.records.record import Record
from cuamaster.tables import atomic_file, write_atomic
from cuamaster.tables.files import sweep_temporary, temporary_name

DROPPED = "dropped.jsonl"
_ROUND = re.compile(r"(?:^|/)r(\d+)-\d+\.")
_HIDDEN = ("secret", "personal", "trace")


class Cleaned(Record):
    """What became of the rows: files written, rows left out by check, values made unreadable by kind, pictures changed."""

    files: tuple[ExportFile, ...]
    dropped: dict[str, int]
    hidden: dict[str, int]
    pictures: int


def clean(folder: Path, out: Path, rules: Rules, *, reader: ScreenReader, embedder: Embedder | None = None) -> Cleaned:
    """Write the cleaned copy to `out`, whole or not at all, with card, manifest and `dropped.jsonl` (every reason, no values).

    Raises InvalidInput when `out` is there already or `folder` holds no data files, IntegrityError when a file is damaged.
    """
    if out.exists():
        raise InvalidInput(f"{out} is there already", hint="give a new folder")
    files = data_files(folder)
    if not files:
        raise InvalidInput(f"{folder}: no Parquet files and no JSON lines")
    release = _release_of(folder)
    sweep_temporary(out.parent)
    draft = out.with_name(temporary_name())
    try:
        with storing(out.parent):
            draft.mkdir(parents=True)
        marks = _examine(folder, draft / DROPPED, rules, reader, embedder)
        root = folder if folder.is_dir() else folder.parent
        work = _Work(Hider(root, draft, Screens(reader, rules.phone_regions), rules), marks)
        written = tuple(_copy(file, draft, work) for file in files)
        write_card(draft)
        write_atomic(draft / MANIFEST, _manifest(release, written, work, folder).encode())
        if (draft / "images").exists():
            os.sync()  # pictures beside the lines: one by one they would take longer than the rest
        if out.exists():
            raise InvalidInput(f"{out} was made by somebody else meanwhile", hint="give a new folder")
        draft.rename(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Cleaned(files=written, dropped=marks.reasons, hidden=dict(work.hider.hidden), pictures=work.hider.pictures)


def _release_of(folder: Path) -> Release | None:
    """The manifest of a trainer's dataset; None where it is another, or none."""
    try:
        return read_manifest(folder / MANIFEST)
    except InvalidInput:
        return None


def _manifest(release: Release | None, written: tuple[ExportFile, ...], work: _Work, folder: Path) -> str:
    """Of a trainer's dataset its own manifest, with what is left of it, so that trainers can be pointed at the copy."""
    if release is None:
        return json.dumps({"files": [file.model_dump() for file in written]}, indent=2)
    splits: Counter[str] = Counter()
    for file in data_files(folder):
        splits[file.split] += sum(item.rows for item in written if item.name == file.name)
    changes = {
        "files": written,
        "splits": {name: rows for name, rows in sorted(splits.items()) if rows},
        "rounds": work.tally.deltas(),
        "weights": work.tally.weights(),
        "dropped": dict(sorted((Counter(release.dropped) + Counter(work.marks.reasons)).items())),
        "cleaned": True,
    }
    return release.model_copy(update=changes).model_dump_json(indent=2) + "\n"


class _Marks:
    """Which rows are left out, one bit a row, and how many for which check."""

    def __init__(self) -> None:
        self._bits: dict[str, bytearray] = {}
        self.reasons: dict[str, int] = {}

    def add(self, problem: Problem, number: int) -> None:
        if not self.has(problem.file, number):
            bits = self._bits.setdefault(problem.file, bytearray())
            bits.extend(bytes(max(0, number // 8 + 1 - len(bits))))
            bits[number // 8] |= 1 << number % 8
            self.reasons[problem.check] = self.reasons.get(problem.check, 0) + 1

    def has(self, file: str, number: int) -> bool:
        bits = self._bits.get(file, b"")
        return number // 8 < len(bits) and bool(bits[number // 8] >> number % 8 & 1)


def _examine(folder: Path, told: Path, rules: Rules, reader: ScreenReader, embedder: Embedder | None) -> _Marks:
    marks = _Marks()
    kinds = {file.name: file.kind for file in data_files(folder)}
    with told.open("w", encoding="utf-8") as out, Examination(folder, rules, embedder=embedder, reader=reader) as all_:
        for problem, number in all_.run():
            if problem.level != "blocking" or (problem.check in _HIDDEN and kinds.get(problem.file) != "rl"):
                continue
            if number < 0:
                if problem.check in ("readable", "schema", "manifest"):
                    raise IntegrityError(f"{folder / problem.file}: {problem.detail}", hint="export it again")
                continue
            marks.add(problem, number)
            out.write(problem.to_json() + "\n")
    return marks


@dataclass
class _Work:
    """What all files of one run share."""

    hider: Hider
    marks: _Marks
    tally: Tally = field(default_factory=Tally)


def _copy(file: DataFile, draft: Path, work: _Work) -> ExportFile:
    def kept() -> Iterator[dict[str, Any]]:
        left = (row for row in rows(file) if not work.marks.has(file.name, row.number))
        for _, sample in groupby(left, key=lambda row: row.id.removesuffix(f"/{row.values.get('step')}")):
            count = 0
            for row in sample:  # a sample's rows stand together
                yield row.values if file.kind == "rl" else work.hider.row(row.values, file.kind)
                count += 1
            work.tally.add(*_facts(row.values, file), count)

    if file.path.suffix == ".parquet":
        written = write_rows(draft / file.name, pq.read_schema(file.path), kept())
    else:
        written = _write_lines(draft / file.name, kept())
    return written.model_copy(update={"name": file.name})


def _write_lines(path: Path, kept: Iterator[dict[str, Any]]) -> ExportFile:
    count, sha = 0, hashlib.sha256()
    with atomic_file(path) as file:
        for count, values in enumerate(kept, 1):  # noqa: B007 (it is the number of lines)
            line = (json.dumps(values, ensure_ascii=False) + "\n").encode()
            sha.update(line)
            file.write(line)
    return ExportFile(name=path.name, rows=count, bytes=path.stat().st_size, sha256=sha.hexdigest())


def _facts(values: Mapping[str, Any], file: DataFile) -> tuple[int, tuple[str, int, int]]:
    """A row's round and its cell of domain, K and N, in the profile's own place for them."""
    told = values.get("metadata") or values.get("extra_info") or values
    told = json.loads(told) if isinstance(told, str) else told
    named = _ROUND.search(file.name)
    number = told.get("round") or values.get("round") or (named[1] if named else 0)
    return int(number), (told.get("domain") or "", told.get("K") or 0, told.get("N") or 0)
