"""A stream of samples, tasks, pairs or elements into a folder: shards by split and round, pictures, dropped.jsonl."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cuamaster.errors import IntegrityError, InvalidAction, MediaError
from cuamaster.exports.elements import Element
from cuamaster.exports.manifest import DROPPED
from cuamaster.exports.options import Options
from cuamaster.exports.pairs import Pair
from cuamaster.exports.pictures import Album, lost
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.rl import Released
from cuamaster.exports.rounds import Tally
from cuamaster.exports.sample import Sample
from cuamaster.exports.shards import Shards
from cuamaster.exports.splits import lineage_keys, split_of
from cuamaster.exports.turns import Row
from cuamaster.exports.writer import ExportFile
from cuamaster.ports import Store
from cuamaster.records.episode import Dropped
from cuamaster.tables import write_atomic

Item = Sample | Released | Pair | Element


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
    """The rows of an item with their pictures; what cannot be said is told before the first of them."""
    try:
        for row in profile.rows(item, options):
            yield row if isinstance(row, Dropped) else _shown(row, item, album)
    except InvalidAction as exc:
        yield Dropped(item_id=_id(item), stage="export", reason="not-in-dialect", detail=str(exc))


def _shown(row: Row, item: Item, album: Album) -> Row | Dropped:
    try:
        return {**row, "images": album.show(row.get("images", ()))}
    except (IntegrityError, MediaError) as exc:
        return Dropped(item_id=row.get("id") or _id(item), stage="export", reason=lost(exc), detail=str(exc))


@contextlib.contextmanager
def _drops(folder: Path, found: Written) -> Iterator[Callable[[Dropped], None]]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / DROPPED).open("w", encoding="utf-8") as file:

        def drop(item: Dropped) -> None:
            found.dropped[item.reason] += 1
            file.write(item.to_json() + "\n")

        yield drop
        file.flush()
        os.fsync(file.fileno())


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
