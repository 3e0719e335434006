"""What a closed stage holds: manifest.json."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cuamaster.records.record import Record, content_id

Kind = Literal["kept", "dropped"]
KINDS: tuple[Kind, ...] = ("kept", "dropped")


class FileEntry(Record):
    """One finished file: its name in the stage folder, rows, bytes and SHA-256."""

    name: str
    rows: int
    bytes: int
    sha256: str


class Manifest(Record):
    """What a closed stage holds; `inputs_hash` is '' while it is open again."""

    stage: str
    inputs_hash: str
    files: tuple[FileEntry, ...]
    items: tuple[str, ...] = Field(description="part names of all finished items, sorted")

    def named(self, kind: Kind) -> tuple[FileEntry, ...]:
        """Files of one kind, in order."""
        return tuple(entry for entry in self.files if entry.name.startswith(kind))

    def rows(self, kind: Kind) -> int:
        """Rows of one kind."""
        return sum(entry.rows for entry in self.named(kind))

    def digest(self) -> str:
        """Hash of the kept files: what the next stage may use as its inputs_hash."""
        return content_id("kept", [entry.sha256 for entry in self.named("kept")])
