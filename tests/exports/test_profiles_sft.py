"""Datasets of trajectories, read as their trainers read them."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image

from cuamaster.action_space import CUAAction
from cuamaster.dialects import qwen
from cuamaster.dialects.dialect import Screen
from cuamaster.dialects.pyautogui_code import AGENTNET
from cuamaster.errors import InvalidAction, UnknownName
from cuamaster.exports.manifest import Release
from cuamaster.exports.options import Options
from cuamaster.exports.profiles import PROFILES, cua_lite, profile
from cuamaster.exports.sample import Sample
from cuamaster.importers.cua_lite import read_cua_lite
from cuamaster.records.trajectory import Step, Trajectory

from .conftest import World, act

Dataset = Callable[..., tuple[Path, Release]]
Row = dict[str, Any]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
    datasets.disable_progress_bars()


def load(folder: Path, split: str = "train") -> Any:
    return datasets.load_dataset(str(folder), split=split, cache_dir=str(folder.parent / "hf"))


def parts_of(messages: list[Row]) -> list[Row]:
    return [part for message in messages for part in message["content"]]


def test_every_profile_is_found_by_its_name() -> None:
    assert [profile(name).name for name in PROFILES] == list(PROFILES)
    with pytest.raises(UnknownName, match="trl-grpo"):
        profile("trl-ppo")


def test_trl_whole_trajectories(dataset: Dataset) -> None:
    folder, made = dataset("trl")
    rows = load(folder)
    assert made.splits == {"train": 3} == {"train": rows.num_rows} and made.dropped == {"unproven": 2}
    for row in rows:
        roles = [message["role"] for message in row["messages"]]
        assert roles == ["system", *["user", "assistant"] * (len(roles) // 2)]
        assert {tuple(part) for part in parts_of(row["messages"])} == {("type",), ("type", "text")}
        assert sum(part["type"] == "image" for part in parts_of(row["messages"])) == len(row["images"])
        assert all(isinstance(image, Image.Image) and image.size == (64, 40) for image in row["images"])
    assert {(row["K"], row["N"], row["proof"], row["round"]) for row in rows} == {
        (2, 2, "verified", 1), (1, 1, "verified", 1), (1, 1, "replayed", 1),
    }  # fmt: skip


def test_trl_with_a_history_is_prompt_and_completion(dataset: Dataset) -> None:
    whole, _ = dataset("trl")
    folder, made = dataset("trl", history=2, test_percent=0)  # another dataset of the profile takes the folder's place
    assert folder == whole and made.splits == {"train": 8}
    rows = load(folder)
    assert rows.column_names[:3] == ["prompt", "completion", "images"]
    long = [row for row in rows if row["K"] == 2]
    assert [len(row["images"]) for row in long] == [1, 2, 2, 2] and [row["step"] for row in long] == [0, 1, 2, 3]
    for row in long:
        assert row["prompt"][-1]["role"] == "user" and [turn["role"] for turn in row["completion"]] == ["assistant"]
        assert sum(part["type"] == "image" for part in parts_of(row["prompt"])) == len(row["images"])
        assert qwen.parse(row["completion"][0]["content"][0]["text"])
    # The last picture of a step is the newest one: the first of the next step's two.
    assert long[1]["images"][-1].tobytes() == long[2]["images"][0].tobytes() != long[2]["images"][1].tobytes()


def test_thoughts_may_be_left_out(dataset: Dataset) -> None:
    folder, _ = dataset("trl", thoughts=False)
    answers = [
        turn["content"][0]["text"] for row in load(folder) for turn in row["messages"] if turn["role"] == "assistant"
    ]
    assert answers and all(answer.startswith("<tool_call>") for answer in answers)


def swift_accepts(row: Row) -> None:
    """What RowPreprocessor.check_messages asks of a row, and that there are as many tags as pictures."""
    messages = row["messages"][1:] if row["messages"][0]["role"] == "system" else row["messages"]
    assert len(messages) % 2 == 0
    for user, assistant in zip(messages[::2], messages[1::2], strict=True):
        assert user["role"] == "user" and isinstance(user["content"], str)
        assert assistant["role"] == "assistant" and assistant["content"]
    assert sum(turn["content"].count("<image>") for turn in messages) == len(row["images"])


@pytest.mark.parametrize("history", [None, 1])
@pytest.mark.parametrize("name", ["ms-swift", "llama-factory"])
def test_string_contents_with_tags(dataset: Dataset, name: str, history: int | None) -> None:
    folder, made = dataset(name, history=history)
    rows = load(folder)
    assert rows.num_rows == (3 if history is None else 8) == sum(made.splits.values())
    for row in rows:
        swift_accepts(row)


def test_llama_factory_finds_its_columns(dataset: Dataset) -> None:
    folder, _ = dataset("llama-factory")
    described = json.loads((folder / "dataset_info.json").read_text())["cuamaster_train"]
    files = sorted(
        (folder / described["file_name"]).iterdir()
    )  # a folder: LLaMA-Factory reads all its files, of one type
    (row, *_) = datasets.load_dataset("parquet", data_files=[str(path) for path in files], split="train")
    tags = described["tags"]
    turns = row[described["columns"]["messages"]]
    assert turns[0][tags["role_tag"]] == tags["system_tag"]
    for index, turn in enumerate(turns[1:]):
        assert turn[tags["role_tag"]] == (tags["assistant_tag"] if index % 2 else tags["user_tag"])
    assert len(row[described["columns"]["images"]]) == len(turns) // 2


@pytest.mark.parametrize("history", [None, 2])
def test_verl_sft_as_pandas_reads_it(dataset: Dataset, history: int | None) -> None:
    folder, _ = dataset("verl-sft", history=history)
    frame = pd.concat(
        [pd.read_parquet(path, dtype_backend="pyarrow") for path in sorted(folder.glob("train/*.parquet"))]
    )
    for row in frame.to_dict("records"):
        places = 0
        for message in row["messages"]:
            for segment in re.split("(<image>|<video>)", message["content"]):
                if segment == "<image>":
                    Image.open(io.BytesIO(row["images"][places]["bytes"])).load()
                    places += 1
                assert segment != "<video>"
        assert places == len(row["images"])
        trained = [message["role"] for message in row["messages"] if message["trainable"]]
        answers = sum(message["role"] == "assistant" for message in row["messages"])
        assert trained == ["assistant"] * (answers if history is None else 1) and row["messages"][-1]["trainable"]


def test_a_text_that_holds_the_tag_is_left_out_with_its_reason(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuamaster.exports.sft.IMAGE_TAG", "milk")
    folder, made = dataset("ms-swift")
    assert made.dropped["image-tag-in-text"] == 1 and load(folder).num_rows == 2
    found = [json.loads(line) for line in (folder / "dropped.jsonl").read_text().splitlines()]
    assert len(found) == sum(made.dropped.values()) == 3


def test_openai_lines(dataset: Dataset) -> None:
    folder, made = dataset("openai-jsonl", history=1)
    lines = [json.loads(line) for path in folder.glob("train/*.jsonl") for line in path.read_text().splitlines()]
    assert len(lines) == made.splits["train"] == 8
    for line in lines:
        assert set(line) == {"messages"}
        urls = [part["image_url"]["url"] for turn in line["messages"] if turn["role"] == "user" for part in turn["content"] if part["type"] == "image_url"]  # fmt: skip
        assert len(urls) == 1
        Image.open(io.BytesIO(base64.b64decode(urls[0].removeprefix("data:image/png;base64,")))).load()
        answers = [turn for turn in line["messages"] if turn["role"] == "assistant"]
        assert [turn.get("weight", 1) for turn in answers] == [0] * (len(answers) - 1) + [1]
        assert qwen.parse(answers[-1]["content"])


def test_agentnet_lines_say_the_same_actions(dataset: Dataset, workspace: Any) -> None:
    folder, made = dataset("agentnet")
    assert made.dropped == {"unproven": 2, "not-in-dialect": 1}  # a shell command has no words in pyautogui
    lines = [json.loads(line) for path in folder.glob("train/*.jsonl") for line in path.read_text().splitlines()]
    assert {line["instruction"] for line in lines} == {
        "Do what segment-1 shows",
        "Write the shopping list – “0” – and save it",
    }
    for line in lines:
        assert [step["index"] for step in line["traj"]] == list(range(len(line["traj"])))
        for step in line["traj"]:
            with Image.open(folder / step["image"]) as picture:
                assert AGENTNET.parse(step["value"]["code"], Screen(*picture.size))
    video = next(line for line in lines if line["instruction"].startswith("Do what"))
    assert video["traj"][0]["value"]["code"] == "pyautogui.doubleClick(x=0.2, y=0.3)"
    assert video["traj"][-1]["value"]["code"] == "computer.terminate(status='success')"


def test_cua_lite_rows_keep_its_contract(dataset: Dataset) -> None:
    folder, made = dataset("cua-lite")
    frame = pd.read_parquet(next(folder.glob("train/*.parquet")))
    assert list(frame.columns) == ["images", "messages", "metadata"] and len(frame) == made.splits["train"] == 3
    for images, messages, metadata in zip(frame["images"], map(json.loads, frame["messages"]), map(json.loads, frame["metadata"]), strict=True):  # fmt: skip
        declared = {tool["function"]["name"] for tool in metadata["extra_tool_schemas"]}
        shown = [
            part["index"] for message in messages for part in message.get("content", ()) if part["type"] == "image"
        ]
        assert shown == list(range(len(images)))
        waiting: set[str] = set()
        for message in messages:
            if message["role"] == "tool":
                waiting.remove(message["tool_call_id"])
                continue
            assert not waiting
            for call in message.get("tool_calls", ()):
                waiting.add(call["id"])
                name, arguments = call["function"]["name"], call["function"]["arguments"]
                assert name == "computer" or name in declared
                for action in arguments["actions"] if name == "computer" else ():
                    places = [value for key, value in action.items() if key.endswith("coordinate")]
                    assert all(isinstance(value, int) and 0 <= value <= 1000 for place in places for value in place)
        assert not waiting and messages[-1]["role"] == "assistant" and "tool_calls" not in messages[-1]
        assert metadata["metadata_kind"] == "cua" and metadata["dims"] == ["desktop", "use"]
    names = {action["action"] for text in frame["messages"] for message in json.loads(text) for call in message.get("tool_calls", ()) for action in call["function"]["arguments"].get("actions", ())}  # fmt: skip
    assert names == {"key_down", "key_up", "click", "type", "key", "drag"}


def test_cua_lite_comes_back_through_our_importer(dataset: Dataset, world: World) -> None:
    folder, _ = dataset("cua-lite")
    whole, _ = dataset("trl")
    pictures = {
        row["id"]: [picture["bytes"] for picture in row["images"]]
        for path in whole.glob("train/*.parquet")
        for row in pq.read_table(path).to_pylist()
    }
    for item in read_cua_lite(folder, world.store):
        (found,) = item.kept
        assert isinstance(found, Trajectory), item.dropped
        assert found.steps[-1].actions[-1].action.to_dict() == {"type": "finish", "args": {"status": "success"}}
        before = pictures[item.id.removeprefix("cua-lite:")]
        assert [world.store.get(step.observation.screenshot) for step in found.steps] == before
        assert world.store.get(found.final.screenshot) == before[-1]


@pytest.mark.parametrize("answer", ["", "3 files"])
@pytest.mark.parametrize("together", [False, True])
def test_cua_lite_ends_as_the_trajectory_does(world: World, answer: str, together: bool) -> None:
    finish = act("finish", status="success", **({"answer": answer} if answer else {}))
    batches = [(act("mouse.click", x=5, y=5), finish)] if together else [(act("mouse.click", x=5, y=5),), (finish,)]
    steps = tuple(Step(observation=world.see(), actions=actions) for actions in batches)
    sample = Sample(
        id="s", round=1, source="collected", instruction="Count the files", mode="gui", policy="replay", steps=steps,
        proof="verified", lineage=(),
    )  # fmt: skip
    (row,) = profile("cua-lite").rows(sample, Options())
    assert isinstance(row, dict)
    *_, result, last = json.loads(row["messages"])
    assert last == {"role": "assistant", "content": [{"type": "text", "text": answer or "Done."}]}
    seen = [{"type": "text", "text": "Done."}] if together else [{"type": "image", "index": 1}]
    assert (result["role"], result["content"], len(row["images"])) == ("tool", seen, len(steps))


def test_smaller_screenshots_keep_coordinates_right(dataset: Dataset) -> None:
    whole, _ = dataset("ms-swift", history=1)
    before = pq.read_table(next(whole.glob("train/*.parquet"))).to_pylist()
    folder, _ = dataset("ms-swift", history=1, max_side=32)
    after = pq.read_table(next(folder.glob("train/*.parquet"))).to_pylist()
    assert [row["messages"] for row in after] == [row["messages"] for row in before]  # 0-1000 at any size
    for row in load(folder):
        assert [image.size for image in row["images"]] == [(32, 20)]
    assert all(image["path"].endswith("-32x20.png") for row in after for image in row["images"])


def test_a_picture_is_stored_once_a_row_group(dataset: Dataset) -> None:
    folder, _ = dataset("trl", history=4)
    path = next(folder.glob("train/*.parquet"))
    pictures = [image for row in pq.read_table(path)["images"].to_pylist() for image in row]
    unique = {image["path"]: len(image["bytes"]) for image in pictures}
    group = pq.read_metadata(path).row_group(0)
    (column,) = (group.column(n) for n in range(group.num_columns) if group.column(n).path_in_schema.endswith("bytes"))
    assert len(pictures) > len(unique) and column.total_compressed_size < sum(unique.values()) + 8 * len(pictures) + 100
    with duckdb.connect() as connection:
        query = f"SELECT sum(list_sum([octet_length(i.bytes) for i in images])) FROM '{path}'"
        assert connection.execute(query).fetchone() == (sum(len(image["bytes"]) for image in pictures),)


def test_every_profile_is_in_the_documentation_and_the_help() -> None:
    root = Path(__file__).parents[2]
    for place in ("docs/datasets.md", "cuamaster/cli/datasets.py"):
        text = (root / place).read_text()
        assert [name for name in PROFILES if name not in text] == []


@pytest.mark.parametrize(
    ("kind", "args", "said"),
    [
        ("mouse.click", {"x": 1.4, "y": 2, "button": "right"}, [{"action": "click", "coordinate": [1, 2], "button": "right", "clicks": 1}]),
        ("mouse.move", {"x": 1, "y": 2}, [{"action": "mouse_move", "coordinate": [1, 2]}]),
        ("mouse.scroll", {"x": 1, "y": 2, "dy": -3}, [{"action": "scroll", "direction": "up", "amount": 3, "coordinate": [1, 2]}]),
        ("mouse.scroll", {"dx": 2}, [{"action": "scroll", "direction": "right", "amount": 2}]),
        ("mouse.down", {"x": 1, "y": 2}, [{"action": "mouse_move", "coordinate": [1, 2]}, {"action": "mouse_down"}]),
        ("mouse.up", {}, [{"action": "mouse_up"}]),
        ("keyboard.hold", {"keys": ["shift"], "seconds": 2}, [{"action": "key_down", "keys": ["shift"]}, {"action": "wait", "duration": 2}, {"action": "key_up", "keys": ["shift"]}]),
        ("wait", {"seconds": 1.5}, [{"action": "wait", "duration": 1.5}]),
        ("mouse.move_relative", {"dx": 1, "dy": 1}, None),
        ("mouse.click", {"x": 1, "y": 2, "button": "back"}, None),
    ],
)  # fmt: skip
def test_cua_lite_says_every_gui_action_or_that_it_cannot(kind: str, args: Row, said: list[Row] | None) -> None:
    action = CUAAction(kind, args)
    if said is None:
        with pytest.raises(InvalidAction):
            cua_lite.calls([action], 0)
        return
    (call,) = cua_lite.calls([action], 3)
    assert call["id"] == "call_0003_0" and call["function"]["arguments"]["actions"] == said
