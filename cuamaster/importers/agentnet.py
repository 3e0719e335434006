"""AgentNet (OpenCUA's dataset): one JSON line a trajectory, pictures in a folder, actions as pyautogui code in fractions of 1.

    {task_id, instruction, task_completed, ..., traj: [{index, image, value: {code, observation, thought, action, ...}}]}

Format: README of github.com/xlang-ai/OpenCUA ("AgentNet Training Data Structure"), and what others met in the published files:
lite/data/preproc/opencua/use.py of github.com/cua-lite/cua-lite (a terminate in the middle, ids that repeat, `hotkey` of a list).
`image` is the screen before the step's code. Instruction, code and thought have a place in our records; what was written about
the steps (observation, action, reflection, judgements) has none and is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cuamaster.errors import InvalidAction, Unmappable
from cuamaster.importers.code import code_actions, cursor_of
from cuamaster.importers.found import FAULTS, Found, Skip, json_lines, list_of, lost, never, refused, text_of, told
from cuamaster.importers.pictures import PictureFolders, observe, picture_folders
from cuamaster.ports import Store
from cuamaster.records.trajectory import Action, Lineage, Step, Trajectory

_TOP = {"task_id", "instruction", "traj", "task_completed"}
_STEP = {"code", "thought"}
_TERMINATE = "computer.terminate"


def read_agentnet(
    path: Path, store: Store, *, images: Path | None = None, license_name: str | None = None, skip: Skip = never
) -> Iterator[Found]:
    """Every line of an AgentNet JSONL file; `images`: the folder of its pictures (default: beside the file)."""
    folders = picture_folders(path, images)
    seen: Counter[str] = Counter()
    for number, line in json_lines(path):
        name = line.get("task_id") if isinstance(line, dict) else None
        item = f"agentnet:{name}" if isinstance(name, str) and name else f"agentnet:{path.name}:{number}"
        item = told(item)
        seen[item] += 1
        if seen[item] > 1:  # the published files hold different recordings under one id
            item = f"{item}#{seen[item]}"
        if isinstance(line, Unmappable):
            yield refused(item, line)
            continue
        try:
            yield (
                Found(item, skipped=True)
                if skip(item)
                else _trajectory(line, item, f"{path}, line {number}", folders, store, license_name)
            )
        except FAULTS as exc:
            yield refused(item, exc)


def _trajectory(
    data: dict[str, Any], item: str, where: str, folders: PictureFolders, store: Store, license_name: str | None
) -> Found:
    instruction = text_of(data, "instruction", where)
    if data.get("task_completed") is False:
        raise Unmappable(f"{where}: the source says that the task was not completed", reason="source-says-failed")
    given = list_of(data, "traj", where)
    if not given:
        raise Unmappable(f"{where}: no steps", reason="no-steps")
    names = Counter(key for key, value in data.items() if key not in _TOP and value is not None)
    steps: list[Step] = []
    cursor: tuple[float, float] | None = None
    for index, step in enumerate(given):
        place = f"{where}, step {index}"
        value = step.get("value") if isinstance(step, dict) else None
        code = text_of(value, "code", place)
        assert isinstance(value, dict)
        names.update(key for key, text in value.items() if key not in _STEP and text not in (None, ""))
        if _TERMINATE in code and index < len(given) - 1:
            names["terminate before the end"] += 1
            continue
        observation = observe(folders.read(text_of(step, "image", place), place), store, place)
        try:
            actions = code_actions(code, (observation.width, observation.height), cursor, fractions=True)
        except InvalidAction as exc:
            raise Unmappable(f"{place}: {exc}", reason="unknown-action", names=(exc.field,)) from exc
        if not actions:  # scroll(0), or the typing of nothing
            names["step that does nothing"] += 1
            continue
        cursor = cursor_of(actions, cursor)
        thought = value.get("thought")
        steps.append(
            Step(
                observation=observation,
                actions=tuple(Action(action=a) for a in actions),
                thought=thought if isinstance(thought, str) else "",
            )
        )
    if not steps or steps[-1].actions[-1].action.type != "finish":
        # there is no picture of what the last action led to, so it would stand without its effect
        raise Unmappable(f"{where}: does not end with {_TERMINATE}", reason="no-final-picture")
    trajectory = Trajectory(
        origin="imported", task_id=item, instruction=instruction, app="", steps=tuple(steps), final=steps[-1].observation,
        lineage=Lineage(source=item, license=license_name), annotator="agentnet",
    )  # fmt: skip
    return Found(item, kept=(trajectory,), dropped=lost(item, names))
