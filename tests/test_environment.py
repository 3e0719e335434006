"""The lock is complete and portable, and the bootstrap script tells a user without root exactly what to install."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^(?P<line>[A-Za-z0-9][^\n]*?) \\\n(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)


@pytest.fixture(scope="module")
def lock() -> str:
    return (ROOT / "requirements.lock").read_text()


@pytest.fixture(scope="module")
def pinned(lock: str) -> dict[str, str]:
    """Name -> version for the running interpreter."""
    requirements = (Requirement(match["line"]) for match in BLOCK.finditer(lock))
    here = default_environment()
    return {
        requirement.name: str(requirement.specifier).removeprefix("==")
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate(dict(here))
    }


def test_every_line_of_the_lock_is_a_hashed_pin(lock: str) -> None:
    assert BLOCK.sub("", lock) == ""


def test_lock_names_no_index_and_no_folder(lock: str) -> None:
    assert not re.search(r"https?:|file:|^-|(?<!-)--(?!hash)", lock, re.MULTILINE)


def test_lock_meets_every_declared_range(pinned: dict[str, str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = [
        *project["project"]["dependencies"],
        *(line for lines in project["project"]["optional-dependencies"].values() for line in lines),
        *project["dependency-groups"]["dev"],
    ]
    for requirement in map(Requirement, declared):
        name = requirement.name.lower().replace("_", "-")
        assert name in pinned, f"{name} is not locked: run `make lock`"
        assert requirement.specifier.contains(pinned[name]), f"{name} {pinned[name]} is outside {requirement.specifier}"


def test_this_environment_is_the_locked_one(pinned: dict[str, str]) -> None:
    drifted = {name: (version(name), wanted) for name, wanted in pinned.items() if version(name) != wanted}
    assert not drifted, f"(installed, locked): {drifted}; run `make setup`"


def test_headless_opencv_stays_out(pinned: dict[str, str]) -> None:
    assert "opencv-python" in pinned
    assert "opencv-python-headless" not in pinned


@pytest.fixture
def bare_system(tmp_path: Path) -> dict[str, str]:
    """An environment in which dpkg knows no package, no Python >= 3.11 fits and the user is not root."""
    programs = {"dpkg-query": "exit 1", "id": "echo 1000", "apt-get": "echo called >&2; exit 99"}
    for name in ("python3", "python3.11", "python3.12", "python3.13", "python3.14"):
        programs[name] = "exit 1"
    for name, body in programs.items():
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    return {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}


def test_without_root_bootstrap_names_the_packages_and_stops(bare_system: dict[str, str]) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "bootstrap.sh"], env=bare_system, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert "called" not in done.stderr
    (command,) = (line for line in done.stderr.splitlines() if "apt-get install" in line)
    for package in (
        "qemu-system-x86",
        "libvirt-dev",
        "libvirt-daemon-system",
        "ffmpeg",
        "mmdebstrap",
        "gcc",
        "python3-venv",
    ):
        assert f"  {package}\n" in done.stderr
        assert package in command.split()


def test_bootstrap_lists_only_what_is_missing(bare_system: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "dpkg-query").write_text('#!/bin/sh\nfor last; do :; done\n[ "$last" = ffmpeg ] || echo installed\n')
    done = subprocess.run(
        [ROOT / "scripts" / "bootstrap.sh", "--list"],
        env={**bare_system, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout == "ffmpeg\n"


def test_this_interpreter_is_one_the_project_accepts() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "find-python.sh"],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout == f"{sys.executable}\n"


@pytest.mark.xdist_group("named")
def test_groups_of_tests_are_kept_together(request: pytest.FixtureRequest) -> None:
    """One process owns a desktop host's root: where tests run in several, those of a group must meet in one."""
    grouped = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@named") is bool(grouped)
