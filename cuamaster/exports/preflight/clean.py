"""A copy of a dataset that may be released: rows that a preflight blocks are left out, personal data is made unreadable.

Texts get placeholders ([email 1], the same wherever the value stands in a row); the regions of screenshots that show such a value
become a mosaic. Trajectories are rendered again from the changed steps, so that all columns go on saying the same. A task is never
changed, since its certificate is of the task as it was: one that holds personal data is left out.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cuamaster.dialects import qwen
from cuamaster.errors import IntegrityError, InvalidInput, storing
from cuamaster.exports.card import write_card
from cuamaster.exports.datafiles import DataFile, data_files, rows
from cuamaster.exports.manifest import Release, read_manifest
from cuamaster.exports.preflight.check import MANIFEST, Examination
from cuamaster.exports.preflight.personal import find_personal
from cuamaster.exports.preflight.problem import Problem, Rules
from cuamaster.exports.preflight.screens import Screens
from cuamaster.exports.preflight.texts import rewritten, texts_of
from cuamaster.exports.rounds import Tally
from cuamaster.exports.sft import conversation
from cuamaster.exports.writer import ExportFile, write_rows
from cuamaster.ports import Embedder, ScreenReader
from cuamaster.records.record import Record, canonical_json
from cuamaster.records.trajectory import Step
from cuamaster.tables import write_atomic
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

    Raises InvalidInput when `out` is there already or holds no Parquet, IntegrityError when a file is damaged.
    """
    if out.exists():
        raise InvalidInput(f"{out} is there already", hint="give a new folder")
    files = data_files(folder)
    foreign = [file.name for file in files if file.path.suffix != ".parquet"]
    if foreign or not files:
        told = f"{', '.join(foreign[:3])}: only Parquet is cleaned" if foreign else f"{folder}: no Parquet files"
        raise InvalidInput(
            told, hint="write the dataset in a profile of Parquet files, or leave the rows out that preflight names"
        )
    release = _release_of(folder)
    sweep_temporary(out.parent)
    draft = out.with_name(temporary_name())
    try:
        with storing(out.parent):
            draft.mkdir(parents=True)
        marks = _examine(folder, draft / DROPPED, rules, reader, embedder)
        work = _Work(Screens(reader, rules.phone_regions), rules, marks)
        written = tuple(_copy(file, draft, work) for file in files)
        write_card(draft)
        write_atomic(draft / MANIFEST, _manifest(release, written, work, folder).encode())
        if out.exists():
            raise InvalidInput(f"{out} was made by somebody else meanwhile", hint="give a new folder")
        draft.rename(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Cleaned(files=written, dropped=marks.reasons, hidden=dict(work.hidden), pictures=work.pictures)


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


class _Work:
    """What all rows of one run share."""

    def __init__(self, screens: Screens, rules: Rules, marks: _Marks) -> None:
        self.screens, self.rules, self.marks = screens, rules, marks
        self.hidden: Counter[str] = Counter()
        self.pictures = 0
        self.tally = Tally()


def _copy(file: DataFile, draft: Path, work: _Work) -> ExportFile:
    def kept() -> Iterator[dict[str, Any]]:
        left = (row for row in rows(file) if not work.marks.has(file.name, row.number))
        for _, sample in groupby(left, key=lambda row: row.id.removesuffix(f"/{row.values.get('step')}")):
            count = 0
            for row in sample:  # a sample's rows stand together
                yield row.values if file.kind == "rl" else _hidden(row.values, file.kind, work)
                count += 1
            work.tally.add(*_facts(row.values, file), count)

    written = write_rows(draft / file.name, pq.read_schema(file.path), kept())
    return written.model_copy(update={"name": file.name})


def _facts(values: Mapping[str, Any], file: DataFile) -> tuple[int, tuple[str, int, int]]:
    """A row's round and its cell of domain, K and N, in the profile's own place for them."""
    told = values.get("metadata") or values.get("extra_info") or values
    told = json.loads(told) if isinstance(told, str) else told
    named = _ROUND.search(file.name)
    number = told.get("round") or values.get("round") or (named[1] if named else 0)
    return int(number), (told.get("domain") or "", told.get("K") or 0, told.get("N") or 0)


def _hidden(values: dict[str, Any], kind: str, work: _Work) -> dict[str, Any]:
    """The row without anything personal that its texts and pictures show; the same row if there is nothing."""
    regions = work.rules.phone_regions
    known = {
        text[span.start : span.end]: span.kind
        for _, text in texts_of(values, kind)
        for span in find_personal(text, regions)
        if work.rules.wants(span.check)
    }
    changed: dict[str, str] = {}

    def shown(image: dict[str, Any]) -> dict[str, Any]:
        fresh = work.screens.hidden(image["bytes"], known) if image.get("bytes") else None
        if fresh is None:
            return image
        digest = hashlib.sha256(fresh).hexdigest()
        changed[hashlib.sha256(image["bytes"]).hexdigest()] = digest
        return {"bytes": fresh, "path": f"{digest}.png"}

    pictures: dict[str, Any] = {}
    if values.get("images"):
        pictures["images"] = [shown(image) for image in values["images"]]
    if isinstance(values.get("image"), dict):
        pictures["image"] = shown(values["image"])
    if not known and not changed:
        return values
    work.hidden.update(known.values())
    work.pictures += len(changed)
    change = _placeholders(known)
    fresh_row = {**rewritten(values, change), **pictures}
    return _rendered(fresh_row, changed) if kind == "sft" else fresh_row


def _placeholders(known: Mapping[str, str]) -> Callable[[str], str]:
    numbers: Counter[str] = Counter()
    names: dict[str, str] = {}
    for value, kind in known.items():
        numbers[kind] += 1
        names[value] = "user" if kind == "path" else f"[{kind} {numbers[kind]}]"
    longest = sorted(names, key=len, reverse=True)  # one value may be part of another

    def change(text: str) -> str:
        for value in longest:
            text = text.replace(value, names[value])
        return text

    return change


def _rendered(row: dict[str, Any], pictures: Mapping[str, str]) -> dict[str, Any]:
    """A trajectory's other columns, made again from its steps."""
    steps = []
    for plain in json.loads(row["steps_json"]):
        seen = plain["observation"]
        seen["screenshot"] = pictures.get(seen["screenshot"], seen["screenshot"])
        steps.append(Step.model_validate(plain))
    messages = qwen.render_steps(steps, instruction=row["instruction"], mode=row["mode"])
    return {
        **row,
        "steps_json": canonical_json([step.model_dump(mode="json") for step in steps]),
        "messages": json.dumps(messages, ensure_ascii=False),
        "conversation": conversation(messages),
    }
