"""Records survive the trip through Parquet, in typed columns where they can be."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cuamaster.action_space import CUAAction
from cuamaster.errors import IntegrityError, InvalidInput
from cuamaster.records.condition import All, FileExists, FileText, Not
from cuamaster.records.episode import Dropped, Episode, Node
from cuamaster.records.record import Record
from cuamaster.records.trajectory import Action, Lineage, Observation, Step, Target, Trajectory
from cuamaster.records.video import Video
from cuamaster.tables import from_row, read_table, schema_of, table_of, to_row, write_atomic
from cuamaster.tables.files import parquet

VIDEO = Video(
    source="local",
    source_id="a",
    url="file:///a",
    title="Ä “quoted”\n",
    categories=("x", "y"),
    duration=None,
    view_count=7,
)


def _trajectory() -> Trajectory:
    seen = Observation(screenshot="0" * 64, width=1280, height=800, t=1.5)
    click = Action(
        action=CUAAction("mouse.click", {"x": 0, "y": 999.5, "modifiers": ["ctrl"]}), target=Target(text="Save As…")
    )
    return Trajectory(
        origin="video", task_id="t", instruction="Speichern", app="mousepad", steps=(Step(observation=seen, actions=(click,)),), final=seen,
        start_state=(Not(of=FileExists(path="~/a.txt")),), verifier=All(of=(FileText(path="~/a.txt", text="milk\n"),)),
        lineage=Lineage(video_id="v", t_start=1.0, primitive_ids=("p.q-1",)),
    )  # fmt: skip


def _episode() -> Episode:
    seen = Observation(screenshot="1" * 64, width=10, height=10)
    node = Node(
        index=0, parent=-1, observation=seen, actions=(Action(action=CUAAction("wait", {"seconds": 1})),), use=None
    )
    return Episode(
        id="episode-1", task_id="t", policy="replay", mode="mixed", outcome="infra", verdict=None, nodes=(node,)
    )


@pytest.mark.parametrize(
    "record",
    [VIDEO, _trajectory(), _episode(), Dropped(item_id="i", stage="s", reason="r")],
    ids=lambda r: type(r).__name__,
)
def test_round_trip(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "one.parquet"
    write_atomic(path, parquet(table_of([record], type(record))))
    assert read_table(path, type(record)) == [record]
    assert pq.read_schema(path).names[0] == "id"


def test_columns_are_typed_and_nested_ones_are_json() -> None:
    schema = schema_of(Video)
    assert schema.field("view_count").type == pa.int64() and schema.field("duration").type == pa.float64()
    assert schema.field("categories").type == pa.list_(pa.string())
    names = schema_of(Episode).names
    assert "nodes_json" in names and "nodes" not in names and names.count("id") == 1
    assert schema_of(Episode).field("first_attempt_passed").type == pa.bool_()


def test_a_row_without_own_id_gets_one_from_its_content() -> None:
    first, second = (to_row(Dropped(item_id=item, stage="s", reason="r"))["id"] for item in "ab")
    assert first.startswith("dropped-") and first != second


def test_missing_column_takes_the_default_and_a_missing_required_one_is_an_error() -> None:
    row = to_row(VIDEO)
    del row["description"]
    assert from_row(row, Video) == VIDEO
    del row["url"]
    with pytest.raises(IntegrityError, match="url"):
        from_row(row, Video)


def test_foreign_and_damaged_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    write_atomic(path, parquet(table_of([VIDEO], Video)))
    with pytest.raises(IntegrityError, match="Video records, not Dropped"):
        read_table(path, Dropped)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(IntegrityError, match=r"v\.parquet"):
        read_table(path, Video)
    with pytest.raises(InvalidInput, match="Dropped"):
        table_of([VIDEO, Dropped(item_id="i", stage="s", reason="r")], Video)
