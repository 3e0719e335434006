"""Files of bounded size by split and round: `train/r001-00000.parquet`; a later round adds files and changes none."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from cuamaster.errors import storing
from cuamaster.exports.columns import schema
from cuamaster.exports.options import Options
from cuamaster.exports.profiles.profile import Profile
from cuamaster.exports.turns import Row
from cuamaster.exports.writer import ExportFile, RowFile, parquet_file

SHARD_BYTES = 256 << 20


class LineFile:
    """Rows on their way into a file of JSON lines, their pictures in the line or beside the file."""

    def __init__(self, path: Path, profile: Profile, folder: Path) -> None:
        self.rows = self.bytes = 0
        self._path, self._profile, self._folder = path, profile, folder
        self._sha = hashlib.sha256()
        with storing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb")

    def add(self, row: Row) -> None:
        """Append a row."""
        assert self._profile.line is not None
        pictures = [{**image, "path": self._placed(image)} if self._profile.files else image for image in row["images"]]
        line = (json.dumps(self._profile.line(row, pictures), ensure_ascii=False) + "\n").encode()
        with storing(self._path):
            self._file.write(line)
        self._sha.update(line)
        self.rows += 1
        self.bytes += len(line)

    def _placed(self, image: dict[str, Any]) -> str:
        """Where the picture lies below the dataset's folder: once, whatever shows it."""
        place = f"images/{image['path'][:2]}/{image['path']}"
        path = self._folder / place
        if not path.exists():
            with storing(path.parent):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(image["bytes"])
        return place

    def __enter__(self) -> LineFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with storing(self._path), self._file:
            self._file.flush()
            os.fsync(self._file.fileno())

    def written(self) -> ExportFile:
        """What the file is."""
        return ExportFile(name=self._path.name, rows=self.rows, bytes=self.bytes, sha256=self._sha.hexdigest())


class Shards:
    """Takes rows in the order of their rounds; at most one file a split is open."""

    def __init__(self, profile: Profile, options: Options, folder: Path) -> None:
        self.files: list[ExportFile] = []
        self._profile, self._folder = profile, folder
        self._schema: pa.Schema | None = schema(profile.columns(options)) if profile.columns else None
        self._open: dict[str, tuple[int, contextlib.ExitStack, RowFile | LineFile]] = {}
        self._count: dict[tuple[str, int], int] = {}

    def add(self, split: str, round_number: int, row: Row) -> None:
        """Append a row to the newest file of its split and round."""
        current = self._open.get(split)
        if current is not None and (current[0] != round_number or current[2].bytes >= SHARD_BYTES):
            self._close(split)
        if split not in self._open:
            number = self._count.get((split, round_number), 0)
            self._count[split, round_number] = number + 1
            stack = contextlib.ExitStack()
            self._open[split] = (
                round_number,
                stack,
                stack.enter_context(self._new(split, f"r{round_number:03d}-{number:05d}")),
            )
        self._open[split][2].add(self._row(row))

    def _new(self, split: str, stem: str) -> contextlib.AbstractContextManager[RowFile | LineFile]:
        if self._schema is None:
            return LineFile(self._folder / split / f"{stem}.jsonl", self._profile, self._folder)
        return parquet_file(self._folder / split / f"{stem}.parquet", self._schema)

    def _row(self, row: Row) -> Row:
        """A single-picture column takes the first of the pictures."""
        if self._schema is not None and "image" in self._schema.names:
            return {**row, "image": row["images"][0], "images": ()}
        return row

    def _close(self, split: str) -> None:
        _, stack, file = self._open.pop(split)
        stack.close()
        written = file.written()
        self.files.append(written.model_copy(update={"name": f"{split}/{written.name}"}))

    def close(self) -> None:
        """Finish the files that are open."""
        for split in sorted(self._open):
            self._close(split)
        if self._profile.files:
            os.sync()  # the pictures too: one by one they would take longer than the rest

    def __enter__(self) -> Shards:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _, stack, _ in self._open.values():  # left by an error: nothing of it keeps its name
            stack.__exit__(kind, error, trace)
        self._open.clear()
