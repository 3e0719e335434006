"""An OSWorld result folder as a trajectory: `traj.jsonl` has one line an action, with the picture taken after it.

Format: lib_run_single.py of github.com/xlang-ai/OSWorld (`step_num, action_timestamp, action, response, reward, done, info,
screenshot_file`), `result.txt` with the score. The first picture is of the screen after the first action: unless the folder
has one of the begin (some runners save it), that action cannot be shown with what it was decided on, and is left out by name.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.dialects.coordinates import Point
from cuamaster.errors import InvalidAction, Unmappable
from cuamaster.importers.code import code_actions, computer_13_actions, cursor_of
from cuamaster.importers.found import FAULTS, Found, Skip, json_lines, lost, never, refused, text_of, told
from cuamaster.importers.pictures import PictureFolders, observe
from cuamaster.ports import Store
from cuamaster.records.condition import Condition
from cuamaster.records.trajectory import Action, Lineage, Observation, Step, Trajectory

_FIRST = ("initial_state.png", "step_0.png", "step_reset.png", "initial_screenshot.png")
_MAPPED = {
    "step_num",
    "action_timestamp",
    "action",
    "response",
    "screenshot_file",
    "done",
    "reward",
    "info",
    "step_status",
}
_PARTS = 5
"""How much of a folder's path names a run: action space, observation, model, domain, task."""


@dataclass(frozen=True)
class KnownTask:
    """What a result takes from its task; without a verifier the task could not be mapped."""

    instruction: str
    task_id: str
    start_state: tuple[Condition, ...] = ()
    verifier: Condition | None = None


def read_result(path: Path, task: KnownTask | None, store: Store, skip: Skip = never) -> Found:
    """The trajectory of one `traj.jsonl`, if its task is known."""
    folder = path.parent
    item = told(f"osworld-result:{'/'.join(folder.parts[-_PARTS:])}")
    try:
        return Found(item, skipped=True) if skip(item) else _trajectory(path, item, task, store)
    except FAULTS as exc:
        return refused(item, exc)


def _trajectory(path: Path, item: str, task: KnownTask | None, store: Store) -> Found:
    if task is None:
        raise Unmappable(
            f"{path}: no task {path.parent.name} is known",
            reason="no-task",
            hint="give the folder of task files as well",
        )
    _passed(path.parent)
    pictures = PictureFolders(path.parent)
    names: Counter[str] = Counter()
    before = _first(path.parent, pictures, store)
    steps: list[Step] = []
    cursor: Point | None = None
    for number, line in json_lines(path):
        where = f"{path}, line {number}"
        if isinstance(line, Unmappable):
            raise line
        if steps and steps[-1].actions[-1].action.type == "finish":  # runners append: the folder was used twice
            raise Unmappable(f"{where}: goes on after the end", reason="malformed", names=("two runs in one file",))
        names.update(key for key in line if key not in _MAPPED)
        after = observe(pictures.read(text_of(line, "screenshot_file", where), where), store, where)
        actions = _actions(line.get("action"), before or after, cursor, where)
        cursor = cursor_of(actions, cursor)
        if not actions:
            names["step that does nothing"] += 1
        elif before is None:
            names[f"first action ({', '.join(action.type for action in actions)}): no picture before it"] += 1
        else:
            thought = line.get("response")
            steps.append(
                Step(
                    observation=before,
                    actions=tuple(Action(action=a) for a in actions),
                    thought=thought if isinstance(thought, str) else "",
                )
            )
        before = after
    if before is None or not steps:
        raise Unmappable(f"{path}: no action with a picture before it", reason="no-steps")
    trajectory = Trajectory(
        origin="imported",
        task_id=task.task_id,
        instruction=text_of({"instruction": task.instruction}, "instruction", item),
        app="",
        steps=tuple(steps),
        final=before,
        start_state=task.start_state,
        verifier=task.verifier,
        lineage=Lineage(source=item),
        annotator="osworld",
    )
    return Found(item, kept=(trajectory,), dropped=lost(item, names))


def _passed(folder: Path) -> None:
    """Raises Unmappable for a run that its own benchmark scored below 1: nobody should learn from it."""
    try:
        text = (folder / "result.txt").read_text("utf-8").strip()
        score = float(text)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as exc:
        raise Unmappable(f"{folder / 'result.txt'}: {exc}", reason="malformed", names=("result.txt",)) from exc
    if not score >= 1.0:  # also what is no number
        raise Unmappable(f"{folder}: scored {score:g}", reason="source-says-failed")


def _first(folder: Path, pictures: PictureFolders, store: Store) -> Observation | None:
    names = [*_FIRST, *sorted(path.name for path in folder.glob("step_0_*.png"))]
    name = next((name for name in names if (folder / name).is_file()), None)
    return observe(pictures.read(name, str(folder)), store, str(folder / name)) if name else None


def _actions(action: Any, screen: Observation, cursor: Point | None, where: str) -> list[CUAAction]:
    size = (screen.width, screen.height)
    code = action.get("command") if isinstance(action, dict) else action
    try:
        if isinstance(code, str):
            return code_actions(code, size, cursor)
        if isinstance(action, dict):
            return computer_13_actions(action, size, cursor)
    except InvalidAction as exc:
        raise Unmappable(f"{where}: {exc}", reason="unknown-action", names=(exc.field,)) from exc
    raise Unmappable(f"{where}: {action!r:.200} is no action", reason="unknown-action", names=("action",))
