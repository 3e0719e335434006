"""An exported dataset as a trainer is pointed at it: checked against what the engine reads, or refused with what to do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from cuamaster.errors import IntegrityError, InvalidInput
from cuamaster.exports.manifest import MANIFEST, read_manifest
from cuamaster.exports.options import Options
from cuamaster.records.record import Record
from cuamaster.training.recipe import Method

Engine = Literal["trl", "ms-swift", "verl"]
ENGINES: tuple[Engine, ...] = ("trl", "ms-swift", "verl")
PROFILES: Mapping[tuple[Method, Engine], str] = MappingProxyType(
    {
        ("sft", "trl"): "trl",
        ("sft", "ms-swift"): "ms-swift",
        ("sft", "verl"): "verl-sft",
        ("grpo", "trl"): "trl-grpo",
        ("grpo", "ms-swift"): "trl-grpo",
        ("grpo", "verl"): "verl",
    }
)
"""Which profile of `cuamaster export` a method of an engine reads."""


class Data(Record):
    """A dataset that fits: where it lies (absolute), its release, rows by split, and how it was exported."""

    folder: Path
    version: str
    rows: dict[str, int]
    options: Options

    def files(self, split: str) -> list[str]:
        """Absolute paths of a split's Parquet files, in order; none for a split that holds no rows."""
        return [str(path) for path in sorted((self.folder / split).glob("*.parquet"))]

    @property
    def tested(self) -> bool:
        """Whether there is a test split."""
        return self.rows.get("test", 0) > 0


def data_for(method: Method, engine: Engine, folder: Path) -> Data:
    """The dataset in `folder`, fit for this method of this engine.

    Raises InvalidInput when no dataset is there, it is of another profile, or its train split is empty; IntegrityError when
    files that its manifest names are gone or cut off.
    """
    wanted = PROFILES[method, engine]
    again = f"cuamaster export --profile {wanted} --out FOLDER"
    if not (folder / MANIFEST).is_file():
        raise InvalidInput(f"{folder} holds no dataset", hint=f"write one: {again}")
    release = read_manifest(folder / MANIFEST)
    if release.profile != wanted:
        raise InvalidInput(
            f"{folder} is of profile {release.profile}; {engine} {method} reads {wanted}", hint=f"write one: {again}"
        )
    if not release.splits.get("train"):
        raise InvalidInput(
            f"{folder}: the train split holds no rows",
            hint=f"manifest.json says what was left out: {dict(release.dropped)}",
        )
    for file in release.files:
        path = folder / file.name
        if not path.is_file() or path.stat().st_size != file.bytes:
            raise IntegrityError(
                f"{path}: gone, or not what it was when the dataset was written", hint=f"make it again: {again}"
            )
    return Data(folder=folder.resolve(), version=release.version, rows=dict(release.splits), options=release.options)
