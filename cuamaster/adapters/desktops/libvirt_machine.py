"""Starts guests: from nothing, as a copy-on-write clone of a golden snapshot, or as a fork at a snapshot of another guest."""

from __future__ import annotations

from pathlib import Path

import libvirt

from cuamaster.adapters.desktops.libvirt_domain import Machine, domain_xml, make_overlay
from cuamaster.adapters.desktops.libvirt_guest import Guest
from cuamaster.adapters.desktops.libvirt_migration import SnapshotJobs, load_state
from cuamaster.adapters.desktops.libvirt_root import Root
from cuamaster.errors import DesktopFault


def start_guest(root: Root, name: str, xml: str, *, paused: bool) -> Guest:
    """Create a transient domain; raises DesktopFault with libvirt's reason when QEMU does not start."""
    flags = libvirt.VIR_DOMAIN_START_PAUSED if paused else 0
    try:
        return Guest(root.connection.createXML(xml, flags), name)
    except libvirt.libvirtError as exc:
        raise DesktopFault(f"{name}: the virtual machine did not start: {exc}") from exc


def start_clone(root: Root, machine: Machine, name: str, image: Path, golden: Path, folder: Path) -> Guest:
    """Start a guest in `folder` where the golden snapshot stopped; the golden files are only read."""
    make_overlay(folder / "disk.qcow2", golden / "disk.qcow2")
    xml = domain_xml(machine, name, image, folder, golden / "memory.img", share=False, incoming=True)
    guest = start_guest(root, name, xml, paused=True)
    try:
        load_state(guest, golden / "device.state", folder)
        guest.resume()
    except BaseException:
        guest.destroy()
        raise
    return guest


def start_fork(root: Root, machine: Machine, name: str, image: Path, golden: Path, folder: Path, label: str) -> Guest:
    """Start a guest in `folder`, where a copy of another one's disk lies, from the snapshot `label` inside that disk."""
    xml = domain_xml(machine, name, image, folder, golden / "memory.img", share=False, incoming=False)
    guest = start_guest(root, name, xml, paused=True)  # it never runs before its memory is that of the snapshot
    try:
        SnapshotJobs(guest, folder).load(label)
        guest.resume()
    except BaseException:
        guest.destroy()
        raise
    return guest


def start_fresh(root: Root, machine: Machine, name: str, image: Path, folder: Path) -> Guest:
    """Boot a guest in `folder` from the image's disk: what clones save (benchmarks compare with it)."""
    make_overlay(folder / "disk.qcow2", image / "base.qcow2")
    memory = folder / "memory.img"
    with memory.open("wb") as handle:
        handle.truncate(machine.memory_mib << 20)
    return start_guest(
        root, name, domain_xml(machine, name, image, folder, memory, share=True, incoming=False), paused=False
    )
