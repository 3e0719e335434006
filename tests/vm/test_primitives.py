"""Every procedure of the curated library on a real guest: its verifier is false before and true, with its effects, after."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuamaster.adapters.desktops.libvirt_host import LibvirtHost
from cuamaster.adapters.images.recipe import load_recipe
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.screens.live import LiveReader
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.assets import asset_folder
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.generation.certificate import certify
from cuamaster.propagation.generation.composer import Guest, PrimitiveComposer
from cuamaster.propagation.generation.oracle import Oracle
from cuamaster.propagation.generation.prove import ProcedureMode, Proof, prove_all
from cuamaster.propagation.generation.yaml_primitives import read_primitives
from cuamaster.records.primitive import Primitive

pytestmark = pytest.mark.vm
IMAGE = "light-desktop"
RECIPE = load_recipe(asset_folder("vm_snapshots") / IMAGE)
MODES: tuple[ProcedureMode, ...] = ("gui", "cli")
LIBRARY = [
    item.primitive
    for path in sorted(asset_folder("primitives").glob("*.yaml"))
    for item in read_primitives(path, evidence=False)
    if RECIPE.can(item.primitive.requires)
]
PROCEDURES = [(primitive, procedure.mode) for primitive in LIBRARY for procedure in primitive.procedures]


def _oracle(reader: LiveReader, mode: ProcedureMode, folder: Path) -> Oracle:
    return Oracle(
        policy=ReplayPolicy(reader, mode),
        reader=reader,
        detector=RulesDetector(reader),
        store=LocalStore(folder / "blobs"),
        journal=JsonlJournal(folder / "journal.jsonl"),
        clock=time.monotonic,
    )


class Proofs:
    """Proofs of all procedures, each made when it is first needed; those that start alike are made one after the other."""

    def __init__(self, coming: Iterator[Proof]) -> None:
        self._coming = coming
        self._made: dict[tuple[str, str], Proof] = {}

    def of(self, primitive: Primitive, mode: str) -> Proof:
        while (primitive.id, mode) not in self._made:
            proof = next(self._coming)
            self._made[proof.primitive.id, proof.mode] = proof
        return self._made[primitive.id, mode]


@pytest.fixture(scope="module")
def guest(vm_host: LibvirtHost) -> Guest:
    image = vm_host.prepare(IMAGE).image
    return Guest(image.name, image.digest, image.capabilities, (image.width, image.height))


@pytest.fixture(scope="module")
def proofs(
    vm_host: LibvirtHost, vm_reader: LiveReader, guest: Guest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proofs]:
    oracles = {mode: _oracle(vm_reader, mode, tmp_path_factory.mktemp("proofs")) for mode in MODES}
    coming = prove_all(LIBRARY, LIBRARY, vm_host, vm_reader, oracles, guest)
    yield Proofs(coming)
    coming.close()


@pytest.mark.parametrize(
    ("primitive", "mode"), PROCEDURES, ids=[f"{p.app}.{p.ability}-{mode}" for p, mode in PROCEDURES]
)
def test_procedure(primitive: Primitive, mode: ProcedureMode, proofs: Proofs, tmp_path: Path) -> None:
    proof = proofs.of(primitive, mode)
    if proof.last is not None:
        (tmp_path / "last.png").write_bytes(proof.last.png)
    assert proof.ok, proof.message


def test_a_composed_task_over_two_applications_is_certified(
    vm_host: LibvirtHost, vm_reader: LiveReader, guest: Guest, tmp_path: Path
) -> None:
    composer = PrimitiveComposer(2, 3, {"cross_app_handoff": 1})
    (task,) = composer.compose(LIBRARY, guest, count=1, seed=3, max_apps=2)
    assert task.n == 2
    with vm_host.open(IMAGE) as desktop:
        done = certify(task, desktop, vm_reader, _oracle(vm_reader, "gui", tmp_path))
        assert done.certificate.released, done.reason
        assert done.episode is not None
        assert done.episode.image_digest == desktop.image_digest
