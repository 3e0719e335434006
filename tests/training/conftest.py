"""Tasks on the simulated desktop, and datasets as far as a trainer's configuration looks at them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuamaster.exports.manifest import Release
from cuamaster.exports.options import Options
from cuamaster.exports.profiles import profile
from cuamaster.exports.rl import Released
from cuamaster.records.task import Certificate, Probe, Task
from cuamaster.records.verdict import Verdict
from scripts.train_smoke.demonstrations import DIGEST, tasks


@pytest.fixture
def clock() -> Callable[[], float]:
    """A second passes whenever somebody looks."""
    ticks = itertools.count()
    return lambda: float(next(ticks))


@pytest.fixture(scope="session")
def task() -> Task:
    """Write milk and save it as a.txt."""
    return tasks(["milk"])[0]


@pytest.fixture(scope="session")
def row(task: Task) -> dict[str, Any]:
    """Its row in profile trl-grpo."""
    probes = tuple(
        Probe.model_validate({"name": name, "expected": status, "verdict": Verdict.model_validate({"status": status})})
        for name, status in (("null", "failed"), ("oracle", "passed"))
    )
    item = Released(task, Certificate(task_id=task.id, probes=probes, image_digest=DIGEST), 1, ())
    (found,) = profile("trl-grpo").rows(item, Options(mode="gui"))
    assert isinstance(found, dict)
    return found


@pytest.fixture
def dataset(tmp_path: Path) -> Callable[..., Path]:
    """A folder with the manifest of a dataset and a file a split, whose rows no configuration reads."""

    def build(name: str, splits: dict[str, int] | None = None, **options: Any) -> Path:
        folder, rows = tmp_path / name, {"train": 640, "test": 7} if splits is None else splits
        files = []
        for split, count in rows.items():
            path = folder / split / "r001-00000.parquet"
            path.parent.mkdir(parents=True)
            path.write_bytes(b"rows")
            files.append({"name": f"{split}/{path.name}", "rows": count, "bytes": 4, "sha256": ""})
        made = Release.model_validate(
            {
                "version": "dataset@round-2", "profile": name, "options": Options(**options), "inputs": (), "files": files, "rounds": (),
                "weights": (), "splits": rows, "dropped": {}, "software": {},
            }
        )  # fmt: skip
        folder.mkdir(exist_ok=True)
        (folder / "manifest.json").write_text(made.model_dump_json())
        return folder

    return build
