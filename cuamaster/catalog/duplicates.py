"""Which candidates are the same video, over any number of rows: by source identity, by title, then by pairs that share a MinHash band."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cuamaster.errors import IntegrityError

if TYPE_CHECKING:
    import duckdb

DUPLICATES = ("duplicate-source", "duplicate-title", "near-duplicate")
"""Reasons, by the number that `Duplicates.reason` holds."""
NEIGHBOURS = 8
"""Rows of one band are sorted by duration and compared with this many before them: linear, however common a title is."""
SECONDS, SHARE = 2.0, 0.01
"""By how much, and by what share, durations may differ for a pair to be judged by its titles alone."""
LOOSE = 0.1
"""Share by which they may differ, if the descriptions begin alike: an intro cut off."""
MET = 2
"""Bands in which a pair must meet when a duration is unknown: titles that share .8 of their shingles do so with .9998 probability, those that share .4 with .1."""
PAIR_BATCH = 200_000


@dataclass(frozen=True)
class Pairs:
    """Pairs of candidates to judge, as columns; durations in seconds, -1 where unknown."""

    key_a: list[str]
    key_b: list[str]
    about_a: list[str]
    about_b: list[str]
    duration_a: npt.NDArray[np.float32]
    duration_b: npt.NDArray[np.float32]
    one_owner: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Duplicates:
    """Rows to drop, ascending, each with the reason's index and the row, id and title of what is kept in its place."""

    row: npt.NDArray[np.int64]
    reason: npt.NDArray[np.uint8]
    first: npt.NDArray[np.int64]
    first_id: list[str]
    first_key: list[str]
    pairs: int = 0

    def between(self, begin: int, end: int) -> Iterator[tuple[int, str, str, str]]:
        """(row, reason, id kept, its normalized title) of the rows in [begin, end)."""
        low, high = np.searchsorted(self.row, (begin, end))
        for index in range(int(low), int(high)):
            yield int(self.row[index]), DUPLICATES[self.reason[index]], self.first_id[index], self.first_key[index]


def find_duplicates(
    files: Sequence[Path],
    same: Callable[[Pairs], npt.NDArray[np.bool_]],
    *,
    scratch: Path,
    memory_mb: int = 700,
) -> Duplicates:
    """What to drop of the candidates whose sketches (columns of `seeding.sketch`) are in `files`.

    Of each group the earliest by (date, content) stays, so the order and the cut of the files change nothing. A candidate that is
    nearly the same as an earlier one goes only if that one stays: what is kept holds no pair that `same` calls one recording.
    Memory is bounded by `memory_mb` and about 60 bytes a row; the rest is spilled to `scratch`. Raises IntegrityError.
    """
    import duckdb

    if not files:
        nothing = np.zeros(0, np.int64)
        return Duplicates(nothing, nothing.astype(np.uint8), nothing, [], [])
    config: dict[str, Any] = {
        "memory_limit": f"{memory_mb}MB",
        "temp_directory": str(scratch),
        "preserve_insertion_order": "false",
    }
    try:
        with duckdb.connect(":memory:", config=config) as connection:
            return _find(connection, "[" + ", ".join(_text(path) for path in files) + "]", same)
    except duckdb.Error as exc:
        raise IntegrityError(f"{files[0].parent}: {exc}", hint="delete the stage's folder and run it again") from exc


def _find(
    connection: duckdb.DuckDBPyConnection, files: str, same: Callable[[Pairs], npt.NDArray[np.bool_]]
) -> Duplicates:
    run = connection.execute
    bands = [
        name for name in (row[0] for row in run(f"DESCRIBE SELECT * FROM read_parquet({files})").fetchall()) if name.startswith("band_")
    ]  # fmt: skip
    run(
        f"CREATE TABLE seen AS SELECT row, identity, title, owner, duration, begins, row_number() OVER (ORDER BY date, tie, row) AS rank"
        f" FROM read_parquet({files})"
    )
    run("CREATE TABLE gone (row BIGINT, first BIGINT, reason UTINYINT)")
    for reason, column in enumerate(("identity", "title")):
        run(
            f"INSERT INTO gone SELECT row, best, {reason} FROM seen JOIN"
            f" (SELECT {column} AS same, arg_min(row, rank) AS best FROM seen WHERE {column} <> 0 GROUP BY 1 HAVING count(*) > 1)"
            f" ON {column} = same WHERE row <> best"
        )
        run("CREATE OR REPLACE TABLE seen AS SELECT * FROM seen ANTI JOIN gone USING (row)")
    run("CREATE TABLE pairs (a BIGINT, b BIGINT, timed BOOLEAN)")
    lags = ", ".join(
        f"lag(rank, {step}) OVER w AS r{step}, lag(duration, {step}) OVER w AS d{step}, lag(begins, {step}) OVER w AS t{step}"
        for step in range(1, NEIGHBOURS + 1)
    )
    for band in bands:
        run(
            f"CREATE OR REPLACE TEMP TABLE met AS SELECT {band} AS band, rank, seen.duration, seen.begins FROM read_parquet({files}) JOIN seen USING (row) WHERE {band} <> 0"
        )
        run(
            f"CREATE OR REPLACE TEMP TABLE side AS SELECT rank, duration, begins, {lags} FROM met SEMI JOIN"
            " (SELECT band FROM met GROUP BY 1 HAVING count(*) > 1) USING (band) WINDOW w AS (PARTITION BY band ORDER BY duration, rank)"
        )
        run(
            "INSERT INTO pairs "
            + " UNION ALL ".join(
                f"SELECT least(rank, r{step}), greatest(rank, r{step}), duration >= 0 AND d{step} >= 0 FROM side WHERE r{step} IS NOT NULL AND"
                f" (duration < 0 OR d{step} < 0 OR abs(duration - d{step}) <= greatest({SECONDS}, {SHARE} * duration)"
                f" OR (begins = t{step} AND begins <> 0 AND abs(duration - d{step}) <= {LOOSE} * duration))"
                for step in range(1, NEIGHBOURS + 1)
            )
        )
    run(
        f"CREATE OR REPLACE TABLE pairs AS SELECT a, b FROM pairs GROUP BY a, b HAVING any_value(timed) OR count(*) >= {MET}"
    )
    run(
        "CREATE TABLE text AS SELECT rank, row, owner, seen.duration, key, about FROM"
        f" (SELECT row, key, about FROM read_parquet({files})) JOIN seen USING (row)"
        " WHERE rank IN (SELECT a FROM pairs UNION SELECT b FROM pairs)"
    )
    edges, count = _judged(connection, same)
    _drop_later(connection, edges)
    return _resolved(connection, files, count)


def _judged(
    connection: duckdb.DuckDBPyConnection, same: Callable[[Pairs], npt.NDArray[np.bool_]]
) -> tuple[npt.NDArray[np.int64], int]:
    """Pairs of ranks (earlier, later) that are one recording, and how many were looked at."""
    relation: Any = connection.sql(
        "SELECT a, b, x.key AS ka, y.key AS kb, x.about AS ta, y.about AS tb, x.duration AS da, y.duration AS db,"
        " (x.owner = y.owner AND x.owner <> 0) AS own FROM pairs JOIN text x ON a = x.rank JOIN text y ON b = y.rank"
    )
    found, count = [np.zeros((0, 2), np.int64)], 0
    for batch in relation.to_arrow_reader(PAIR_BATCH):
        part: dict[str, Any] = {name: batch.column(name) for name in batch.schema.names}
        numbers = {name: part[name].to_numpy(zero_copy_only=False) for name in ("a", "b", "da", "db", "own")}
        verdict = same(
            Pairs(
                key_a=part["ka"].to_pylist(), key_b=part["kb"].to_pylist(),
                about_a=part["ta"].to_pylist(), about_b=part["tb"].to_pylist(),
                duration_a=numbers["da"], duration_b=numbers["db"], one_owner=numbers["own"],
            )
        )  # fmt: skip
        found.append(np.stack((numbers["a"][verdict], numbers["b"][verdict]), axis=1))
        count += len(verdict)
    return np.concatenate(found), count


def _drop_later(connection: duckdb.DuckDBPyConnection, edges: npt.NDArray[np.int64]) -> None:
    """By rank: a candidate goes if an earlier one that stays is the same recording."""
    import pyarrow as pa

    order = np.lexsort((edges[:, 0], edges[:, 1]))
    instead: dict[int, int] = {}
    for early, late in edges[order].tolist():
        if late not in instead and early not in instead:
            instead[late] = early
    late_to_early = pa.table(  # noqa: F841  DuckDB finds it by its name
        {"late": pa.array(instead.keys(), pa.int64()), "early": pa.array(instead.values(), pa.int64())}
    )
    connection.execute(
        "INSERT INTO gone SELECT l.row, e.row, 2 FROM late_to_early JOIN seen l ON late = l.rank JOIN seen e ON early = e.rank"
    )


def _resolved(connection: duckdb.DuckDBPyConnection, files: str, pairs: int) -> Duplicates:
    """With what is kept in place of what was dropped too; three reasons make chains of three at most."""
    for _ in range(len(DUPLICATES) - 1):
        connection.execute(
            "CREATE OR REPLACE TABLE gone AS SELECT g.row, coalesce(f.first, g.first) AS first, g.reason FROM gone g"
            " LEFT JOIN gone f ON g.first = f.row"
        )
    rows = connection.execute("SELECT row, first, reason FROM gone ORDER BY row").fetchnumpy()
    names: Any = connection.sql(
        f"SELECT gone.row, id, key FROM gone JOIN (SELECT row, id, key FROM read_parquet({files})) k ON gone.first = k.row ORDER BY gone.row"
    ).to_arrow_table()
    return Duplicates(
        row=np.asarray(rows["row"], np.int64),
        reason=np.asarray(rows["reason"], np.uint8),
        first=np.asarray(rows["first"], np.int64),
        first_id=names.column("id").to_pylist(),
        first_key=names.column("key").to_pylist(),
        pairs=pairs,
    )


def _text(path: Path) -> str:
    return "'" + str(path.resolve()).replace("'", "''") + "'"
