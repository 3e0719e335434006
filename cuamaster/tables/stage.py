"""One stage's folder: items finish one by one and atomically; closing compacts them and names them in the manifest."""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock
from pydantic import ValidationError

from cuamaster.errors import IntegrityError, InvalidInput, storing
from cuamaster.records.episode import Dropped
from cuamaster.records.record import Record, content_id
from cuamaster.tables.claims import claim
from cuamaster.tables.files import parquet, sweep_temporary, sync_folder, temporary_name, write_atomic
from cuamaster.tables.manifest import KINDS, Kind, Manifest
from cuamaster.tables.rows import R, iter_table, table_of
from cuamaster.tables.shards import joined, of_item, sha256_of, without, write_shards

_LOCK_SECONDS = 600
_READ_TRIES = 20
_REDO = "delete the stage's folder and run it again"


class StageFolder:
    """One stage of one round."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self._parts = folder / "parts"
        self._manifest_path = folder / "manifest.json"
        self._seen: tuple[tuple[int, int, int], Manifest, frozenset[str]] | None = None

    def manifest(self) -> Manifest | None:
        """What was closed last, or None; raises IntegrityError."""
        try:
            stat = self._manifest_path.stat()
            stamp = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            if self._seen is None or self._seen[0] != stamp:
                manifest = Manifest.model_validate_json(self._manifest_path.read_bytes())
                self._seen = (stamp, manifest, frozenset(manifest.items))
        except FileNotFoundError:
            self._seen = None
        except ValidationError as exc:
            raise IntegrityError(f"{self._manifest_path}: {exc}", hint=_REDO) from exc
        return self._seen[1] if self._seen else None

    def _closed(self) -> frozenset[str]:
        self.manifest()
        return self._seen[2] if self._seen else frozenset()

    def _pending(self) -> list[str]:
        """Finished items that the manifest does not name, sorted."""
        for _ in range(_READ_TRIES):
            closed = self._closed()
            names = {path.name for path in self._parts.glob("*") if not path.name.startswith(".")}
            if closed == self._closed():  # else somebody closed the stage between the two looks
                return sorted(names - closed)
        raise IntegrityError(f"{self.folder}: the manifest keeps changing", hint="is the stage being closed in a loop?")

    def has(self, item_id: str) -> bool:
        """Whether the item is done (also when nothing of it was kept)."""
        name = _part_name(item_id)
        return (self._parts / name).is_dir() or name in self._closed()

    def claim(self, item_id: str, *, wait: bool = False) -> AbstractContextManager[bool]:
        """Take an item in hand: True inside if no other process has it, see `claims.claim`."""
        return claim(self.folder / "claims" / _part_name(item_id), wait=wait)

    def items(self) -> int:
        """Number of finished items."""
        return len(self._pending()) + len(self._closed())

    def write(self, item_id: str, kept: Sequence[Record], dropped: Sequence[Dropped] = ()) -> None:
        """Finish an item: all its rows appear at once. If it was finished before, what is there stays. Raises StoreFull."""
        if self.has(item_id):
            return
        self.write_tables(item_id, *(table_of(rows, type(rows[0])) if rows else None for rows in (kept, dropped)))

    def write_tables(self, item_id: str, kept: pa.Table | None, dropped: pa.Table | None = None) -> None:
        """As `write`, for rows that are columns already; a table without rows is none."""
        if self.has(item_id):
            return
        tables = {
            kind: table
            for kind, table in zip(KINDS, (kept, dropped), strict=True)
            if table is not None and table.num_rows
        }
        temporary, name = self._parts / temporary_name(), _part_name(item_id)
        try:
            with storing(self.folder):
                temporary.mkdir(parents=True)
                for kind, table in tables.items():
                    write_atomic(temporary / f"{kind}.parquet", parquet(of_item(table, name)))
                _rename_unless_there(temporary, self._parts / name)
                sync_folder(self._parts)
        finally:
            if temporary.exists():
                shutil.rmtree(temporary)

    def files(self, kind: Kind) -> list[Path]:
        """The Parquet files that hold this stage's rows at this moment: closed shards, then parts."""
        pending = self._pending()
        manifest = self.manifest()
        shards = [self.folder / entry.name for entry in manifest.named(kind)] if manifest else []
        return [*shards, *self._part_files(kind, pending)]

    def kept(self, record_type: type[R]) -> list[R]:
        """All kept records; [] when the stage has not run. Raises IntegrityError for another record type."""
        return self._rows("kept", record_type)

    def count(self, kind: Kind = "kept") -> int:
        """Number of rows, without reading them."""
        return sum(pq.read_metadata(path).num_rows for path in self.files(kind))

    def dropped(self) -> list[Dropped]:
        """Everything not kept, with its reason."""
        return self._rows("dropped", Dropped)

    def _rows(self, kind: Kind, record_type: type[R]) -> list[R]:
        for _ in range(_READ_TRIES):
            with contextlib.suppress(FileNotFoundError):  # closed by somebody while we read: look again
                before = self._closed()
                rows = [record for path in self.files(kind) for record in iter_table(path, record_type)]
                if before == self._closed():
                    return rows
        raise IntegrityError(f"{self.folder}: a file that the manifest names is missing", hint=_REDO)

    def is_closed(self, inputs_hash: str) -> bool:
        """Closed over exactly these inputs, with nothing written since."""
        manifest = self.manifest()
        return manifest is not None and manifest.inputs_hash == inputs_hash and not self._pending()

    def close(self, inputs_hash: str) -> Manifest:
        """Compact the parts into shards and write the manifest last; doing it twice changes nothing. Raises StoreFull."""
        if not inputs_hash:
            raise InvalidInput("inputs_hash must not be empty", hint="hash what the stage was run over")
        with self._lock():
            manifest, pending = self.manifest(), self._pending()
            if manifest is None or manifest.inputs_hash != inputs_hash or pending:
                old = manifest or Manifest(stage=self.name, inputs_hash="", files=(), items=())
                self._remove_unnamed(old)
                new = tuple(
                    entry
                    for kind in KINDS
                    for entry in write_shards(self.folder, kind, joined(self._part_files(kind, pending)), old)
                )
                items = tuple(sorted({*old.items, *pending}))
                manifest = Manifest(stage=self.name, inputs_hash=inputs_hash, files=old.files + new, items=items)
                self._save(manifest)
            self._sweep()
            return manifest

    def reopen(self) -> None:
        """Let more items in; rows stay. The next `close` adds shards and names the new inputs."""
        if self.manifest() is not None:
            with self._lock():
                manifest = self.manifest()
                if manifest is not None and manifest.inputs_hash:
                    self._save(manifest.model_copy(update={"inputs_hash": ""}))

    def retain(self, item_ids: Iterable[str]) -> int:
        """Forget all finished items but these, rows included; returns how many went. The stage is open afterwards if any did."""
        wanted = {_part_name(item_id) for item_id in item_ids}
        if not {*self._pending(), *self._closed()} - wanted:
            return 0
        with self._lock():
            stale = [name for name in self._pending() if name not in wanted]
            for name in stale:
                trash = self._parts / temporary_name()
                (self._parts / name).rename(trash)
                shutil.rmtree(trash)
            manifest = self.manifest()
            gone = [name for name in manifest.items if name not in wanted] if manifest else []
            if manifest and gone:
                self._remove_unnamed(manifest)
                kept = tuple(entry for kind in KINDS for entry in without(self.folder, kind, gone, manifest))
                items = tuple(name for name in manifest.items if name in wanted)
                manifest = Manifest(stage=self.name, inputs_hash="", files=kept, items=items)
                self._save(manifest)
                self._remove_unnamed(manifest)
            return len(stale) + len(gone)

    def clear(self) -> None:
        """Forget everything the stage wrote, at one stroke."""
        if self.folder.exists():
            trash = self.folder.with_name(temporary_name())
            with storing(self.folder):
                self.folder.rename(trash)
                shutil.rmtree(trash)
        self._seen = None

    def verify(self) -> None:
        """Compare every closed file with the manifest; raises IntegrityError naming the first that differs."""
        manifest = self.manifest()
        for entry in manifest.files if manifest else ():
            path = self.folder / entry.name
            if not path.exists() or sha256_of(path) != entry.sha256:
                raise IntegrityError(f"{path}: missing, or not what the manifest says", hint=_REDO)

    def _part_files(self, kind: Kind, names: Iterable[str]) -> list[Path]:
        return [path for name in names if (path := self._parts / name / f"{kind}.parquet").exists()]

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """One process changes what is closed; raises StoreFull, StoreUnwritable for whatever is written inside."""
        with storing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / ".lock", timeout=_LOCK_SECONDS):
                yield

    def _save(self, manifest: Manifest) -> None:
        write_atomic(self._manifest_path, (manifest.to_json() + "\n").encode())
        self._seen = None

    def _remove_unnamed(self, manifest: Manifest) -> None:
        """Shards of a close that was killed before its manifest."""
        named = {entry.name for entry in manifest.files}
        for kind in KINDS:
            for path in self.folder.glob(f"{kind}-*.parquet"):
                if path.name not in named:
                    path.unlink()

    def _sweep(self) -> None:
        """Remove parts that the manifest holds now, and what killed writers left."""
        closed = self._closed()
        for path in self._parts.glob("*"):
            if path.name in closed:
                shutil.rmtree(path)
        for folder in (self.folder.parent, self.folder, self._parts):
            sweep_temporary(folder)


def _part_name(item_id: str) -> str:
    """A folder name for an item: its id if that is a safe name, else a hash of it."""
    safe = item_id.isascii() and len(item_id) <= 120 and item_id[:1].isalnum()
    return item_id if safe and all(char.isalnum() or char in "._-" for char in item_id) else content_id("item", item_id)


def _rename_unless_there(source: Path, target: Path) -> None:
    """Rename a folder; a target that is there and not empty stays, and the source is left to the caller."""
    try:
        source.rename(target)
    except OSError as exc:
        if exc.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
