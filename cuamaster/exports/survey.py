"""What is in a dataset, counted in one pass that reads no pictures: the numbers behind the card and the report."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cuamaster.dialects import qwen
from cuamaster.errors import IntegrityError, UnreadableAnswer
from cuamaster.exports.answers import answers
from cuamaster.exports.datafiles import DataFile, data_files, rows
from cuamaster.exports.preflight.texts import instruction_of

COUNTED = ("proof", "source", "mode", "policy", "round", "domain", "strategy", "reason", "split")
_COLUMNS = (
    *COUNTED, "id", "task_id", "instruction", "apps", "K", "N", "license", "video_id", "video_url", "n_steps", "n_rollbacks", "steps_json",
    "env_id", "env_image_digest", "messages", "prompt", "completion", "conversation", "traj", "screen_w", "screen_h", "base_success_rate",
)  # fmt: skip
SAMPLE = 2000
"""Instructions kept for the map: a uniform sample, whatever the size of the dataset."""
_VIDEOS = 1000
_MANY = 10_000
"""Distinct values a counter holds; what comes later is counted as `(others)`."""


@dataclass
class Config:
    """One configuration: its files by split, and counts over its rows."""

    name: str
    files: dict[str, list[DataFile]] = field(default_factory=dict)
    rows: int = 0
    rows_of_split: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    bytes_of_split: Counter[str] = field(default_factory=Counter)
    columns: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    apps: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)
    images: Counter[str] = field(default_factory=Counter)
    screens: Counter[str] = field(default_factory=Counter)
    cells: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    """(domain, K, N) -> rows."""
    actions: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    """Steps a trajectory -> rows."""
    steps: int = 0
    rollbacks: int = 0
    videos: dict[str, str] = field(default_factory=dict)
    """Video id -> address, the first thousand."""


@dataclass
class Survey:
    """All configurations by name, and a sample of (configuration, instruction) for the map."""

    configs: dict[str, Config]
    sample: list[tuple[str, str]]
    seen: int = 0

    @property
    def rows(self) -> int:
        """Rows in all."""
        return sum(config.rows for config in self.configs.values())


def survey(folder: Path, *, seed: int = 0) -> Survey:
    """Count every data file under `folder`; raises InvalidInput if there is no such place, IntegrityError for damage."""
    found = Survey({}, [])
    chance = random.Random(seed)
    for file in data_files(folder):
        config = found.configs.setdefault(file.config, Config(file.config))
        config.files.setdefault(file.split, []).append(file)
        size = file.path.stat().st_size
        config.bytes += size
        config.bytes_of_split[file.split] += size
        if file.path.suffix == ".parquet" and not config.columns:
            config.columns = _features(file.path)
        for row in rows(file, _COLUMNS):
            config.rows_of_split[file.split] += 1
            try:
                _count(config, row.values)
                _sample(found, config.name, instruction_of(row.values), chance)
            except (KeyError, TypeError, AttributeError, ValueError) as exc:
                told = f"{file.path}, {row.id}: cannot be counted: {type(exc).__name__}: {exc}"
                raise IntegrityError(told, hint="cuamaster preflight tells what is wrong with it") from exc
    return found


def _features(path: Path) -> dict[str, Any]:
    """Columns with their `datasets` features if the file names them, else with their Arrow types."""
    schema = pq.read_schema(path)
    told = (schema.metadata or {}).get(b"huggingface")
    if told:
        features = json.loads(told).get("info", {}).get("features")
        if isinstance(features, dict):
            return features
    return {name: {"_type": "Value", "dtype": str(kind)} for name, kind in zip(schema.names, schema.types, strict=True)}


def _sample(found: Survey, config: str, instruction: str, chance: random.Random) -> None:
    """Vitter's reservoir: every instruction is kept with the same probability."""
    if not instruction.strip():
        return
    found.seen += 1
    if len(found.sample) < SAMPLE:
        found.sample.append((config, instruction[:500]))
    elif (place := chance.randrange(found.seen)) < SAMPLE:
        found.sample[place] = (config, instruction[:500])


def _count(config: Config, row: Mapping[str, Any]) -> None:
    config.rows += 1
    for column in COUNTED:
        if row.get(column) not in (None, ""):
            _add(config.counts.setdefault(column, Counter()), str(row[column]))
    for app in row.get("apps") or ():
        _add(config.apps, app)
    if "license" in row:
        _add(config.licenses, row["license"] or "not stated")
    if isinstance(row.get("K"), int) and isinstance(row.get("N"), int):
        config.cells[row.get("domain") or "no domain", row["K"], row["N"]] += 1
    if row.get("env_id"):
        _add(config.images, f"{row['env_id']} {row.get('env_image_digest') or ''}".strip())
    if row.get("screen_w") and row.get("screen_h"):
        _add(config.screens, f"{row['screen_w']}x{row['screen_h']}")
    video = row.get("video_id")
    if video and len(config.videos) < _VIDEOS:
        config.videos.setdefault(str(video), str(row.get("video_url") or video))
    _acts(config, row)


def _acts(config: Config, row: Mapping[str, Any]) -> None:
    config.rollbacks += row.get("n_rollbacks") or 0
    steps = row.get("steps_json")
    plain = json.loads(steps) if isinstance(steps, str) else []
    told = [] if plain else list(answers(row))
    length = row.get("n_steps") or len(plain) or len(told)
    if length:
        config.steps += length
        if "completion" not in row:  # there a row is one step of a trajectory
            config.lengths[length] += 1
    for step in plain:
        config.actions.update(item["action"]["type"] for item in step["actions"])
    for answer in told:
        try:
            spoken = answer.dialect or qwen.QWEN3_VL
            config.actions.update(action.type for action in spoken.parse(answer.text, answer.screen))
        except UnreadableAnswer:  # of another dialect: its steps are counted, what they do is not told
            continue


def _add(counter: Counter[str], value: str) -> None:
    counter[value if value in counter or len(counter) < _MANY else "(others)"] += 1
