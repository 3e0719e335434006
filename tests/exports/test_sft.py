"""What may be trained on, in the policy's own words, readable by trainers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import duckdb
import pyarrow.parquet as pq
import pytest
from PIL import Image

from cuamaster.action_space import CUAAction
from cuamaster.dialects import qwen
from cuamaster.errors import IntegrityError
from cuamaster.exports.columns import IMAGE, STRING, schema
from cuamaster.exports.preflight import preflight
from cuamaster.exports.samples import RoundData, Sample, samples
from cuamaster.exports.sft import SftReport, conversation, write_sft
from cuamaster.exports.writer import parquet_file, write_rows
from cuamaster.records.episode import Receipt
from cuamaster.records.primitive import Evidence
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Lineage, Step

from .conftest import HINT, World, act, make_task

MakeRound = Callable[[], RoundData]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
    datasets.disable_progress_bars()


def _write(rounds: list[RoundData], world: World, folder: Path) -> SftReport:
    report = write_sft(rounds, world.store, folder)
    assert preflight(folder) == []
    return report


def _load(path: Path) -> Any:
    return datasets.load_dataset("parquet", data_files=str(path), split="train", cache_dir=str(path.parent / "hf"))


def test_only_proven_trajectories_are_in_sft(make_round: MakeRound, world: World, tmp_path: Path) -> None:
    data = make_round()
    report = _write([data], world, tmp_path)
    sft, unproven = _load(tmp_path / "sft.parquet"), _load(tmp_path / "unproven.parquet")
    seed = data.tasks[3]
    assert report.sft.rows == 3 and report.dropped == ()
    assert {(row["proof"], row["source"], row["task_id"]) for row in sft} == {
        ("verified", "collected", data.tasks[0].id),
        ("verified", "collected", seed.id),
        ("replayed", "video", seed.id),
    }
    assert sorted((row["instruction"], row["reason"]) for row in unproven) == [
        ("Do what segment-2 shows", "no-seed-task"),
        ("Do what segment-3 shows", "no-verifier"),
    ]


def test_datasets_decodes_pictures_and_messages(make_round: MakeRound, world: World, tmp_path: Path) -> None:
    data = make_round()
    _write([data], world, tmp_path)
    row = _load(tmp_path / "sft.parquet")[0]
    assert len(row["images"]) == 4 and all(
        isinstance(image, Image.Image) and image.size == (64, 40) for image in row["images"]
    )
    steps = [Step.model_validate(step) for step in json.loads(row["steps_json"])]
    assert row["messages"] == qwen.render_steps(steps, instruction=row["instruction"], mode="mixed")
    assert row["conversation"] == conversation(row["messages"])
    assert "".join(turn["content"] for turn in row["conversation"]).count("<image>") == 4
    assert json.loads(row["tools_json"]) == qwen.tools("mixed")


def test_no_key_is_invented_by_null_padding(make_round: MakeRound, world: World, tmp_path: Path) -> None:
    _write([make_round()], world, tmp_path)
    for row in _load(tmp_path / "sft.parquet"):
        parts = [part for message in row["messages"] for part in message["content"]]
        assert {tuple(part) for part in parts} == {("type",), ("type", "text")}
        answers = [message["content"][0]["text"] for message in row["messages"] if message["role"] == "assistant"]
        assert all(
            None not in call["arguments"].values() for answer in answers for call in qwen.split_answer(answer)[1]
        )


def test_the_policy_parses_what_it_is_trained_on(make_round: MakeRound, world: World, tmp_path: Path) -> None:
    _write([make_round()], world, tmp_path)
    row = _load(tmp_path / "sft.parquet")[0]
    answers = [message["content"][0]["text"] for message in row["messages"] if message["role"] == "assistant"]
    assert qwen.parse(answers[1]) == [
        CUAAction("keyboard.type", {"text": "milk and eggs </tool_call> ü"}),
        CUAAction("keyboard.press", {"keys": ["ctrl", "s"]}),
    ]
    assert qwen.parse(answers[-1]) == [CUAAction("finish", {"status": "success"})]
    assert '"coordinate": [10, 1000]' in answers[0]


def test_hints_and_injected_steps_never_appear_but_rollbacks_are_counted(
    make_round: MakeRound, world: World, tmp_path: Path
) -> None:
    _write([make_round()], world, tmp_path)
    row = pq.read_table(tmp_path / "sft.parquet").drop(["images"]).to_pylist()[0]
    text = json.dumps(row, ensure_ascii=False)
    assert "milk and egs" not in text and "still open" not in text and "Feedback" not in text
    assert row["n_rollbacks"] == 1 and row["n_steps"] == 4 and row["n_actions"] == 6


def test_lineage_round_and_difficulty_are_columns(make_round: MakeRound, world: World, tmp_path: Path) -> None:
    _write([make_round(), replace(make_round(), round=2)], world, tmp_path)
    query = f"SELECT * EXCLUDE (images) FROM '{tmp_path}/sft.parquet' WHERE proof = 'replayed' AND round = 1"
    with duckdb.connect() as connection:
        cursor = connection.execute(query)
        row = dict(zip([column[0] for column in cursor.description], cursor.fetchone() or (), strict=True))
        assert connection.execute(
            f"SELECT len(images), octet_length(images[1].bytes) > 60 FROM '{tmp_path}/sft.parquet' LIMIT 1"
        ).fetchone() == (4, True)
        assert connection.execute(f"SELECT messages->'$[0].role' FROM '{tmp_path}/sft.parquet' LIMIT 1").fetchone() == (
            '"system"',
        )
    assert (row["video_id"], row["video_url"], row["t_start"], row["t_end"], row["license"]) == (
        "video-1",
        "file:///tutorial.mp4",
        4.5,
        20.0,
        "CC-BY-4.0",
    )
    assert (row["K"], row["N"], row["apps"], row["policy"], row["mode"]) == (1, 1, ["pcmanfm"], "video:rules", "gui")
    assert json.loads(row["lineage_json"])[0]["segment_id"] == "segment-1"


def test_the_same_path_is_exported_once(make_round: MakeRound, world: World, tmp_path: Path) -> None:
    data = make_round()
    assert _write([data, replace(data, round=2)], world, tmp_path).sft.rows == 3


def test_a_path_without_finish_learns_to_stop(world: World) -> None:
    task = make_task("mousepad")
    episode = world.replay(task)
    episode = episode.model_copy(update={"nodes": episode.nodes[:1]})
    (sample,) = samples([RoundData(round=1, tasks=(task,), episodes=(episode,))])
    assert isinstance(sample, Sample) and episode.final is not None
    assert (
        sample.steps[-1].actions[0].action.type == "finish"
        and sample.steps[-1].observation.screenshot == episode.final.screenshot
    )


def test_rejected_actions_are_left_out_with_their_answers(world: World) -> None:
    task = make_task("mousepad")
    good, bad = (
        Receipt(action_id="a", status="sent", response="ok"),
        Receipt(action_id="b", status="rejected", response="not available"),
    )
    nodes = (
        world.node(0, -1, act("wait", seconds=1), act("shell.exec", command="ls")).model_copy(
            update={"receipts": (good, bad)}
        ),
        world.node(1, 0, act("shell.exec", command="ls"), response="ok\nnot available").model_copy(
            update={"receipts": (bad,)}
        ),
        world.node(2, 1, act("finish", status="success"), response="not available"),
    )
    episode = world.replay(task).model_copy(update={"nodes": nodes})
    (sample,) = samples([RoundData(round=1, tasks=(task,), episodes=(episode,))])
    assert isinstance(sample, Sample)
    assert [[item.action.type for item in step.actions] for step in sample.steps] == [["wait"], ["finish"]]
    assert sample.steps[1].observation.response == "ok"


def test_what_cannot_be_exported_keeps_its_reason(world: World, tmp_path: Path) -> None:
    tasks = [make_task("mousepad", seed=n) for n in range(6)]
    good = [world.rolled_back(task) for task in tasks]
    node = good[0].nodes[2]
    untrue = {
        0: {"nodes": (node.model_copy(update={"injected": True}),)},
        1: {"nodes": (*good[1].nodes[:1], world.node(1, 0, act("finish", status="infeasible")))},
        2: {"nodes": (world.node(0, -1, act("mouse.move_relative", dx=1, dy=1)), *good[2].nodes[4:])},
        3: {"nodes": (node.model_copy(update={"thought": f"They said: {HINT}"}), good[3].nodes[4])},
        4: {
            "nodes": (
                node.model_copy(update={"observation": node.observation.model_copy(update={"screenshot": "e" * 64})}),
                good[4].nodes[4],
            )
        },
        5: {"image_digest": "simulated"},
    }
    episodes = tuple(episode.model_copy(update=untrue[n]) for n, episode in enumerate(good))
    report = _write([RoundData(round=1, tasks=tuple(tasks), episodes=episodes)], world, tmp_path)
    assert report.sft.rows == 0 and report.unproven.rows == 1
    assert _load(tmp_path / "unproven.parquet")[0]["reason"] == "simulated-desktop"
    assert {drop.item_id: drop.reason for drop in report.dropped} == {
        episodes[0].id: "injected-step-kept",
        episodes[1].id: "finish-not-success",
        episodes[2].id: "not-in-dialect",
        episodes[3].id: "hint-in-row",
        episodes[4].id: "missing-picture",
    }


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"outcome": "failed"}, "replay-failed"),
        ({"image_digest": "simulated"}, "replay-simulated"),
        ({"policy": "openai_api:model"}, "not-replayed"),
    ],
)
def test_a_video_is_proven_only_by_a_replay_that_passed_on_a_guest(
    change: dict[str, str], reason: str, world: World, make_round: MakeRound
) -> None:
    data = make_round()
    episode = data.episodes[3].model_copy(update=change)
    found = [
        sample
        for sample in samples([replace(data, episodes=(episode,), certificates=())])
        if isinstance(sample, Sample) and sample.source == "video"
    ]
    assert (found[0].proof, found[0].reason) == ("none", reason)


def test_a_shell_command_in_the_replay_proves_nothing_about_the_video(world: World, make_round: MakeRound) -> None:
    data = make_round()
    replay = data.episodes[3]
    shell = world.node(0, -1, act("shell.exec", command="mkdir ~/reports"))
    episode = replay.model_copy(update={"nodes": (shell, *replay.nodes[1:])})
    found = [
        sample
        for sample in samples([replace(data, episodes=(episode,), certificates=())])
        if isinstance(sample, Sample) and sample.source == "video"
    ]
    assert found[0].reason == "not-replayed"


def test_the_oracle_probe_of_a_released_seed_task_is_a_replay(make_round: MakeRound) -> None:
    data = make_round()
    found = [item for item in samples([replace(data, episodes=())]) if isinstance(item, Sample)]
    assert [(sample.proof, sample.episode_id) for sample in found] == [
        ("replayed", None),
        ("none", None),
        ("none", None),
    ]


def test_two_trajectories_of_one_segment_are_not_confused(world: World, make_round: MakeRound) -> None:
    data = make_round()
    first, second = data.trajectories[0], world.video("segment-1")

    def proofs(seed: Task) -> list[str]:
        tasks = (*data.tasks[:3], seed)
        episodes = (*data.episodes[:3], world.replay(seed))
        found = samples([replace(data, tasks=tasks, episodes=episodes, trajectories=(first, second), certificates=())])
        return [item.proof for item in found if isinstance(item, Sample) and item.source == "video"]

    assert proofs(data.tasks[3]) == ["none", "none"]
    use = data.tasks[3].plan[0]
    shown = Evidence(kind="video", source="video-1", trajectory_id=second.id)
    named = use.model_copy(update={"primitive": use.primitive.model_copy(update={"evidence": (shown,)})})
    assert proofs(data.tasks[3].model_copy(update={"plan": (named,)})) == ["none", "replayed"]


def test_composed_tasks_inherit_address_and_license_of_their_videos(
    world: World, make_round: MakeRound, tmp_path: Path
) -> None:
    data = make_round()
    task = make_task(
        "mousepad", seed=7, lineage=(Lineage(video_id="video-1", t_start=5.0, t_end=9.0, primitive_ids=("p",)),)
    )
    later = RoundData(round=2, tasks=(task,), episodes=(world.rolled_back(task),))
    _write([data, later], world, tmp_path)
    row = pq.read_table(tmp_path / "sft.parquet").drop(["images"]).to_pylist()[-1]
    assert (row["round"], row["video_url"], row["license"], row["t_start"]) == (
        2,
        "file:///tutorial.mp4",
        "CC-BY-4.0",
        5.0,
    )


def test_an_episode_without_its_task_is_an_error(world: World, tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="does not hold"):
        write_sft([RoundData(round=1, episodes=(world.replay(make_task("mousepad")),))], world.store, tmp_path)


def test_row_groups_are_bounded(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuamaster.exports.writer.GROUP_ROWS", 2)
    tasks = [make_task("mousepad", seed=n) for n in range(5)]
    report = _write(
        [RoundData(round=1, tasks=tuple(tasks), episodes=tuple(world.rolled_back(task) for task in tasks))],
        world,
        tmp_path,
    )
    metadata = pq.read_metadata(tmp_path / "sft.parquet")
    assert report.sft.rows == 5 and [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [
        2,
        2,
        1,
    ]


def test_empty_files_load(world: World, tmp_path: Path) -> None:
    _write([], world, tmp_path)
    assert pq.read_table(tmp_path / "sft.parquet").num_rows == 0


def test_an_endless_path_and_an_endless_instruction_are_no_samples(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuamaster.exports.samples.MAX_STEPS", 1)
    monkeypatch.setattr("cuamaster.exports.samples.MAX_INSTRUCTION", 60)
    long, wordy = make_task("mousepad"), make_task("pcmanfm").model_copy(update={"instruction": "Save it. " * 7})
    short = world.replay(wordy).nodes[1].model_copy(update={"index": 0, "parent": -1})
    episodes = (world.replay(long), world.replay(wordy).model_copy(update={"nodes": (short,)}))
    found = list(samples([RoundData(round=1, tasks=(long, wordy), episodes=episodes)]))
    assert [item.reason for item in found] == ["too-long", "instruction-too-long"]


def test_an_error_between_the_rows_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuamaster.exports.writer.GROUP_BYTES", 1000)
    rows = [{"id": str(n), "image": {"bytes": bytes([n]) * 100_000, "path": f"{n}.png"}} for n in range(40)]
    columns = schema({"id": STRING, "image": IMAGE})
    with pytest.raises(ZeroDivisionError), parquet_file(tmp_path / "a.parquet", columns) as file:
        for row in rows:
            file.add(row)
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    written = write_rows(tmp_path / "a.parquet", columns, rows)
    found = pq.read_table(tmp_path / "a.parquet")
    assert found.to_pylist() == rows and pq.read_metadata(tmp_path / "a.parquet").num_row_groups == 40
    assert written.sha256 == hashlib.sha256((tmp_path / "a.parquet").read_bytes()).hexdigest()
    assert written.bytes == (tmp_path / "a.parquet").stat().st_size
