"""The domain template is filled in safely; the machine's digest follows what a golden snapshot depends on."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cuamaster.adapters.desktops.libvirt_domain import Machine, describe_machine, domain_xml
from cuamaster.adapters.images.recipe import load_recipe
from cuamaster.assets import asset_folder
from cuamaster.errors import InvalidInput


@pytest.fixture(scope="module")
def machine() -> Machine:
    return describe_machine(load_recipe(asset_folder("vm_snapshots") / "light-desktop"), "tcg")


@pytest.mark.parametrize(("accel", "kind"), [("tcg", "qemu"), ("kvm", "kvm")])
def test_it_is_one_well_formed_domain(machine: Machine, accel: str, kind: str) -> None:
    machine = dataclasses.replace(machine, accel=accel)
    folder = Path("/tmp/a & b")
    text = domain_xml(machine, "d1", folder, folder, folder / "memory.img", share=False, incoming=True)
    domain = ElementTree.fromstring(text)
    assert domain.get("type") == kind
    assert domain.findtext("name") == "d1"
    source = domain.find("devices/disk/source")
    assert source is not None
    assert source.get("file") == "/tmp/a & b/disk.qcow2"
    arguments = [item.get("value") or "" for item in domain.iter() if item.tag.endswith("}arg")]
    assert "defer" in arguments
    assert any("share=off" in item and "/tmp/a & b/memory.img" in item for item in arguments)


def test_the_digest_changes_with_every_field(machine: Machine) -> None:
    others = [
        dataclasses.replace(machine, memory_mib=machine.memory_mib + 1),
        dataclasses.replace(machine, accel="kvm"),
        dataclasses.replace(machine, template=machine.template + " "),
        dataclasses.replace(machine, qemu_version="another"),
    ]
    assert len({machine.digest, *(other.digest for other in others)}) == 5


def test_an_unknown_placeholder_is_named(machine: Machine) -> None:
    broken = dataclasses.replace(machine, template="<domain>$colour</domain>")
    with pytest.raises(InvalidInput, match="colour"):
        domain_xml(broken, "d1", Path(), Path(), Path(), share=True, incoming=False)
