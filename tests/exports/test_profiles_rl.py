"""Datasets of tasks, preference pairs and elements, read as their trainers read them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import duckdb
import pytest

from cuamaster.adapters.screens.known import KnownReader
from cuamaster.dialects import qwen
from cuamaster.exports.manifest import Release
from cuamaster.exports.options import Options
from cuamaster.exports.pairs import Pair, pairs
from cuamaster.exports.samples import RoundData
from cuamaster.records.episode import Branch, Dropped, Episode
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Action, Target, TextBox
from cuamaster.records.verdict import Outcome
from cuamaster.stages import Ports, release
from cuamaster.tables import Workspace

from .conftest import HINT, World, act, make_task
from .datasets import keep

Dataset = Callable[..., tuple[Path, Release]]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
    datasets.disable_progress_bars()


def load(folder: Path) -> Any:
    return datasets.load_dataset(str(folder), split="train", cache_dir=str(folder.parent / "hf"))


# -- tasks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["verl", "trl-grpo", "skyrl"])
def test_prompts_hold_the_instruction_and_nothing_of_the_answer(dataset: Dataset, name: str) -> None:
    folder, made = dataset(name)
    rows = load(folder)
    assert rows.num_rows == 2 == made.splits["train"]
    for row in rows:
        assert [turn["role"] for turn in row["prompt"]] == ["system", "user"]
        shown = json.dumps(row["prompt"], ensure_ascii=False)
        assert (
            "milk and eggs" not in shown and "~/done" not in shown and "Secret Menu" not in json.dumps(row, default=str)
        )


def test_verl_columns(dataset: Dataset) -> None:
    folder, _ = dataset("verl")
    with duckdb.connect() as connection:
        numbers = connection.execute(
            f"SELECT count(DISTINCT extra_info.index) FROM '{folder}/train/*.parquet'"
        ).fetchone()
        assert numbers == (2,)
        query = f"""SELECT data_source, ability, agent_name, reward_model.style, extra_info.split, extra_info.K,
                    json_valid(reward_model.ground_truth), json_valid(extra_info.setup_json), prompt[2].role
                    FROM '{folder}/train/*.parquet' ORDER BY extra_info.K DESC LIMIT 1"""
        assert connection.execute(query).fetchone() == (
            "cuamaster", "computer-use", "cuamaster_desktop", "rule", "train", 2, True, True, "user",
        )  # fmt: skip


def test_grpo_columns_are_plain_values_for_reset(dataset: Dataset) -> None:
    folder, _ = dataset("trl-grpo")
    row = next(row for row in load(folder) if row["K"] == 2)
    arguments = {name: value for name, value in row.items() if name != "prompt"}
    assert isinstance(arguments["setup_json"], str) and json.loads(arguments["verifier_json"])
    assert (arguments["env_id"], arguments["max_steps"], arguments["K"]) == ("light-desktop", 30, 2)


def test_skyrl_columns(dataset: Dataset) -> None:
    folder, _ = dataset("skyrl")
    row = load(folder)[0]
    assert row.pop("env_class") == "cuamaster" and row["reward_spec"]["method"] == "rule" and row["data_source"]


# -- preference pairs -----------------------------------------------------------------------------------------------------


def tree(world: World, task: Task, **changes: object) -> Episode:
    """Step 0, a snapshot, then a wrong and a right branch from it."""
    first = world.node(0, -1, act("mouse.click", x=10, y=20)).model_copy(update={"snapshot_after": "s1"})
    nodes = (
        first,
        world.node(1, 0, act("keyboard.type", text="wrong"), dropped=True),
        world.node(2, 1, act("finish", status="success"), dropped=True),
        world.node(3, 0, act("keyboard.type", text="right"), feedback=HINT),
        world.node(4, 3, act("finish", status="success")),
    )
    base = world.rolled_back(task, nodes=nodes, injected_faults=0)
    return base.model_copy(update=changes)


def found(episode: Episode, task: Task) -> list[Pair | Dropped]:
    return list(pairs([RoundData(round=1, tasks=(task,), episodes=(episode,))]))


def test_two_branches_of_one_snapshot_are_a_pair(world: World, workspace: Workspace, tmp_path: Path) -> None:
    task = make_task("mousepad")
    keep(workspace, RoundData(round=1, tasks=(task,), episodes=(tree(world, task),)))
    folder = tmp_path / "dpo"
    made = release(workspace, Ports(world.store), "trl-dpo", folder, Options())
    assert made.splits == {"train": 1} and made.dropped == {}
    row = load(folder)[0]
    assert row["prompt"][-1]["role"] == "user" and len(row["images"]) == 2 and row["step"] == 1
    assert sum(part["type"] == "image" for turn in row["prompt"] for part in turn["content"]) == 2
    (chosen,), (rejected,) = row["chosen"], row["rejected"]
    assert [qwen.parse(turn["content"][0]["text"])[0].args["text"] for turn in (chosen, rejected)] == ["right", "wrong"]
    assert HINT not in json.dumps(row["prompt"]) and "Feedback" not in json.dumps(row["prompt"])


def test_equal_first_steps_are_walked_past_while_the_screens_are_equal(world: World) -> None:
    task = make_task("mousepad")
    episode = tree(world, task)
    click = act("mouse.click", x=1, y=1)
    seen = world.see()
    same = {"observation": seen}
    nodes = (
        episode.nodes[0],
        world.node(1, 0, click, dropped=True),
        world.node(2, 1, act("keyboard.type", text="wrong"), dropped=True).model_copy(update=same),
        world.node(3, 0, click),
        world.node(4, 3, act("keyboard.type", text="right")).model_copy(update=same),
        world.node(5, 4, act("finish", status="success")),
    )
    (pair,) = found(episode.model_copy(update={"nodes": nodes}), task)
    assert isinstance(pair, Pair) and len(pair.before) == 2
    for sees in (world.see(), seen.model_copy(update={"response": "another answer of the shell"})):
        other = nodes[4].model_copy(update={"observation": sees})
        (drop,) = found(episode.model_copy(update={"nodes": (*nodes[:4], other, nodes[5])}), task)
        assert isinstance(drop, Dropped) and drop.reason == "screens-differ"


def test_each_of_several_failures_after_equal_steps_is_a_pair(world: World) -> None:
    """A boundary inside of the abandoned branch was returned to once before the start was."""
    task = make_task("mousepad")
    click, seen = act("mouse.click", x=1, y=1), {"observation": world.see()}
    nodes = (
        world.node(0, -1, click, dropped=True),
        world.node(1, 0, act("keyboard.type", text="wrong"), dropped=True).model_copy(update=seen),
        world.node(2, 0, act("keyboard.type", text="worse"), dropped=True).model_copy(update=seen),
        world.node(3, -1, click),
        world.node(4, 3, act("keyboard.type", text="right")).model_copy(update=seen),
        world.node(5, 4, act("finish", status="success")),
    )
    pairs_found = found(tree(world, task, nodes=nodes), task)
    assert all(isinstance(pair, Pair) for pair in pairs_found) and len({getattr(p, "id", "") for p in pairs_found}) == 2
    said = [pair.rejected.actions[0].action.args["text"] for pair in pairs_found if isinstance(pair, Pair)]
    assert said == ["wrong", "worse"]
    again = nodes[2].model_copy(update={"actions": nodes[1].actions})
    _, drop = found(tree(world, task, nodes=(*nodes[:2], again, *nodes[3:])), task)
    assert isinstance(drop, Dropped) and drop.reason == "seen-before"


def test_what_is_no_pair_keeps_its_reason(world: World) -> None:
    task = make_task("mousepad")
    good = tree(world, task)

    def changed(index: int, **update: object) -> Episode:
        nodes = [node.model_copy(update=update) if node.index == index else node for node in good.nodes]
        return good.model_copy(update={"nodes": tuple(nodes)})

    for episode, reason in (
        (changed(0, snapshot_after=None), "no-snapshot"),
        (changed(2, injected=True), "injected-fault"),
        (changed(3, actions=good.nodes[1].actions), "screens-differ"),
        (changed(3, thought=f"I was told: {HINT}"), "hint-in-row"),
        (changed(3, actions=()), "nothing-carried-out"),
    ):
        drops = [item for item in found(episode, task) if isinstance(item, Dropped)]
        assert [drop.reason for drop in drops] == [reason] and not [
            item for item in found(episode, task) if isinstance(item, Pair)
        ]
    assert found(good.model_copy(update={"outcome": "failed"}), task) == []
    assert found(good.model_copy(update={"image_digest": "simulated"}), task) == []


@pytest.mark.parametrize(("outcome", "pairs_found"), [("failed", 1), ("passed", 0), ("infra", 0), (None, 0)])
def test_a_fork_is_rejected_only_for_having_failed(world: World, outcome: Outcome | None, pairs_found: int) -> None:
    """A branch that was verified with more steps, given up or broken off was not wrong."""
    task = make_task("mousepad")
    kept = Branch(number=0, snapshot="s1", node=0, path=(3, 4), outcome="passed", kept=True)
    other = Branch(number=1, snapshot="s1", node=0, path=(1, 2), outcome=outcome)
    seen = found(tree(world, task, branches=(kept, other)), task)
    assert sum(isinstance(item, Pair) for item in seen) == pairs_found
    if not pairs_found:
        assert [item.reason for item in seen if isinstance(item, Dropped)] == ["not-failed"]


# -- elements -------------------------------------------------------------------------------------------------------------


def test_elements_have_the_box_that_is_read_where_they_were_clicked(
    world: World, workspace: Workspace, tmp_path: Path
) -> None:
    task = make_task("mousepad")
    click = act("mouse.click", x=250.0, y=250.0)  # pixel 16, 10 of 64 x 40
    named = Action(
        action=click.action, target=Target(text="Save As…", role="menuitem", window="Mousepad"), evidence="replay"
    )
    lost = Action(action=click.action, target=Target(text="Open"), evidence="replay")
    nodes = (
        world.node(0, -1, named),
        world.node(1, 0, lost),
        world.node(2, 1, click),
        world.node(3, 2, act("finish", status="success")),
    )
    keep(
        workspace, RoundData(round=1, tasks=(task,), episodes=(world.replay(task).model_copy(update={"nodes": nodes}),))
    )
    boxes = [
        TextBox(text="File Save as Close", x0=0, y0=4, x1=60, y1=16),
        TextBox(text="Save As...", x0=10, y0=5, x1=30, y1=15),
        TextBox(text="Save As...", x0=40, y0=25, x1=60, y1=35),
    ]
    folder = tmp_path / "grounding"
    made = release(
        workspace, Ports(world.store, KnownReader(lambda _: boxes)), "grounding", folder, Options(max_side=32)
    )
    assert made.dropped == {"label-not-read": 1} and made.splits == {"train": 1}
    row = load(folder)[0]
    assert row["image"].size == (32, 20) == (row["width"], row["height"])
    assert (row["element"], row["role"], row["bbox"], row["bbox_1000"]) == (
        "Save As…", "menuitem", [5.0, 2.5, 15.0, 7.5], [156, 125, 469, 375],
    )  # fmt: skip
    assert (row["clicked"], row["cursor"]) == (True, [])
    x, y = row["point"]
    assert row["bbox"][0] < x < row["bbox"][2] and row["bbox"][1] < y < row["bbox"][3]
