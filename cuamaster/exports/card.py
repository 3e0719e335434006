"""The dataset card, README.md beside the files: configurations that `datasets` understands, counts, columns, sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cuamaster.exports.columns import RL, SFT
from cuamaster.tables import write_atomic

_FILES = {
    "sft": "trajectories whose verifier passed on a virtual machine, for supervised fine-tuning",
    "unproven": "trajectories from video that no replay has confirmed; not for training without a further check",
    "rl": "tasks with environment, verifier and difficulty, released by a certificate, for reinforcement learning",
}
_COUNTED = ("proof", "source", "mode", "policy", "round", "domain", "strategy", "reason", "split")


def write_card(folder: Path) -> Path:
    """Describe the files that are in `folder`; reads no pictures."""
    tables = {name: _rows(folder / f"{name}.parquet") for name in _FILES if (folder / f"{name}.parquet").exists()}
    text = "\n".join([*_header(tables), *_summary(folder, tables), *_sections(tables), *_use(tables)]) + "\n"
    path = folder / "README.md"
    write_atomic(path, text.encode())
    return path


def _rows(path: Path) -> list[dict[str, Any]]:
    wanted = [
        *_COUNTED,
        "K",
        "N",
        "apps",
        "license",
        "video_id",
        "video_url",
        "n_steps",
        "n_rollbacks",
        "env_id",
        "env_image_digest",
    ]
    with pq.ParquetFile(path) as file:
        columns = [name for name in wanted if name in file.schema_arrow.names]
        rows: list[dict[str, Any]] = [row for batch in file.iter_batches(columns=columns) for row in batch.to_pylist()]
        return rows


def _header(tables: Mapping[str, Sequence[dict[str, Any]]]) -> list[str]:
    lines = [
        "---",
        "pretty_name: cuamaster computer-use dataset",
        "tags: [computer-use, gui-agents, trajectories]",
        "configs:",
    ]
    for name in tables:
        lines += [
            f"- config_name: {name}",
            f"  data_files: {name}.parquet",
            *(["  default: true"] if name == "sft" else []),
        ]
    return [*lines, "---"]


def _summary(folder: Path, tables: Mapping[str, Sequence[dict[str, Any]]]) -> list[str]:
    lines = [
        "# Computer-use trajectories and tasks",
        "",
        "| file | rows | bytes | what it holds |",
        "|---|---:|---:|---|",
    ]
    for name, rows in tables.items():
        size = (folder / f"{name}.parquet").stat().st_size
        lines.append(f"| `{name}.parquet` | {len(rows)} | {size} | {_FILES[name]} |")
    return lines


def _sections(tables: Mapping[str, Sequence[dict[str, Any]]]) -> list[str]:
    lines: list[str] = []
    for name, rows in tables.items():
        if not rows:
            continue
        lines += ["", f"## {name}", "", "| by | counts |", "|---|---|"]
        for column in _COUNTED:
            values = [row[column] for row in rows if row.get(column) not in (None, "")]
            if values:
                lines.append(f"| {column} | {_counts(values)} |")
        lines.append(f"| application | {_counts(app for row in rows for app in row['apps'])} |")
        difficulty = [f"{row['K']} × {row['N']}" for row in rows if row["K"] is not None]
        if difficulty:
            lines.append(f"| K × N | {_counts(difficulty)} |")
        if "n_steps" in rows[0]:
            lines.append(f"| steps | {sum(row['n_steps'] for row in rows)} in all |")
            lines.append(f"| rollbacks | {sum(row['n_rollbacks'] for row in rows)} in all |")
        lines.append(f"| license of the sources | {_counts(row['license'] or 'not stated' for row in rows)} |")
        images = {f"{row['env_id']} {row['env_image_digest'] or ''}".strip() for row in rows if row["env_id"]}
        lines += [f"| guest image | {', '.join(sorted(images))} |"] if images else []
        videos = sorted({row["video_url"] or row["video_id"] for row in rows if row.get("video_id")})
        lines += [f"| videos | {', '.join(videos[:20])}{' …' if len(videos) > 20 else ''} |"] if videos else []
    return lines


def _counts(values: Iterable[object]) -> str:
    return ", ".join(f"{value}: {count}" for value, count in sorted(Counter(map(_cell, values)).items()))


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def _use(tables: Mapping[str, Sequence[dict[str, Any]]]) -> list[str]:
    named = next(iter(tables), "sft")
    return [
        "",
        "## Use",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'rows = load_dataset("parquet", data_files="{named}.parquet", split="train")',
        "```",
        "",
        "`messages` (decoded by `datasets` >= 5.0; JSON text for other readers) are exactly what the policy sends and parses: the Qwen",
        '`computer_use` format with integer coordinates 0-1000 and one `{"type": "image"}` part for each picture in `images`.',
        "`conversation` holds the same turns with string contents and `<image>` tags. `steps_json` holds the actions in the canonical",
        "action space with observations, named targets and evidence. Prompts of `rl` hold the instruction only; `oracle_json` is the plan",
        "that passed the certificate and must not be shown to a policy.",
        "",
        f"Columns of `sft` and `unproven`: {', '.join(SFT)}.",
        "",
        f"Columns of `rl`: {', '.join(RL)}.",
    ]
