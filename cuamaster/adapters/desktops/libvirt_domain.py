"""Describes a virtual machine and fills it into the image's domain.xml."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from string import Template
from xml.sax.saxutils import escape, quoteattr

from cuamaster.adapters.images.recipe import DOMAIN_TEMPLATE, GuestRecipe
from cuamaster.errors import DesktopFault, InvalidInput, MissingDependency, StoreFull

TB_CACHE_MIB = 96
"""TCG's translation cache a guest; the default of up to 1 GiB would dominate a clone's own memory."""

# Everything emulation can do, except what makes it slower: five-level page tables and wide vector units.
_EMULATED_CPU = (
    "<cpu mode='maximum'>"
    + "".join(f"<feature policy='disable' name='{name}'/>" for name in ("la57", "avx", "avx2", "f16c", "fma"))
    + "</cpu>"
)


@dataclass(frozen=True)
class Machine:
    """What a golden snapshot depends on besides the image: a change of any field makes another snapshot."""

    image_digest: str
    template: str
    memory_mib: int
    vcpus: int
    width: int
    height: int
    accel: str
    emulator: str
    qemu_version: str

    @property
    def digest(self) -> str:
        """sha256 over all fields and what this file adds to the template."""
        return hashlib.sha256(
            json.dumps([self.__dict__, _EMULATED_CPU, TB_CACHE_MIB], sort_keys=True).encode()
        ).hexdigest()


def require_qemu() -> str:
    """Path of the emulator; raises MissingDependency naming every program of QEMU that is not there."""
    found = {name: shutil.which(name) for name in ("qemu-system-x86_64", "qemu-img")}
    absent = [name for name, path in found.items() if path is None]
    if absent:
        raise MissingDependency(
            f"{' and '.join(absent)} not installed: no desktop can run here",
            hint="apt-get install qemu-system-x86 qemu-utils",
        )
    return str(found["qemu-system-x86_64"])


def describe_machine(recipe: GuestRecipe, accel: str) -> Machine:
    """The machine of a recipe on this host; raises MissingDependency without QEMU, InvalidInput without domain.xml."""
    emulator = require_qemu()
    template = recipe.file(DOMAIN_TEMPLATE)
    version = subprocess.run([emulator, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return Machine(
        image_digest=recipe.digest, template=template.read_text("utf-8"), memory_mib=recipe.memory_mib, vcpus=recipe.vcpus,
        width=recipe.screen.width, height=recipe.screen.height, accel=accel, emulator=emulator, qemu_version=version,
    )  # fmt: skip


def domain_xml(
    machine: Machine, name: str, image: Path, folder: Path, memory: Path, *, share: bool, incoming: bool
) -> str:
    """The domain XML of one guest whose disk, console log and sockets lie in `folder`.

    `memory` is the file behind its RAM: written through with `share` (the golden source), copied on write without.
    `incoming` makes QEMU wait for a migration stream instead of booting.
    """
    backend = f"memory-backend-file,id=desk.ram,mem-path={memory},size={machine.memory_mib}M,share={'on' if share else 'off'},prealloc=off"
    arguments = [
        "-object",
        backend,
        "-machine",
        "memory-backend=desk.ram",
        *(["-incoming", "defer"] if incoming else []),
    ]
    kvm = machine.accel == "kvm"
    values = {
        "accel": "kvm" if kvm else "qemu",
        "name": escape(name),
        "memory_mib": str(machine.memory_mib),
        "vcpus": str(machine.vcpus),
        "width": str(machine.width),
        "height": str(machine.height),
        "emulator": escape(machine.emulator),
        "image": escape(str(image)),
        "disk": escape(str(folder / "disk.qcow2")),
        "console": escape(str(folder / "console.log")),
    }
    blocks = {
        "cpu": "<cpu mode='host-passthrough'/>" if kvm else _EMULATED_CPU,
        "features": "" if kvm else f"<tcg><tb-cache unit='MiB'>{TB_CACHE_MIB}</tb-cache></tcg>",
        "qemu_args": "".join(f"<qemu:arg value={quoteattr(argument)}/>" for argument in arguments),
    }
    try:
        return Template(machine.template).substitute(values | blocks)
    except (KeyError, ValueError) as exc:
        raise InvalidInput(f"{DOMAIN_TEMPLATE}: cannot fill in {exc}") from exc


def make_overlay(disk: Path, backing: Path, *, relative: bool = False) -> None:
    """Create a copy-on-write disk over `backing`, which is never written; raises MissingDependency without qemu-img."""
    if shutil.which("qemu-img") is None:
        raise MissingDependency("qemu-img is not installed", hint="apt-get install qemu-utils")
    name = Path("..") / backing.name if relative else backing
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", str(name), str(disk)], check=True)


def copy_disk(source: Path, target: Path) -> None:
    """Copy a disk that nothing writes meanwhile; on a file system that can share blocks, at once. Raises StoreFull, DesktopFault."""
    done = subprocess.run(
        ["cp", "--reflink=auto", "--sparse=auto", "--", str(source), str(target)],
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        target.unlink(missing_ok=True)
        told = done.stderr.strip()
        if os.strerror(errno.ENOSPC) in told:
            raise StoreFull(f"no space left to copy {source}", hint="free some space and run again")
        raise DesktopFault(f"the disk {source} could not be copied: {told}")
