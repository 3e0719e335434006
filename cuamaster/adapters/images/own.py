"""Takes a disk that somebody brings as a guest image: looked at, linked, never copied and never written."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from cuamaster.adapters.images.recipe import DOMAIN_TEMPLATE, OwnRecipe
from cuamaster.errors import InvalidInput, MissingDependency


def adopt(recipe: OwnRecipe, out: Path) -> Path:
    """Fill `out` with a link to the disk and a manifest; raises InvalidInput for what cannot be the disk of a guest."""
    _check_template(recipe.file(DOMAIN_TEMPLATE))
    told = disk_facts(recipe.disk)
    if told["format"] != "qcow2":
        raise InvalidInput(
            f"{recipe.disk} is a disk of format {told['format']}: snapshots need qcow2",
            hint=f"qemu-img convert -O qcow2 {recipe.disk} {recipe.disk.with_suffix('.qcow2')}",
        )
    out.mkdir()
    (out / "base.qcow2").symlink_to(recipe.disk.resolve())
    manifest = {
        "name": recipe.name,
        "digest": recipe.digest,
        "disk": str(recipe.disk.resolve()),
        "agent": recipe.agent,
        "capabilities": list(recipe.capabilities),
        "disk_bytes": recipe.disk.stat().st_size,
    }
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    return out


def _check_template(path: Path) -> None:
    """Without these a golden snapshot would be that of another machine; better now than at the first desktop."""
    text = path.read_text("utf-8")
    absent = [f"${name}" for name in ("name", "disk", "memory_mib", "vcpus", "qemu_args") if f"${name}" not in text]
    if absent:
        raise InvalidInput(f"{path} does not use {', '.join(absent)}", hint="docs/images.md shows a whole one")


def disk_facts(disk: Path) -> dict[str, object]:
    """What qemu-img says of a disk; raises InvalidInput when it cannot be read, MissingDependency without qemu-img."""
    if shutil.which("qemu-img") is None:
        raise MissingDependency("qemu-img is not installed", hint="apt-get install qemu-utils")
    done = subprocess.run(
        ["qemu-img", "info", "-U", "--output=json", str(disk)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise InvalidInput(f"{disk} is no disk image: {done.stderr.strip()}")
    facts: dict[str, object] = json.loads(done.stdout)
    return facts
