"""The examination: file by file and row by row, then what only the whole dataset shows: repeats, leaks, balance."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cuamaster.errors import IntegrityError, UnreadableAnswer
from cuamaster.exports.answers import answers
from cuamaster.exports.columns import RL, SFT, schema
from cuamaster.exports.datafiles import DataFile, Row, data_files, rows
from cuamaster.exports.preflight.comparison import LONGEST, Comparison
from cuamaster.exports.preflight.decontaminate import Benchmarks
from cuamaster.exports.preflight.licenses import allowed, require_known
from cuamaster.exports.preflight.personal import find_personal
from cuamaster.exports.preflight.pictures import Found, Pictures, check_pictures, pictures_in
from cuamaster.exports.preflight.problem import EXPORT_RULES, Problem, Rules
from cuamaster.exports.preflight.screens import Screens
from cuamaster.exports.preflight.tasks import check_task
from cuamaster.exports.preflight.texts import instruction_of, texts_of, words_of
from cuamaster.exports.preflight.trajectories import check_trajectory, outside
from cuamaster.exports.writer import GROUP_BYTES
from cuamaster.ports import Embedder, ScreenReader

MAX_GROUP_BYTES = 4 * GROUP_BYTES
"""A group closes with the row that fills it, so one huge row may stand above GROUP_BYTES, but not far."""
MANIFEST = "manifest.json"
_BATCH = 64
_ROW_FAULTS = (KeyError, TypeError, AttributeError, IndexError, ValueError)
"""What a row of a shape that no check foresaw raises; it becomes a problem of that row, and the rest goes on."""


def preflight(folder: Path, rules: Rules = EXPORT_RULES) -> list[Problem]:
    """What forbids to release the data files under `folder`, by default as every export is checked; [] if nothing does."""
    return [problem for problem in problems(folder, rules) if problem.level == "blocking"]


def problems(
    folder: Path, rules: Rules, *, embedder: Embedder | None = None, reader: ScreenReader | None = None
) -> Iterator[Problem]:
    """Everything that is wrong, as it is found. Raises InvalidInput for a benchmark or license that cannot be used.

    With an `embedder` benchmarks are also compared by meaning; with a `reader` pictures are read for secrets and personal data.
    """
    with Examination(folder, rules, embedder=embedder, reader=reader) as examination:
        yield from (problem for problem, _ in examination.run())


Told = Iterator[tuple[Problem, int]]
"""A problem and the number of its row in the file, -1 for the file itself."""


class Examination:
    """One pass over a dataset; everything that it must remember of the rows is on disk or bounded."""

    def __init__(
        self, folder: Path, rules: Rules, *, embedder: Embedder | None = None, reader: ScreenReader | None = None
    ) -> None:
        self._place, self._rules = folder, rules
        self._root = folder if folder.is_dir() else folder.parent
        self._screens = Screens(reader, rules.phone_regions) if reader is not None else None
        if rules.wants("license"):
            require_known(rules.licenses)
        self._benchmarks = Benchmarks(
            rules.benchmarks,
            ngram=rules.ngram,
            overlap=rules.overlap,
            similarity=rules.similarity,
            embedder=embedder if rules.wants("contaminated-meaning") else None,
        )
        self._waiting: list[tuple[Row, str]] = []

    def __enter__(self) -> Examination:
        with ExitStack() as stack:
            self._pictures = stack.enter_context(Pictures())
            self._comparison = stack.enter_context(Comparison(self._rules, self._root))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *fault: object) -> None:
        self._stack.close()

    def run(self) -> Told:
        """Problems in the order in which they are found."""
        files = data_files(self._place)
        for name, detail in self._manifest(files):
            yield from self._problem("manifest", detail, name)
        for file in files:
            try:
                yield from self._file(file)
            except IntegrityError as exc:
                yield from self._problem("readable", exc.message, file.name)
        yield from self._meanings()
        for check, detail, place in self._comparison.told():
            yield from self._problem(check, detail, *((place.file, place.row, place.number) if place else ()))

    def _problem(self, check: str, detail: str, file: str = "", row: str = "", number: int = -1) -> Told:
        level = self._rules.level(check)
        if level != "off":
            yield Problem(file=file, row=row, check=check, detail=detail, level=level), number

    def _file(self, file: DataFile) -> Told:
        for check, detail in _check_file(file):
            yield from self._problem(check, detail, file.name)
        if file.kind != "other" and not _documented(file):
            yield from self._problem("schema", "columns, types or features are not the documented ones", file.name)
            return
        for row in rows(file):
            for check, detail in self._row(row):
                yield from self._problem(check, detail, file.name, row.id, row.number)
            if len(self._waiting) >= _BATCH:
                yield from self._meanings()

    # -- one row --------------------------------------------------------------------------------------------------------

    def _row(self, row: Row) -> Found:
        try:
            yield from self._shape(row)
            yield from self._said(row)
            self._comparison.add(row)
        except _ROW_FAULTS as exc:
            yield "steps", f"cannot be checked: {type(exc).__name__}: {exc}"

    def _shape(self, row: Row) -> Found:
        if row.file.kind == "sft":
            proofs = {"none"} if row.file.config == "unproven" else {"verified", "replayed"}
            yield from check_trajectory(row.values, proofs, self._pictures)
        elif row.file.kind == "rl":
            yield from check_task(row.values)
        else:
            images, names = pictures_in(row.values, self._root)
            yield from check_pictures(images, self._pictures, names)
            yield from _foreign_coordinates(row.values)

    def _said(self, row: Row) -> Found:
        rules, instruction = self._rules, instruction_of(row.values)
        if not words_of(instruction[:LONGEST]):
            yield "instruction", f"has no words: {instruction[:40]!r}"
        if len(instruction) > rules.longest_instruction:
            yield "long-instruction", f"{len(instruction)} characters"
        if rules.wants("secret", "personal", "trace"):
            for where, text in texts_of(row.values, row.file.kind):
                for span in find_personal(text, rules.phone_regions):
                    yield span.check, f"{span.kind} in {where}, characters {span.start}-{span.end}"
            if self._screens is not None:
                yield from self._screens.check(pictures_in(row.values, self._root)[0])
        if rules.wants("license", "license-unknown"):
            yield from self._licensed(row.values)
        if len(self._benchmarks) and rules.wants("contaminated", "contaminated-meaning"):
            told = self._benchmarks.overlap(instruction)
            if told:
                yield "contaminated", told
            else:
                self._waiting.append((replace(row, values={}), instruction))

    def _licensed(self, values: Mapping[str, Any]) -> Found:
        more = values.get("extra_info")
        if "license" not in values and isinstance(more, Mapping):  # where verl keeps what it does not read itself
            values = more
        stated, source = values.get("license"), values.get("video_id") or values.get("video_url")
        if stated:
            if not allowed(str(stated), self._rules.licenses):
                yield "license", f"{stated} is not allowed"
        elif source or "license" not in values:
            yield "license-unknown", f"nothing states the license of {source or 'this row'}"

    def _meanings(self) -> Told:
        found = self._benchmarks.meanings([text for _, text in self._waiting])
        for (row, _), told in zip(self._waiting, found, strict=True):
            if told:
                yield from self._problem("contaminated-meaning", told, row.file.name, row.id, row.number)
        self._waiting.clear()

    def _manifest(self, files: Iterable[DataFile]) -> Iterator[tuple[str, str]]:
        path = self._root / MANIFEST
        if not path.is_file() or self._place != self._root:
            return
        try:
            named = {item["name"]: item for item in json.loads(path.read_bytes())["files"] if "sha256" in item}
        except (ValueError, KeyError, TypeError) as exc:
            yield MANIFEST, f"cannot be read: {type(exc).__name__}: {exc}"
            return
        for name, item in named.items():
            file = self._root / name
            if not file.is_file():
                yield name, "is named by the manifest but is not there"
            elif _sha256(file) != item["sha256"]:
                yield name, "is not the file that the manifest names"
        for data in files:
            if named and data.name not in named:
                yield data.name, "is not named by the manifest"


def _check_file(file: DataFile) -> Found:
    if file.path.suffix != ".parquet":
        return
    try:
        with pq.ParquetFile(file.path) as opened:
            for index in range(opened.num_row_groups):
                group = opened.metadata.row_group(index)
                if group.total_byte_size > MAX_GROUP_BYTES and group.num_rows > 1:
                    yield "row-group", f"group {index} has {group.total_byte_size} bytes"
    except (pa.ArrowException, OSError, UnicodeDecodeError) as exc:
        raise IntegrityError(str(exc)) from exc


def _documented(file: DataFile) -> bool:
    return bool(pq.read_schema(file.path).equals(schema(SFT if file.kind == "sft" else RL), check_metadata=True))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _foreign_coordinates(values: Mapping[str, Any]) -> Found:
    """Steps in our action space, AgentNet's code or Qwen's calls wherever they lie, and the boxes of grounding rows: pixels of the
    picture, or thousandths."""
    for column in ((), ("chosen",), ("rejected",)):
        for index, answer in enumerate(answers(values, *column)):
            try:
                if answer.dialect is not None:
                    answer.dialect.parse(answer.text, answer.screen)
            except UnreadableAnswer as exc:  # other things that are no action are the importer's business
                if exc.field in ("x", "y"):
                    yield "coordinates", f"{''.join(column) or 'step'} {index}: {exc.message}"
    for name in ("steps_json", "steps"):
        value = values.get(name)
        yield from outside(json.loads(value) if isinstance(value, str) else value)
    for name in ("bbox", "point", "bbox_1000", "point_1000"):
        limits = (1000, 1000) if name.endswith("_1000") else (values.get("width"), values.get("height"))
        for index, place in enumerate(values.get(name) or ()):
            limit = limits[index % 2]
            if limit is not None and not 0 <= place <= limit:
                yield "coordinates", f"{name}[{index}] is {place}, the picture ends at {limit}"
