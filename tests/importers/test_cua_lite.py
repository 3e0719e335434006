"""cua-lite's Parquet rows as trajectories: messages walked in order, calls as actions, pictures by path or in the row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cuamaster.adapters.stores.local import LocalStore
from cuamaster.errors import InvalidInput
from cuamaster.importers.cua_lite import read_cua_lite
from cuamaster.importers.found import Found
from cuamaster.records.trajectory import Trajectory
from tests.importers.conftest import png

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def call(name: str, number: int = 0, **arguments: Any) -> dict[str, Any]:
    return {"id": f"call_{number:04d}", "type": "function", "function": {"name": name, "arguments": arguments}}


def computer(*actions: dict[str, Any], number: int = 0) -> dict[str, Any]:
    return call("computer", number, actions=list(actions))


def image(index: int) -> dict[str, Any]:
    return {"type": "image", "index": index}


def text(words: str, kind: str = "text") -> dict[str, Any]:
    return {"type": kind, "text": words}


def answer(number: int, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{number:04d}", "content": list(parts)}


MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": [image(0), text("Rename the folder to garden.")]},
    {"role": "assistant", "content": [text("I see the folder.", "inline_reasoning"), text("Select it", "action_description")],
     "tool_calls": [computer({"action": "click", "coordinate": [250, 500], "clicks": 2}, {"action": "key", "keys": ["f2"]})]},
    answer(0, image(1)),
    {"role": "assistant", "reasoning_content": "It can be renamed now.",
     "tool_calls": [computer({"action": "type", "text": "garden", "press_enter": True}, number=1), call("bash", 2, command="ls")]},
    answer(1, text("typed")), answer(2, text("garden\n"), image(2)),
    {"role": "assistant", "content": [text("Done.")]},
]  # fmt: skip
METADATA: dict[str, Any] = {
    "metadata_kind": "cua", "dims": ["desktop", "use"], "extra_tool_schemas": [], "valid_actions": None,
    "others": {"id": "row-1", "task_id": "t-1", "resolution": [64, 48], "os": "ubuntu", "episode_return": 1.0},
}  # fmt: skip


def write(path: Path, *rows: dict[str, Any], embed: bool = True, as_json: bool = True) -> Path:
    """A file as it is published (pictures in the rows) or as it lies locally (paths into the image store)."""
    given = [{"messages": MESSAGES, "metadata": METADATA, "shades": 3, **row} for row in rows]
    pictures = [[png(shade=number) for number in range(row["shades"])] for row in given]
    if embed:
        images = pa.array([[{"bytes": data, "path": None} for data in some] for some in pictures], pa.list_(IMAGE))
    else:
        names = [[f"ab/{number}-{place}.png" for place in range(len(some))] for number, some in enumerate(pictures)]
        for some, called in zip(pictures, names, strict=True):
            for data, name in zip(some, called, strict=True):
                target = path.parent.parent / "cua-lite" / "X" / "images" / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
        images = pa.array([[f"cua-lite/X/images/{name}" for name in called] for called in names])
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {
        name: [json.dumps(row[name]) if as_json else row[name] for row in given] for name in ("messages", "metadata")
    }
    pq.write_table(pa.table({"images": images, **columns}), path)
    return path


def kept(item: Found) -> Trajectory:
    (trajectory,) = item.kept
    assert isinstance(trajectory, Trajectory), item.dropped
    return trajectory


def test_messages_become_steps(tmp_path: Path, store: LocalStore) -> None:
    (item,) = read_cua_lite(write(tmp_path / "use.parquet", {}), store, license_name="other")
    trajectory = kept(item)
    assert trajectory.instruction == "Rename the folder to garden."
    assert (trajectory.task_id, trajectory.lineage.source, trajectory.lineage.license) == (
        "t-1",
        "cua-lite:row-1",
        "other",
    )
    assert [[a.action.to_dict() for a in step.actions] for step in trajectory.steps] == [
        [
            {"type": "mouse.click", "args": {"x": 250, "y": 500, "count": 2}},
            {"type": "keyboard.press", "args": {"keys": ["f2"]}},
        ],
        [
            {"type": "keyboard.type", "args": {"text": "garden"}},
            {"type": "keyboard.press", "args": {"keys": ["enter"]}},
            {"type": "shell.exec", "args": {"command": "ls"}},
        ],
        [{"type": "finish", "args": {"status": "success"}}],
    ]
    assert [step.thought for step in trajectory.steps] == ["I see the folder.", "It can be renamed now.", ""]
    assert [store.get(step.observation.screenshot) for step in trajectory.steps] == [png(shade=n) for n in range(3)]
    assert trajectory.steps[2].observation.response == "typed\ngarden\n"
    (row,) = item.dropped
    assert row.reason == "not-mapped" and "action_description x1" in row.detail and "os x1" in row.detail


@pytest.mark.parametrize("embed", [True, False])
@pytest.mark.parametrize("as_json", [True, False])
def test_every_form_of_the_columns_gives_the_same(
    tmp_path: Path, store: LocalStore, embed: bool, as_json: bool
) -> None:
    (one,) = read_cua_lite(write(tmp_path / "a" / "x" / "one.parquet", {}), store)
    (two,) = read_cua_lite(write(tmp_path / "b" / "y" / "two.parquet", {}, embed=embed, as_json=as_json), store)
    assert kept(one) == kept(two)


def test_an_answer_at_the_end_is_kept(tmp_path: Path, store: LocalStore) -> None:
    said = [*MESSAGES[:-1], {"role": "assistant", "content": [text("There are 3 folders.")]}]
    called = [*MESSAGES[:-1], {"role": "assistant", "tool_calls": [call("response", 3, text="3")]}]
    ended = [
        *MESSAGES[:-1],
        {"role": "assistant", "tool_calls": [call("report_infeasible", 3, reason="no such folder")]},
    ]
    items = read_cua_lite(write(tmp_path / "a.parquet", *({"messages": m} for m in (said, called, ended))), store)
    assert [kept(item).steps[-1].actions[-1].action.args for item in items] == [
        {"status": "success", "answer": "There are 3 folders."},
        {"status": "success", "answer": "3"},
        {"status": "infeasible", "answer": "no such folder"},
    ]


def test_a_run_that_gave_up_ends_as_it_says(tmp_path: Path, store: LocalStore) -> None:
    """Published rows of AgentNet's own tasks: nobody judged them, and the call that ended them is only told in the metadata."""
    others = [
        {"terminate_status": "failure"},
        {"terminate_status": "infeasible", "terminate_reason": "no such filter"},
        {"terminate_status": "perhaps"},
    ]
    rows = [{"metadata": {**METADATA, "others": {"id": f"r{n}", **other}}} for n, other in enumerate(others)]
    failed, infeasible, unknown = read_cua_lite(write(tmp_path / "a.parquet", *rows), store)
    assert [kept(item).steps[-1].actions[-1].action.args for item in (failed, infeasible)] == [
        {"status": "failure"}, {"status": "infeasible", "answer": "no such filter"},
    ]  # fmt: skip
    assert [drop.reason for drop in unknown.dropped] == ["unknown-action"]


def test_words_after_the_end_are_counted(tmp_path: Path, store: LocalStore) -> None:
    ended = [
        *MESSAGES[:-1],
        {"role": "assistant", "tool_calls": [call("response", 3, text="3")]},
        answer(3, text("ok")),
        MESSAGES[-1],
    ]
    (item,) = read_cua_lite(write(tmp_path / "a.parquet", {"messages": ended}), store)
    assert [step.actions[-1].action.type for step in kept(item).steps].count("finish") == 1
    assert "a turn after the end x1" in item.dropped[0].detail


def _turn(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    turn = {"role": "assistant", "tool_calls": list(calls), **more}
    return {"messages": [MESSAGES[0], turn, answer(0, image(1)), MESSAGES[-1]], "shades": 2}


@pytest.mark.parametrize(
    ("action", "wanted"),
    [
        ({"action": "drag", "start_coordinate": [0, 0], "coordinate": [1000, 999]}, [("mouse.drag", {"path": ((0, 0), (1000, 999))})]),
        ({"action": "scroll", "direction": "up", "amount": 3, "coordinate": [5, 6]}, [("mouse.scroll", {"x": 5, "y": 6, "dy": -3})]),
        ({"action": "scroll", "direction": "right", "amount": 250}, [("mouse.scroll", {"dx": 100}), ("mouse.scroll", {"dx": 100}), ("mouse.scroll", {"dx": 50})]),
        ({"action": "hold_key", "keys": ["shift"], "duration": 1.5}, [("keyboard.hold", {"keys": ("shift",), "seconds": 1.5})]),
        ({"action": "key_down", "keys": ["meta", "a"]}, [("keyboard.down", {"key": "super"}), ("keyboard.down", {"key": "a"})]),
        ({"action": "mouse_down"}, [("mouse.down", {})]),
        ({"action": "screenshot"}, [("wait", {"seconds": 0})]),
        ({"action": "wait", "duration": 1000}, [("wait", {"seconds": 300.0})]),
    ],
)  # fmt: skip
def test_actions(tmp_path: Path, store: LocalStore, action: dict[str, Any], wanted: list[Any]) -> None:
    (item,) = read_cua_lite(write(tmp_path / "a.parquet", _turn(computer(action))), store)
    assert [(a.action.type, dict(a.action.args)) for a in kept(item).steps[0].actions] == wanted


def test_tools_of_an_environment_stay_calls_of_tools(tmp_path: Path, store: LocalStore) -> None:
    (item,) = read_cua_lite(write(tmp_path / "a.parquet", _turn(call("goto", url="https://example.org"))), store)
    assert kept(item).steps[0].actions[0].action.to_dict()["args"] == {
        "name": "goto",
        "arguments": {"url": "https://example.org"},
    }


def _meta(**changes: Any) -> dict[str, Any]:
    return {"metadata": {**METADATA, **changes}}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (_meta(dims=["mobile", "use"]), "other-kind-of-row"),
        (_meta(dims=["desktop", "grounding.point"]), "other-kind-of-row"),
        (_meta(dims=[]), "other-kind-of-row"),
        (_meta(others={"episode_return": 0.0}), "source-says-failed"),
        (_meta(others={"task_completed": False}), "source-says-failed"),
        ({"metadata": [1]}, "malformed"),
        ({"messages": {}}, "malformed"),
        ({"messages": [{"role": "robot"}]}, "malformed"),
        ({"messages": [{"role": "user", "content": 5}]}, "malformed"),
        ({"messages": [{"role": "user", "content": [{"type": "image", "index": 9}]}]}, "no-picture"),
        ({"messages": [{"role": "user", "content": [{"type": "image", "index": True}]}]}, "no-picture"),
        ({"messages": MESSAGES[:1]}, "no-steps"),
        ({"messages": [{**MESSAGES[0], "content": [text("Do it.")]}, *MESSAGES[1:]]}, "no-picture"),
        ({"messages": MESSAGES[:2]}, "no-final-picture"),
        ({"messages": [MESSAGES[0], MESSAGES[-1], *MESSAGES[1:]]}, "malformed"),
        (_turn(computer({"action": "teleport"})), "unknown-action"),
        (_turn(computer({"action": "click"})), "unknown-action"),
        (_turn(computer({"action": "click", "coordinate": [1001, 5]})), "unknown-action"),
        (_turn(computer({"action": "key", "keys": ["volumeup"]})), "unknown-action"),
        (_turn(call("computer")), "unknown-action"),
        (_turn({"name": 3}), "unknown-action"),
    ],
)  # fmt: skip
def test_bad_rows_are_refused_with_a_reason(
    tmp_path: Path, store: LocalStore, row: dict[str, Any], reason: str
) -> None:
    good, bad, again = read_cua_lite(write(tmp_path / "a.parquet", {}, row, {}), store)
    assert bad.kept == () and [item.reason for item in bad.dropped] == [reason]
    assert kept(good).steps == kept(again).steps


def test_cells_that_are_no_json_and_files_that_are_no_parquet(tmp_path: Path, store: LocalStore) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"images": [["a.png"]], "messages": ["[{"], "metadata": [json.dumps(METADATA)]}), path)
    assert [row.reason for item in read_cua_lite(path, store) for row in item.dropped] == ["not-json"]
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidInput, match="not a Parquet file"):
        list(read_cua_lite(path, store))
    pq.write_table(pa.table({"text": ["a"]}), path)
    with pytest.raises(InvalidInput, match="no column images, messages, metadata"):
        list(read_cua_lite(path, store))
    for nothing in (tmp_path / "absent", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(InvalidInput):
            list(read_cua_lite(nothing, store))
