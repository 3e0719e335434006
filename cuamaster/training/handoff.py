"""`train-config`: a recipe, a dataset and an engine become one file that the engine reads, and the command that starts it."""

from __future__ import annotations

import importlib
import shlex
from dataclasses import dataclass
from pathlib import Path

import yaml

from cuamaster.errors import UnknownName
from cuamaster.tables import write_atomic
from cuamaster.training.data import ENGINES, Engine
from cuamaster.training.order import Config, Order
from cuamaster.training.recipe import Grpo, Sft


@dataclass(frozen=True)
class Written:
    """The file and the command line that reads it."""

    path: Path
    command: str


def configure(engine: Engine, order: Order, recipe: Sft | Grpo) -> Config:
    """The recipe for a model and a dataset in the words of an engine; raises UnknownName, InvalidInput."""
    if engine not in ENGINES:
        raise UnknownName(f"no engine {engine!r}", hint=f"one of {', '.join(ENGINES)}")
    module = importlib.import_module(f"cuamaster.training.engines.{engine.replace('-', '_')}")
    made = module.sft(order, recipe) if isinstance(recipe, Sft) else module.grpo(order, recipe)
    assert isinstance(made, Config)
    return made


def text_of(config: Config, order: Order, path: Path) -> str:
    """The file's content: YAML under a head that says what it is made of and how it is used."""
    data = order.data
    rows = ", ".join(f"{count} rows to {split}" for split, count in sorted(data.rows.items()))
    head = [f"{data.version}, {data.folder}: {rows}.", *config.notes, f"Use: {command(config, path)}"]
    lines = [f"# {line}" for line in head]
    return "\n".join([*lines, yaml.safe_dump(dict(config.settings), sort_keys=False, allow_unicode=True, width=120)])


def command(config: Config, path: Path) -> str:
    """The command line, quoted for a shell."""
    places = {"file": str(path), "folder": str(path.parent), "stem": path.stem}
    return shlex.join(part.format(**places) for part in config.command)


def write_config(engine: Engine, order: Order, recipe: Sft | Grpo, folder: Path) -> Written:
    """Write the engine's file into `folder`, whole or not at all. Raises InvalidInput, StoreFull, StoreUnwritable."""
    config = configure(engine, order, recipe)
    path = folder.resolve() / config.name
    write_atomic(path, text_of(config, order, path).encode())
    return Written(path, command(config, path))
