"""A hatch build hook that puts taxonomy/, primitives/ and vm_snapshots/ into the wheel as package data, without disk images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ASSETS = ("taxonomy", "primitives", "vm_snapshots")
NEVER = {".qcow2", ".img", ".raw", ".iso", ".mem", ".pyc"}


class WheelAssets(BuildHookInterface[Any]):
    """Adds the asset folders to a built wheel; an editable install reads them from the checkout instead."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling once a build; `version` is "standard" or "editable"."""
        if version == "editable":
            return
        root = Path(self.root)
        for name in ASSETS:
            for path in sorted((root / name).rglob("*")):
                if path.is_file() and path.suffix not in NEVER:
                    build_data["force_include"][str(path)] = f"cuamaster/_assets/{path.relative_to(root)}"
