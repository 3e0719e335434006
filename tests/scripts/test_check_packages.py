"""The package check finds unknown packages and commands, and knows alternatives and metapackages."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from cuamaster.records.taxonomy import App

ROOT = Path(__file__).resolve().parents[2]


def script() -> Any:
    spec = importlib.util.spec_from_file_location("check_packages", ROOT / "scripts" / "check_packages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def app(package: str, command: str | None) -> App:
    return App(
        id=package, name=package, subdomain="s", vendor="v", platforms=("linux",), kind="gui", package=package, command=command
    )  # fmt: skip


NEEDS = {"vim": (), "lazarus": ("lazarus-ide",), "lazarus-ide": ("lazarus-ide-2.2",), "gimp": ("libgimp",), "mc": ()}
PROGRAMS = {"vim": {"vim.basic"}, "lazarus-ide-2.2": {"lazarus-ide-2.2.0"}, "libgimp": {"gimp"}, "mc": {"mc", "mcedit"}}


def needs(name: str) -> frozenset[str] | None:
    return frozenset(NEEDS[name]) if name in NEEDS else None if name == "gone" else frozenset()


def programs(name: str) -> frozenset[str]:
    return frozenset(PROGRAMS.get(name, ()))


def test_what_is_there_passes() -> None:
    apps = [app("vim", "vim"), app("lazarus", "lazarus-ide"), app("mc", "mcedit"), app("mc", None)]
    assert list(script().faults(apps, needs, programs)) == []


def test_what_is_not_there_is_named() -> None:
    apps = [app("gone", "gone"), app("gimp", "gimp"), app("mc", "mcview"), app("vim", "vi")]
    told = list(script().faults(apps, needs, programs))
    assert told[0] == "gone: no package 'gone'"
    assert "'gimp' brings no command 'gimp' (has none of its own)" in told[1], "a library is not its program's package"
    assert "no command 'mcview' (has mc, mcedit)" in told[2] and "'vi'" in told[3]
    assert len(list(script().faults(apps, needs, None))) == 1, "without Contents only packages are checked"
