"""The import contract forbids what no row of the house's table names."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def contract() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rooms_contract", ROOT / "scripts" / "rooms_contract.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("cuamaster.records.task", "cuamaster.errors", True),
        ("cuamaster.records.task", "cuamaster.records.video", True),
        ("cuamaster.records.task", "cuamaster.tables", False),
        ("cuamaster.seeding.mine", "cuamaster.adapters.frames.ffmpeg", False),
        ("cuamaster.seeding.mine", "cuamaster.curriculum.plan", False),
        ("cuamaster.propagation.generation.verifier", "cuamaster.propagation.collection.rollout", True),
        ("cuamaster.propagation.collection.rollout", "cuamaster.propagation.generation.verifier", False),
        ("cuamaster.propagation.collection.rollout", "cuamaster.propagation.collection.journal", True),
        ("flows.seed", "cuamaster.stages", True),
        ("flows.seed", "cuamaster.adapters.frames.ffmpeg", False),
        ("cuamaster.stages", "flows.seed", False),
        ("cuamaster.unlisted_room", "cuamaster.errors", False),
        ("cuamaster.catalog", "duckdb", True),
        ("cuamaster.stages", "duckdb", False),
        ("cuamaster.adapters.desktops.libvirt", "libvirt", True),
        ("cuamaster.propagation.collection.pool", "libvirt", False),
        ("cuamaster.vision.regions", "numpy", True),
        ("cuamaster", "cuamaster.settings", False),
    ],
)
def test_table_decides(contract: ModuleType, importer: str, imported: str, allowed: bool) -> None:
    rooms = contract.parse_table(
        [
            "errors:",
            "settings:",
            "records: errors",
            "seeding: records, errors",
            "curriculum: records",
            "propagation.collection: records, errors",
            "propagation.generation: propagation.collection, records",
            "stages: seeding",
            "flows: stages",
        ]
    )
    libraries = contract.parse_table(["duckdb: catalog", "libvirt: adapters"])
    assert (contract.fault(importer, imported, rooms, libraries) is None) is allowed
