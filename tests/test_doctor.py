"""Doctor tells who holds which desktop, and makes no table by looking."""

from __future__ import annotations

from pathlib import Path

from cuamaster import wiring
from cuamaster.doctor import examine
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
