"""Finds taxonomy/, primitives/, vm_snapshots/ and the bundled tutorials, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from cuamaster.errors import MissingDependency

_PACKAGE = Path(__file__).resolve().parent


def asset_folder(name: str) -> Path:
    """`taxonomy`, `primitives` or `vm_snapshots`: beside the package in a checkout, under `_assets` in a wheel."""
    for folder in (_PACKAGE / "_assets" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise MissingDependency(
        f"{name}/ is not in this installation", hint="reinstall the cuamaster wheel or run from a checkout"
    )


def samples_folder() -> Path:
    """The bundled narrated tutorials."""
    return _PACKAGE / "samples"
