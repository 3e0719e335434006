"""Records with anything in any place: an importer says what became of each, and never breaks, hangs or runs what it reads."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuamaster.adapters.stores.local import LocalStore
from cuamaster.importers.agentnet import read_agentnet
from cuamaster.importers.cua_lite import read_cua_lite
from cuamaster.importers.found import Found
from cuamaster.importers.osworld import task_of
from cuamaster.records.record import content_id
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Trajectory
from tests.importers.conftest import DATA, png
from tests.importers.test_cua_lite import MESSAGES, METADATA

TASKS = [json.loads(path.read_text()) for path in sorted((DATA / "osworld" / "examples").glob("*/*.json"))]
LINE = json.loads((DATA / "agentnet" / "agentnet_ubuntu.jsonl").read_text().splitlines()[0])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**6), 10**20), st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "type", "A1:B2", "rule", "infeasible", "..", "pyautogui.click(1, 2)", "x" * 3000, "{a}", "'", "\x00", "é\ud7ff", "half \ud800"]),
)  # fmt: skip
anything = st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)), max_leaves=4
)  # fmt: skip


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in JSON-like data."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


@st.composite
def spoiled(draw: st.DrawFn, whole: Any) -> Any:
    """The data with one to three places replaced, or left out."""
    data = copy.deepcopy(whole)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(places(data)))
        if not place:
            return draw(anything)
        holder = data
        for key in place[:-1]:
            holder = holder[key]
        if isinstance(holder, dict) and draw(st.booleans()):
            del holder[place[-1]]
        else:
            holder[place[-1]] = draw(anything)
    return data


def done(name: str) -> bool:
    """A `skip` that, like the real one, hashes the id."""
    return content_id("part", name) == ""


def accounted(item: Found) -> None:
    """Something was kept, and survives being stored, or a reason was given."""
    assert item.kept or item.dropped
    for record in item.kept:
        if isinstance(record, Task):
            assert Task.model_validate_json(record.to_json()).id == record.id
        else:
            assert Trajectory.model_validate_json(record.to_json()).id == record.id
    assert all(row.reason for row in item.dropped)
    for row in item.dropped:
        row.to_json().encode()
    item.id.encode()


@given(st.sampled_from(TASKS).flatmap(spoiled))
@settings(max_examples=300)
def test_osworld_tasks(data: Any) -> None:
    accounted(task_of(data, image="i", files=DATA / "osworld" / "files"))


@given(spoiled(LINE))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_agentnet_lines(tmp_path: Path, data: Any) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(data) + "\n")
    (item,) = read_agentnet(path, LocalStore(tmp_path / "blobs"), images=DATA / "agentnet" / "images", skip=done)
    accounted(item)


@given(spoiled({"messages": MESSAGES, "metadata": METADATA}))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_cua_lite_rows(tmp_path: Path, data: Any) -> None:
    path = tmp_path / "t.parquet"
    row = data if isinstance(data, dict) else {}
    cells = {name: [json.dumps(row.get(name))] for name in ("messages", "metadata")}
    images = pa.array([[{"bytes": png(shade=n), "path": None} for n in range(3)]])
    pq.write_table(pa.table({"images": images, **cells}), path)
    (item,) = read_cua_lite(path, LocalStore(tmp_path / "blobs"), skip=done)
    accounted(item)
