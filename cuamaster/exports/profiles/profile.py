"""What a profile is: which stream it takes, the columns or lines it makes of it, and how its trainer is pointed at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cuamaster.exports.columns import Columns
from cuamaster.exports.options import Options
from cuamaster.exports.turns import Row
from cuamaster.records.episode import Dropped

Stream = Literal["trajectories", "tasks", "pairs", "elements"]
Rows = Callable[[Any, Options], Iterator[Row | Dropped]]
"""One item of the stream -> its rows, pictures as `Picture`s; raises InvalidAction for what the dialect cannot say."""
Line = Callable[[Row, list[dict[str, Any]]], Any]
"""A row and its pictures (`bytes`, `path`) -> what one line of JSON holds."""


@dataclass(frozen=True)
class Profile:
    """`columns` for Parquet, or `line` for lines of JSON; `files`: pictures lie beside the lines, under images/."""

    name: str
    stream: Stream
    rows: Rows
    use: str
    """How a trainer is given the folder: one or two lines for its README."""
    columns: Callable[[Options], Columns] | None = None
    line: Line | None = None
    files: bool = False
    extras: Callable[[Options, list[str]], Mapping[str, Any]] = lambda _options, _splits: {}
    """Further files for the trainer, name -> JSON data, given the splits that hold rows."""
