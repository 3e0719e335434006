"""The DuckDB window over the workspace's Parquet: one view a stage over all rounds, rebuilt whenever it is opened.

Views: `<stage>` (kept rows) and `dropped` (with `stage`), both with a `round` column; `exports.<file>` for exported files.
The connection lives in memory, so any number of processes may look while others write.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cuamaster.errors import IntegrityError, InvalidInput, UnknownName
from cuamaster.tables import StageFolder, Workspace


class Catalog:
    """SQL over everything a workspace holds; a context manager. Raises IntegrityError for damaged files."""

    def __init__(self, workspace: Workspace) -> None:
        import duckdb

        self._error, self._file_error = duckdb.Error, duckdb.IOException
        self._workspace = workspace
        self._connection = duckdb.connect(":memory:")
        self._stages: dict[str, list[tuple[int, StageFolder]]] = {}
        self.refresh()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the connection."""
        self._connection.close()

    def refresh(self) -> None:
        """Look at the folders again; views name the files that were there at this moment."""
        self._stages = {}
        for number in self._workspace.rounds():
            folder = self._workspace.round(number)
            for name in folder.stages():
                self._stages.setdefault(name, []).append((number, folder.stage(name)))
        try:
            for statement in self._views():
                self._connection.execute(statement)
        except self._error as exc:
            raise IntegrityError(
                f"{self._workspace.root}: {exc}", hint="delete the damaged stage's folder and run it again"
            ) from exc

    def _views(self) -> Iterable[str]:
        dropped = []
        for name, folders in self._stages.items():
            kept = [(number, stage.files("kept")) for number, stage in folders]
            if any(files for _, files in kept):
                yield f"CREATE OR REPLACE VIEW {_quoted(_view(name))} AS {_union(kept)}"
            drops = [(number, stage.files("dropped")) for number, stage in folders]
            if any(files for _, files in drops):
                dropped.append(_union(drops))
        if dropped:
            yield f"CREATE OR REPLACE VIEW dropped AS {' UNION ALL BY NAME '.join(dropped)}"
        yield "CREATE SCHEMA IF NOT EXISTS exports"
        for path in sorted(self._workspace.exports.glob("*.parquet")):
            yield f"CREATE OR REPLACE VIEW exports.{_quoted(path.stem)} AS SELECT * FROM read_parquet({_text(path)})"

    @property
    def views(self) -> tuple[str, ...]:
        """Names that `query` can select from."""
        rows = self.query(
            "SELECT schema_name AS s, view_name AS v FROM duckdb_views() WHERE NOT internal ORDER BY s <> 'main', v"
        )
        return tuple(row["v"] if row["s"] == "main" else f"{row['s']}.{row['v']}" for row in rows)

    def query(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[dict[str, Any]]:
        """Rows of a SQL statement as dictionaries; raises InvalidInput with DuckDB's message."""
        try:
            try:
                return self._run(sql, parameters)
            except self._file_error:  # a stage was closed since we looked, and its parts are shards now
                self.refresh()
                return self._run(sql, parameters)
        except self._error as exc:
            raise InvalidInput(f"{exc}", hint="names of stages that are SQL words need double quotes") from exc

    def _run(self, sql: str, parameters: Sequence[object] | Mapping[str, object]) -> list[dict[str, Any]]:
        cursor = self._connection.execute(sql, parameters)
        names = [column[0] for column in cursor.description or []]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def counts(self, round_number: int) -> dict[str, dict[str, int]]:
        """Stage -> {"items": ..., "kept": ..., "dropped": ...} of one round; {} when there is no such round."""
        found = {}
        for name, folders in self._stages.items():
            for number, stage in folders:
                if number == round_number:
                    rows = {kind: self._rows(stage.files(kind)) for kind in ("kept", "dropped")}
                    found[name] = {"items": stage.items(), **rows}
        return found

    def _rows(self, files: Sequence[Path]) -> int:
        if not files:
            return 0
        return int(self.query(f"SELECT sum(num_rows)::BIGINT AS n FROM parquet_file_metadata({_list(files)})")[0]["n"])

    def reasons(self, round_number: int) -> list[dict[str, Any]]:
        """Why records were dropped in one round: rows of stage, reason, n; most frequent first."""
        if "dropped" not in self.views:
            return []
        return self.query(
            "SELECT stage, reason, count(*) AS n FROM dropped WHERE round = ? GROUP BY ALL ORDER BY n DESC, stage, reason",
            [round_number],
        )

    def find(self, record_id: str) -> tuple[str, dict[str, Any]]:
        """(stage, row) of a record by its id, newest round first; else the row in `dropped` of that item. Raises UnknownName."""
        views = self.views
        for name in self._stages:
            if _view(name) in views:
                rows = self.query(
                    f"SELECT * FROM {_quoted(_view(name))} WHERE id = ? ORDER BY round DESC LIMIT 1", [record_id]
                )
                if rows:
                    return name, rows[0]
        if "dropped" in views:
            rows = self.query(
                "SELECT * FROM dropped WHERE item_id = $id OR id = $id ORDER BY round DESC LIMIT 1", {"id": record_id}
            )
            if rows:
                return "dropped", rows[0]
        raise UnknownName(
            f"no record {record_id!r} in {self._workspace.root}", hint="`cuamaster show` lists what is there"
        )

    def save(self, path: Path) -> Path:
        """Write the views into a DuckDB file for other tools, replacing it in one step, so that nobody finds it locked."""
        import duckdb

        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".tmp-") as folder:
            temporary = Path(folder) / "catalog.duckdb"
            with duckdb.connect(str(temporary)) as file:
                for statement in self._views():
                    file.execute(statement)
            temporary.replace(path)
        return path


def _view(stage: str) -> str:
    return stage.replace("-", "_")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(path: Path) -> str:
    return "'" + str(path.resolve()).replace("'", "''") + "'"


def _list(files: Iterable[Path]) -> str:
    return "[" + ", ".join(_text(path) for path in files) + "]"


def _union(rounds: Iterable[tuple[int, Sequence[Path]]]) -> str:
    """SELECT over the files of each round; `hive_partitioning` off, because the round folder is named like a partition."""
    return " UNION ALL BY NAME ".join(
        f"SELECT {number} AS round, * FROM read_parquet({_list(files)}, union_by_name = true, hive_partitioning = false)"
        for number, files in rounds
        if files
    )
