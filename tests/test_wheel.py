"""The wheel carries the package and its assets, leaves flows and disk images out, and works without the checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ASSETS = ("taxonomy", "primitives", "vm_snapshots")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    return zipfile.ZipFile(wheel).namelist()


def test_every_source_file_and_asset_is_in_it(names: list[str]) -> None:
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "cuamaster").rglob("*.py")}
    assets = {
        f"cuamaster/_assets/{path.relative_to(ROOT)}" for folder in ASSETS for path in (ROOT / folder).rglob("*.yaml")
    }
    assert assets, "the checkout has no assets"
    assert modules | assets | {"cuamaster/py.typed"} <= set(names)


def test_nothing_else_is_in_it(names: list[str]) -> None:
    assert {name.split("/")[0].split("-")[0] for name in names} == {"cuamaster"}
    assert not [name for name in names if name.endswith((".qcow2", ".img", ".iso", ".raw", ".pyc"))]


def test_installed_wheel_finds_its_own_assets(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from cuamaster.assets import asset_folder, samples_folder\n"
        f"print(*(asset_folder(name) for name in {ASSETS}), samples_folder(), sep='\\n')"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, str(site)],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout.splitlines()
    assert found == [
        *(str(site / "cuamaster" / "_assets" / name) for name in ASSETS),
        str(site / "cuamaster" / "samples"),
    ]


def test_wheel_declares_command_and_prefect_plugin(wheel: Path, names: list[str]) -> None:
    (entry_points,) = (name for name in names if name.endswith("entry_points.txt"))
    text = zipfile.ZipFile(wheel).read(entry_points).decode()
    assert "cuamaster = cuamaster.cli:main" in text
    assert "[prefect.plugins]" in text
