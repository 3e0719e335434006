"""AgentNet's JSON lines as trajectories: code becomes actions, pictures are kept, the rest is counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cuamaster.action_space import to_pixel
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.errors import InvalidInput
from cuamaster.importers.agentnet import read_agentnet
from cuamaster.importers.found import Found, named
from cuamaster.records.trajectory import Trajectory
from tests.importers.conftest import DATA, png

FILE = DATA / "agentnet" / "agentnet_ubuntu.jsonl"
GOOD = "agentnet:20240927235321_5855063d"


@pytest.fixture
def found(store: LocalStore) -> dict[str, Found]:
    return {item.id: item for item in read_agentnet(FILE, store, license_name="MIT")}


def trajectory(item: Found) -> Trajectory:
    (kept,) = item.kept
    assert isinstance(kept, Trajectory)
    return kept


def test_every_line_is_accounted_for(found: dict[str, Found]) -> None:
    reasons = {name: [row.reason for row in item.dropped] for name, item in found.items() if not item.kept}
    assert reasons == {
        "agentnet:20240928_failed": ["source-says-failed"],
        "agentnet:20240929_open": ["no-final-picture"],
        "agentnet:20240930_odd": ["unknown-action"],
        "agentnet:20241001_lacking": ["no-picture"],
        "agentnet:agentnet_ubuntu.jsonl:6": ["not-json"],
    }
    assert [name for name, item in found.items() if item.kept] == [GOOD, f"{GOOD}#2"]


def test_code_becomes_actions(found: dict[str, Found]) -> None:
    kept = trajectory(found[GOOD])
    first, keys, drag, write, end = kept.steps
    click = first.actions[0].action
    assert click.type == "mouse.click"
    assert (to_pixel(click.args["x"], 160), to_pixel(click.args["y"], 90)) == (int(0.1632 * 160), int(0.2711 * 90))
    assert [item.action.args["keys"] for item in keys.actions] == [("ctrl", "a"), ("down",), ("down",)]
    assert [item.action.type for item in drag.actions] == ["mouse.drag"]
    assert drag.actions[0].action.args["path"] == ((500, 500), (750, 500))
    assert [item.action.type for item in write.actions] == ["mouse.click", "keyboard.type"]
    assert write.actions[0].action.args["count"] == 3
    assert write.actions[1].action.args["text"] == "it's done <"
    assert end.actions[0].action.to_dict() == {"type": "finish", "args": {"status": "success"}}


def test_pictures_thoughts_and_lineage_are_kept(found: dict[str, Found], store: LocalStore) -> None:
    kept = trajectory(found[GOOD])
    assert kept.origin == "imported" and kept.verifier is None
    assert kept.lineage.source == GOOD and kept.lineage.license == "MIT"
    assert [step.thought for step in kept.steps] == [f"Thought {n}." for n in (0, 1, 3, 4, 5)]
    shown = store.get(kept.steps[0].observation.screenshot)
    assert shown == (FILE.parent / "images" / "ea83c4aa-0.png").read_bytes()
    assert (kept.final.width, kept.final.height) == (160, 90)
    assert Trajectory.model_validate_json(kept.to_json()) == kept


def test_what_has_no_place_is_counted(found: dict[str, Found]) -> None:
    (row,) = found[GOOD].dropped
    assert row.reason == "not-mapped"
    assert (
        "observation x6" in row.detail and "reflection x5" in row.detail and "terminate before the end x1" in row.detail
    )
    assert ("not-mapped", "alignment_score") in named([row])


def test_a_record_that_is_done_is_not_read_again(store: LocalStore) -> None:
    items = list(read_agentnet(FILE, store, skip=lambda name: name == GOOD))
    assert [item.id for item in items if item.skipped] == [GOOD]


def _line(tmp_path: Path, **changes: Any) -> Path:
    good = json.loads(FILE.read_text().splitlines()[0])
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({**good, **changes}) + "\n")
    return path


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"instruction": "  "}, "malformed"),
        ({"instruction": None}, "malformed"),
        ({"instruction": "sort " * 20_000_000}, "too-big"),
        ({"traj": []}, "no-steps"),
        ({"traj": "none"}, "malformed"),
        ({"traj": [None]}, "malformed"),
        ({"traj": [{"image": "a.png", "value": {"code": 7}}]}, "malformed"),
        ({"traj": [{"image": "../t.jsonl", "value": {"code": "computer.terminate(status='success')"}}]}, "no-picture"),
        ({"traj": [{"image": "/etc/hostname", "value": {"code": "computer.terminate(status='success')"}}]}, "no-picture"),
        ({"traj": [{"image": "a\x00.png", "value": {"code": "computer.terminate(status='success')"}}]}, "no-picture"),
        ({"traj": [{"image": "cut.png", "value": {"code": "computer.terminate(status='success')"}}]}, "bad-picture"),
        ({"traj": [{"image": "text.png", "value": {"code": "computer.terminate(status='success')"}}]}, "bad-picture"),
        ({"traj": [{"image": "a.png", "value": {"code": "pyautogui.click(x=1.5, y=0.5)"}}]}, "unknown-action"),
        ({"traj": [{"image": "a.png", "value": {"code": "while True: pass"}}]}, "unknown-action"),
    ],
)  # fmt: skip
def test_bad_lines_are_refused_with_a_reason(
    tmp_path: Path, store: LocalStore, changes: dict[str, Any], reason: str
) -> None:
    path = _line(tmp_path, **changes)
    (tmp_path / "a.png").write_bytes(png())
    (tmp_path / "cut.png").write_bytes(png(640, 480)[:-40])
    (tmp_path / "text.png").write_bytes(b"not a picture")
    (item,) = read_agentnet(path, store)
    assert item.kept == () and [row.reason for row in item.dropped] == [reason]


def test_jpeg_pictures_become_png(tmp_path: Path, store: LocalStore) -> None:
    traj = [{"image": "a.jpg", "value": {"code": "computer.terminate(status='success')", "thought": ""}}]
    path = _line(tmp_path, traj=traj)
    (tmp_path / "a.jpg").write_bytes(png(kind="JPEG"))
    (item,) = read_agentnet(path, store)
    assert store.get(trajectory(item).final.screenshot).startswith(b"\x89PNG")


@pytest.mark.slow
def test_forty_thousand_steps_are_one_trajectory(tmp_path: Path, store: LocalStore) -> None:
    (tmp_path / "a.png").write_bytes(png())
    step = {"image": "a.png", "value": {"code": "pyautogui.press('down')", "thought": "on"}}
    end = {"image": "a.png", "value": {"code": "computer.terminate(status='success')"}}
    path = _line(tmp_path, traj=[step] * 40_000 + [end])
    (item,) = read_agentnet(path, store)
    assert len(trajectory(item).steps) == 40_001


def test_a_step_that_does_nothing_is_left_out_and_counted(tmp_path: Path, store: LocalStore) -> None:
    (tmp_path / "a.png").write_bytes(png())
    codes = ("pyautogui.scroll(0)", "pyautogui.write(message='')", "computer.terminate(status='success')")
    path = _line(tmp_path, traj=[{"image": "a.png", "value": {"code": code}} for code in codes])
    (item,) = read_agentnet(path, store)
    assert len(trajectory(item).steps) == 1 and "step that does nothing x2" in item.dropped[0].detail


def test_mixed_resolutions_keep_each_its_own_size(tmp_path: Path, store: LocalStore) -> None:
    for name, width in (("a.png", 200), ("b.png", 100)):
        (tmp_path / name).write_bytes(png(width))
    steps = [
        {"image": "a.png", "value": {"code": "pyautogui.click(x=0.5, y=0.5)"}},
        {"image": "b.png", "value": {"code": "computer.terminate(status='success')"}},
    ]
    (item,) = read_agentnet(_line(tmp_path, traj=steps), store)
    assert [step.observation.width for step in trajectory(item).steps] == [200, 100]


def test_a_file_that_is_not_there(tmp_path: Path, store: LocalStore) -> None:
    with pytest.raises(InvalidInput, match="No such file"):
        list(read_agentnet(tmp_path / "absent.jsonl", store))


def test_lines_that_are_no_records(tmp_path: Path, store: LocalStore) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'\n[1]\n"a"\n{"task_id": 4}\n\xff\xfe\n' + b"[" * 100_000 + b"\n")
    assert Counter(row.reason for item in read_agentnet(path, store) for row in item.dropped) == {
        "not-json": 4,
        "malformed": 1,
    }
