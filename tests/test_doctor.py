"""Doctor tells who holds which desktop, without making a table, and what a guest that nobody can ask is no good for."""

from __future__ import annotations

import subprocess
from pathlib import Path

from cuamaster import wiring
from cuamaster.doctor import _image, examine
from cuamaster.settings import Settings


def test_leases_are_listed(tmp_path: Path) -> None:
    settings = Settings(workspace=tmp_path / "w", cache=tmp_path / "c", desktop="simulated", vm_capacity=4)

    def slots() -> dict[str, str]:
        return {item.name: item.found for item in examine(settings) if item.name.startswith(("desktop", "lease"))}

    assert slots() == {"desktop slots": "4 here, 0 leased in the table of this machine"}
    assert not (tmp_path / "w").exists()
    wiring.leases(settings).acquire({"host": 4}, owner="other:1", flow="mine", ttl=60, request="r")
    assert slots() == {
        "desktop slots": "4 here, 1 leased in the table of this machine: 1 by mine",
        "lease host 0": "other:1 for mine",
    }


def test_a_disk_without_an_agent_is_told_with_what_it_disables(tmp_path: Path) -> None:
    folder = tmp_path / "images" / "mine"
    folder.mkdir(parents=True)
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", str(folder / "disk.qcow2"), "8M"], check=True)
    (folder / "domain.xml").write_text("<domain>$name $disk $memory_mib $vcpus $qemu_args</domain>")
    (folder / "recipe.yaml").write_text(
        "kind: own\nname: mine\ndisk: disk.qcow2\nagent: none\nscreen: {width: 1024, height: 768}\n"
        "memory_mib: 4096\nvcpus: 2\n"
    )
    settings = Settings(cache=tmp_path / "cache", images=tmp_path / "images", image="mine")
    assert [item.status for item in _image(settings)] == ["missing", "slow"]
    wiring.image_builder(settings).build("mine")
    image, agent, kvm = _image(settings)
    assert (image.name, image.status) == ("image mine", "ok")
    assert "tasks that need them" in agent.disables
    assert kvm.found.startswith("not probed")  # no kernel here to try it with, and nothing wrong is remembered
    assert list((tmp_path / "cache").glob("kvm-*")) == []
    (mine,) = (row for row in wiring.image_list(settings) if row["name"] == "mine")
    assert (mine["status"], mine["capabilities"]) == ("built", "snapshot")
