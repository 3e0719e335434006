"""OSWorld: task files (`evaluation_examples/examples/<domain>/<id>.json`) as tasks, result folders as trajectories.

A task is `id, snapshot, instruction, source, config, related_apps, evaluator, ...` (github.com/xlang-ai/OSWorld,
evaluation_examples/README.md). It becomes T = (I, E, V): `config` the setup of E, `evaluator` V, its `postconfig` what is done
before V looks. A result folder holds `traj.jsonl`, pictures and `result.txt` (lib_run_single.py).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cuamaster.errors import InvalidInput, Unmappable
from cuamaster.importers.found import FAULTS, Found, Skip, list_of, lost, never, refused, text_of, told
from cuamaster.importers.osworld_config import APPS, Steps
from cuamaster.importers.osworld_evaluator import verifier_of
from cuamaster.importers.osworld_files import TaskFiles
from cuamaster.importers.osworld_results import KnownTask, read_result
from cuamaster.ports import Store
from cuamaster.records.condition import Condition
from cuamaster.records.task import Environment, Task
from cuamaster.records.trajectory import Lineage

TASK_PREFIX = "osworld:"
"""What the id of a task's record begins with; those of results begin otherwise."""
LICENSE = "Apache-2.0"
_NO_APP = {"os", "multi_apps", "multiapps", "terminal"}
_KNOWN = {"id", "instruction", "config", "evaluator", "related_apps", "snapshot", "source", "trajectory"}
_MEANINGLESS = {"proxy": False, "fixed_ip": False, "possibility_of_env_change": "low"}
"""Fields of the benchmark's own machinery, at the values that ask for nothing."""
_MAX_TASK = 16 << 20


def read_osworld(
    paths: Sequence[Path], store: Store, *, image: str, files: Path | None = None, skip: Skip = never
) -> Iterator[Found]:
    """Every task file and every result folder under `paths`, tasks first; `image`: the guest image the tasks are to run on.

    `files`: a folder with what the tasks download (see `osworld_files`). Raises InvalidInput for a path that is not there.
    """
    tasks: dict[str, KnownTask] = {}
    for path in _files(paths, "*.json"):
        data = _task_file(path)
        if isinstance(data, Unmappable):
            yield refused(told(f"{TASK_PREFIX}{path}"), data)
        elif data is not None:
            found = task_of(data, image=image, files=files)
            name = found.id.removeprefix(TASK_PREFIX)
            if name in tasks:
                yield refused(f"{found.id}@{path}", Unmappable(f"{path}: this id was there before", reason="repeated"))
                continue
            tasks[name] = _known(data, found)
            yield found
    for path in _files(paths, "traj.jsonl"):
        yield read_result(path, tasks.get(path.parent.name), store, skip)


def _known(data: dict[str, Any], found: Found) -> KnownTask:
    """What its results need of a task, and no more: a task may hold files."""
    instruction = data.get("instruction")
    task = next((item for item in found.kept if isinstance(item, Task)), None)
    return KnownTask(
        instruction=instruction if isinstance(instruction, str) else "",
        task_id=task.id if task else found.id,
        start_state=task.environment.established if task else (),
        verifier=task.verifier if task else None,
    )


def task_of(data: Any, *, image: str, files: Path | None = None) -> Found:
    """One task file's content as a task, or everything that stands in its way."""
    name = data.get("id") if isinstance(data, dict) else None
    item = told(f"{TASK_PREFIX}{name if isinstance(name, str) and name else 'without-id'}")
    try:
        return _task(data, item, image, files)
    except FAULTS as exc:
        return refused(item, exc)


def _task(data: Any, item: str, image: str, files: Path | None) -> Found:
    name = text_of(data, "id", item)
    instruction = text_of(data, "instruction", item)
    evaluator = data.get("evaluator")
    local = TaskFiles(files, name)
    start, end = Steps(local), Steps(local, closing=True)
    faults = start.add(list_of({"config": [], **data}, "config", item), "config")
    verifier, more = verifier_of(evaluator, local, "evaluator")
    faults += more
    if isinstance(evaluator, dict) and evaluator.get("postconfig"):
        faults += end.add(list_of(evaluator, "postconfig", item), "postconfig")
    if faults or verifier is None:
        return refused(item, *faults)
    told = data.get("source")
    origin = (Lineage(source=told),) if isinstance(told, str) and told else ()
    task = Task(
        instruction=instruction,
        environment=Environment(
            image=image, image_digest="", capabilities=_capabilities(data, start, end), setup=tuple(start.setup),
            established=_all(start.established),
        ),
        verifier=verifier, closing=tuple(end.setup), plan=(), strategy="imported", domain=str(data.get("snapshot") or ""),
        lineage=(Lineage(source=item, license=LICENSE), *origin),
    )  # fmt: skip
    names = Counter([*start.skipped, *end.skipped])
    names.update(key for key, value in data.items() if key not in _KNOWN and _MEANINGLESS.get(key, ...) != value)
    return Found(item, kept=(task,), dropped=lost(item, names))


def _all(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(dict.fromkeys(conditions))


def _capabilities(data: Any, *steps: Steps) -> tuple[str, ...]:
    related = list_of({**data, "related_apps": data.get("related_apps") or []}, "related_apps", "task")
    if not all(isinstance(name, str) for name in related):
        raise Unmappable(f"related_apps: {related!r:.200}", reason="malformed", names=("related_apps",))
    names = [APPS.get(name, name) for name in related if name not in _NO_APP]
    apps = dict.fromkeys([*names, *(app for part in steps for app in part.apps)])
    return tuple(f"app:{app}" for app in apps)


def _files(paths: Sequence[Path], pattern: str) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise InvalidInput(f"{path}: no such file or folder")
        yield from sorted(path.rglob(pattern)) if path.is_dir() else [path] if path.match(pattern) else []


def _task_file(path: Path) -> dict[str, Any] | Unmappable | None:
    """A task, why it is none, or None for JSON that is something else (an index of tasks, arguments of a run)."""
    try:
        if path.stat().st_size > _MAX_TASK:
            return Unmappable(f"{path}: more than {_MAX_TASK >> 20} MiB", reason="too-big")
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as exc:
        return Unmappable(f"{path}: not JSON: {exc}", reason="not-json")
    except OSError as exc:
        return Unmappable(f"{path}: {exc.strerror or exc}", reason="unreadable")
    return data if isinstance(data, dict) and ("evaluator" in data or "instruction" in data) else None
