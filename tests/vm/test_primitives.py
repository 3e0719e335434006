"""Every procedure of the curated library on a real guest: its verifier is false before and true, with its effects, after."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.screens.live import LiveReader
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.assets import asset_folder
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.generation.certificate import certify
from cuamaster.propagation.generation.clones import FreshDesktops
from cuamaster.propagation.generation.composer import Guest, PrimitiveComposer
from cuamaster.propagation.generation.oracle import Oracle
from cuamaster.propagation.generation.prove import ProcedureMode, plan_for, prove
from cuamaster.propagation.generation.yaml_primitives import read_primitives
from cuamaster.records.primitive import Primitive

pytestmark = pytest.mark.vm
IMAGE = "light-desktop"
TRIES = 2
"""An emulated guest on a loaded host may miss a deadline; what fails twice on fresh machines is wrong."""
MODES: tuple[ProcedureMode, ...] = ("gui", "cli")
LIBRARY = [
    item.primitive
    for path in sorted(asset_folder("primitives").glob("*.yaml"))
    for item in read_primitives(path, evidence=False)
]
PROCEDURES = [(primitive, procedure.mode) for primitive in LIBRARY for procedure in primitive.procedures]


@pytest.fixture(scope="module")
def desktops(vm_host: LibvirtHost) -> Iterator[FreshDesktops]:
    """One clone for the whole library, rolled back before every procedure."""
    with FreshDesktops(vm_host, IMAGE) as fresh:
        yield fresh


def _oracle(reader: LiveReader, mode: ProcedureMode, folder: Path) -> Oracle:
    return Oracle(
        policy=ReplayPolicy(reader, mode),
        reader=reader,
        detector=RulesDetector(reader),
        store=LocalStore(folder / "blobs"),
        journal=JsonlJournal(folder / "journal.jsonl"),
        clock=time.monotonic,
    )


@pytest.mark.parametrize(
    ("primitive", "mode"), PROCEDURES, ids=[f"{p.app}.{p.ability}-{mode}" for p, mode in PROCEDURES]
)
def test_procedure(
    primitive: Primitive, mode: ProcedureMode, desktops: FreshDesktops, vm_reader: LiveReader, tmp_path: Path
) -> None:
    plan = plan_for(primitive, LIBRARY)
    assert plan is not None
    for _ in range(TRIES):
        desktop = desktops.fresh()
        guest = Guest(desktop.image, desktop.image_digest, desktop.capabilities, (desktop.width, desktop.height))
        oracles = {name: _oracle(vm_reader, name, tmp_path) for name in MODES}
        proof = prove(plan, mode, desktop, vm_reader, oracles, guest)
        if proof.last is not None:
            (tmp_path / "last.png").write_bytes(proof.last.png)
        if proof.ok:
            break
        desktops.discard()
    assert proof.ok, proof.message


def test_a_composed_task_over_two_applications_is_certified(
    desktops: FreshDesktops, vm_reader: LiveReader, tmp_path: Path
) -> None:
    desktop = desktops.fresh()
    guest = Guest(desktop.image, desktop.image_digest, desktop.capabilities, (desktop.width, desktop.height))
    composer = PrimitiveComposer(2, 3, ("cross_app_handoff",))
    (task,) = composer.compose(LIBRARY, guest, count=1, seed=3, max_apps=2)
    assert task.n == 2
    done = certify(task, desktop, vm_reader, _oracle(vm_reader, "gui", tmp_path))
    assert done.certificate.released, done.reason
    assert done.episode is not None
    assert done.episode.image_digest == desktop.image_digest
