"""The window over the Parquet parts."""

from pathlib import Path

import duckdb
import pytest

from cuamaster.catalog import Catalog
from cuamaster.errors import IntegrityError, InvalidInput, UnknownName
from cuamaster.records.episode import Dropped
from cuamaster.records.record import Record
from cuamaster.records.video import Video
from cuamaster.tables import Workspace


def _video(name: str) -> Video:
    return Video(source="local", source_id=name, url=f"file:///{name}", title=name, categories=("a", "b"))


def _drop(name: str, stage: str, reason: str = "too-short") -> Dropped:
    return Dropped(item_id=name, stage=stage, reason=reason)


class _Newer(Record):
    """What a later version of a stage might write."""

    source_id: str
    extra: int = 0


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "it's here")
    one = workspace.round(1).stage("discover")
    one.write("q", [_video("a"), _video("b")], [_drop("c", "discover"), _drop("d", "discover")])
    one.close("h")
    one.write("later", [_video("e")])
    workspace.round(1).stage("seed-mine").write("a", [], [_drop("a", "seed-mine", "no-operation")])
    workspace.round(2).stage("discover").write("q", [_Newer(source_id="n", extra=3)])
    workspace.round(2).stage("filter").write("q", [_video("a")])
    return workspace


def test_views_span_rounds_shards_parts_and_schemas(workspace: Workspace) -> None:
    with Catalog(workspace) as catalog:
        assert catalog.views == ("discover", "dropped", "filter")
        rows = catalog.query("SELECT round, source_id, extra FROM discover ORDER BY 1, 2")
        assert [(r["round"], r["source_id"], r["extra"]) for r in rows] == [
            (1, "a", None),
            (1, "b", None),
            (1, "e", None),
            (2, "n", 3),
        ]
        assert catalog.query('SELECT len(categories) AS n FROM "filter"') == [{"n": 2}]
        assert catalog.query("SELECT count(*) AS n FROM dropped WHERE stage = $stage", {"stage": "seed-mine"}) == [
            {"n": 1}
        ]


def test_counts_and_reasons(workspace: Workspace) -> None:
    with Catalog(workspace) as catalog:
        assert catalog.counts(1) == {
            "discover": {"items": 2, "kept": 3, "dropped": 2},
            "seed-mine": {"items": 1, "kept": 0, "dropped": 1},
        }
        assert catalog.counts(9) == {}
        assert catalog.reasons(1)[0] == {"stage": "discover", "reason": "too-short", "n": 2}
    with Catalog(Workspace(workspace.root / "empty")) as empty:
        assert empty.views == () and empty.reasons(1) == []


def test_find(workspace: Workspace) -> None:
    with Catalog(workspace) as catalog:
        stage, row = catalog.find(_video("b").id)
        assert (stage, row["source_id"], row["round"]) == ("discover", "b", 1)
        stage, row = catalog.find("d")
        assert (stage, row["reason"]) == ("dropped", "too-short")
        with pytest.raises(UnknownName, match="nobody"):
            catalog.find("nobody")


def test_a_stage_that_is_closed_meanwhile_is_read_again(workspace: Workspace) -> None:
    with Catalog(workspace) as catalog:
        workspace.round(2).stage("filter").write("more", [_video("z")])
        workspace.round(2).stage("filter").close("h")
        assert catalog.query('SELECT count(*) AS n FROM "filter"') == [{"n": 2}]


def test_errors_name_what_is_wrong(workspace: Workspace) -> None:
    with Catalog(workspace) as catalog, pytest.raises(InvalidInput, match="nonsense"):
        catalog.query("SELECT * FROM nonsense")
    (workspace.round(1).stage("discover").folder / "kept-00000.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(IntegrityError, match="kept-00000"):
        Catalog(workspace)


def test_saved_file_opens_for_others(workspace: Workspace) -> None:
    with Catalog(workspace) as catalog:
        path = catalog.save(workspace.root / "catalog.duckdb")
        with duckdb.connect(str(path), read_only=True) as other:
            assert other.execute("SELECT count(*) FROM discover").fetchall() == [(4,)]
            catalog.save(path)
