"""Preference pairs of attempts that really went wrong: collected, rolled back and verified as ever, then read as TRL reads them."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import io
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import pytest
from trl import data_utils

from cuamaster import wiring
from cuamaster.adapters.desktops.simulated import SimulatedDesktop
from cuamaster.adapters.screens.known import KnownReader
from cuamaster.dialects import qwen
from cuamaster.exports.manifest import Release
from cuamaster.exports.options import Options
from cuamaster.records.episode import Episode, Node
from cuamaster.records.primitive import Procedure
from cuamaster.records.task import PrimitiveUse, Task
from cuamaster.settings import Settings
from cuamaster.stages import Ports, release
from cuamaster.stages.collecting import collect, faulted
from cuamaster.stages.running import in_turn
from cuamaster.tables import Workspace
from tests.e2e import collector

pytestmark = pytest.mark.slow
TASKS = 4


def tasks() -> list[Task]:
    """Write a line and save it, by a primitive whose first procedure leaves the dialog before anything is saved."""
    steps = collector.SAVE.procedures[0].steps
    escapes = Procedure(mode="gui", steps=(*steps[:-1], collector._keys("escape")))
    save = collector.SAVE.model_copy(update={"procedures": (escapes, *collector.SAVE.procedures)})
    return [
        task.model_copy(update={"plan": (task.plan[0], PrimitiveUse(primitive=save, arguments=task.plan[1].arguments))})
        for task in collector.tasks(TASKS)
    ]


Collected = tuple[Settings, dict[str, Episode], Release]


def collected_by(settings: Settings, wanted: list[Task]) -> Collected:
    """All that is pretended is that the simulated desktop is a guest: what was done on it may be exported."""
    with pytest.MonkeyPatch.context() as patched, wiring.desktop_ports(settings) as ports:
        patched.setattr(SimulatedDesktop, "image_digest", "light-desktop-0123456789ab")
        hurried = lambda: time.monotonic() * collector.HASTE  # noqa: E731
        blind = dataclasses.replace(ports, reader=KnownReader(lambda _image: []), clock=hurried)
        workspace = Workspace(settings.workspace)
        stage = workspace.round(1).stage("compose")
        stage.write("tasks", wanted)
        stage.close("tasks")
        collect(workspace.round(1), wanted, blind, settings, in_turn)
        made = release(workspace, Ports(ports.store), "trl-dpo", settings.workspace / "dpo", Options(test_percent=0))
        episodes = workspace.round(1).stage("collect").kept(Episode)
        return settings, {episode.task_id: episode for episode in episodes}, made


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Collected:
    """By the replay policy, half of the tasks with faults made on purpose as well."""
    folder = tmp_path_factory.mktemp("collected")
    settings = Settings(workspace=folder, desktop="simulated", fault_share=0.5, fault_rate=1.0, max_retries=8)
    return collected_by(settings, tasks())


def load(settings: Settings) -> Any:
    """The rows as `datasets` gives them, pictures left as bytes."""
    folder = settings.workspace / "dpo"
    rows = datasets.load_dataset(str(folder), split="train", cache_dir=str(settings.workspace / "hf"))
    return rows.cast_column("images", datasets.List(datasets.Image(decode=False)))


def said(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    (turn,) = turns
    return [action.to_dict() for action in qwen.parse(turn["content"][0]["text"])]


def done(node: Node) -> list[dict[str, Any]]:
    return [item.action.to_dict() for item in node.actions]


def test_the_better_answer_is_of_the_verified_branch_and_the_worse_one_of_the_failed_branch(
    collected: Collected,
) -> None:
    settings, episodes, made = collected
    erring = faulted(tasks(), settings)
    assert len(erring) == TASKS // 2 and all(episode.outcome == "passed" for episode in episodes.values())
    rows = load(settings)
    assert {row["task_id"] for row in rows} == set(episodes) - erring and made.splits == {"train": TASKS // 2}
    for row in rows:
        nodes = {node.index: node for node in episodes[row["task_id"]].nodes}
        kept = episodes[row["task_id"]].path()[row["step"]]
        assert done(kept) == said(row["chosen"]) == [{"type": "keyboard.press", "args": {"keys": ["enter"]}}]
        (wrong,) = [node for node in nodes.values() if node.dropped and done(node) == said(row["rejected"])]
        assert said(row["rejected"]) == [{"type": "keyboard.press", "args": {"keys": ["escape"]}}]
        shown = [hashlib.sha256(image["bytes"]).hexdigest() for image in row["images"]]
        assert shown[-1] == kept.observation.screenshot == wrong.observation.screenshot
        forks = [_fork(nodes, node) for node in (kept, wrong)]
        assert forks[0] == forks[1] and nodes[forks[0]].snapshot_after, "both came from one attested snapshot"


def _fork(nodes: dict[int, Node], node: Node) -> int:
    """The last step before a node that more than one step followed."""
    followed = Counter(other.parent for other in nodes.values())
    while followed[node.parent] < 2:
        node = nodes[node.parent]
    return node.parent


def test_nothing_of_a_fault_made_on_purpose_and_no_hint_is_in_a_pair(
    collected: Collected,
) -> None:
    settings, episodes, made = collected
    assert sum(episode.injected_faults for episode in episodes.values()) > 0
    assert set(made.dropped) == {"injected-fault"}
    hints = {divergence.feedback for episode in episodes.values() for divergence in episode.divergences}
    for row in load(settings):
        assert hints and not any(hint in str(row[name]) for hint in hints for name in ("prompt", "chosen", "rejected"))


def test_trl_reads_the_pairs(collected: Collected) -> None:
    from PIL import Image

    for row in load(collected[0]):
        assert data_utils.is_conversational(row)
        pictures = [Image.open(io.BytesIO(image["bytes"])) for image in row["images"]]
        filled = data_utils.prepare_multimodal_messages(row["prompt"], images=pictures)
        assert sum(part["type"] == "image" for turn in filled for part in turn["content"]) == len(pictures)
        joined = {"chosen": row["prompt"] + row["chosen"], "rejected": row["prompt"] + row["rejected"]}
        assert data_utils.extract_prompt(joined) == {name: row[name] for name in ("prompt", "chosen", "rejected")}


def test_an_endpoint_that_errs_twice_gives_both_errors(tmp_path: Path) -> None:
    """It knows no plan: ends too early, then misspells; both steps follow the one that was right, which it has to do again."""
    server = _endpoint()
    end = tool("computer_use", action="terminate", status="success")
    right, wrong = (tool("shell_exec", command=f"mkdir ~/{name}") for name in ("two", "tow"))
    first = tool("shell_exec", command="mkdir ~/one")
    server.script = [first, end, wrong, end, first, right, end]
    settings = Settings(
        workspace=tmp_path, desktop="simulated", mode="mixed", fault_share=0, policy="openai_api", api_base=server.url,
        api_model="scripted", max_retries=2,
    )  # fmt: skip
    try:
        _, episodes, made = collected_by(settings, [collector.FOLDERS])
    finally:
        server.close()
    (episode,) = episodes.values()
    assert (episode.outcome, episode.rollbacks, made.splits, made.dropped) == ("passed", 2, {"train": 2}, {})
    rows = list(load(settings))
    assert [said(row["rejected"])[0]["type"] for row in rows] == ["finish", "shell.exec"]
    assert all(said(row["chosen"])[0]["args"] == {"command": "mkdir ~/two"} for row in rows)
    assert rows[0]["prompt"] == rows[1]["prompt"] and rows[0]["images"] == rows[1]["images"]


def tool(name: str, **arguments: Any) -> str:
    return f"Go on\n<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def _endpoint() -> Any:
    place = Path(__file__).parents[1] / "servers" / "chat_server.py"
    spec = importlib.util.spec_from_file_location("loopback_chat", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ChatServer()
