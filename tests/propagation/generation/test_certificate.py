"""Certificates and proofs on the simulated desktop, with real commands: what is released, and what is not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuamaster.adapters.desktops.simulated import CAPABILITIES, SimulatedHost
from cuamaster.adapters.journals.jsonl import JsonlJournal
from cuamaster.adapters.policies.replay import ReplayPolicy
from cuamaster.adapters.stores.local import LocalStore
from cuamaster.assets import asset_folder
from cuamaster.errors import GuestDied, StateDrift
from cuamaster.ports import Desktop, Image
from cuamaster.propagation.collection.detect import RulesDetector
from cuamaster.propagation.generation.certificate import Certified, certify
from cuamaster.propagation.generation.clones import FreshDesktops
from cuamaster.propagation.generation.composer import Guest, PrimitiveComposer
from cuamaster.propagation.generation.oracle import Oracle
from cuamaster.propagation.generation.prove import Proof, prove_all
from cuamaster.propagation.generation.yaml_primitives import read_primitives
from cuamaster.records.condition import FileExists, FileText
from cuamaster.records.primitive import ActionTemplate, Primitive, Procedure
from cuamaster.records.task import Task
from cuamaster.records.trajectory import TextBox

CURATED = [
    item.primitive
    for path in sorted(asset_folder("primitives").glob("*.yaml"))
    for item in read_primitives(path, evidence=False)
]
GUEST = Guest("light-desktop", "simulated", CAPABILITIES)
IN_THE_SHELL = (
    "make-folder",
    "write-file",
    "append-to-file",
    "copy-file",
    "move-file",
    "move-file-into-folder",
    "delete-file",
)


class Blind:
    """A reader that sees no text: commands need none."""

    name = "blind"

    def read(self, image: Image, *, region: tuple[int, int, int, int] | None = None) -> list[TextBox]:
        return []


def _shell(ability: str) -> Primitive:
    return next(p for p in CURATED if (p.app, p.ability) == ("lxterminal", ability))


@pytest.fixture
def oracle(tmp_path: Path) -> Oracle:
    reader, ticks = Blind(), itertools.count()
    return Oracle(
        policy=ReplayPolicy(reader, "cli"),
        reader=reader,
        detector=RulesDetector(reader),
        store=LocalStore(tmp_path / "blobs"),
        journal=JsonlJournal(tmp_path / "journal.jsonl"),
        clock=lambda: next(ticks) * 0.5,
    )


def _tasks(count: int = 6) -> list[Task]:
    pool = [_shell(ability) for ability in IN_THE_SHELL]
    return PrimitiveComposer(mode="cli", strategies={"sequential": 1, "parameterized": 1}).compose(
        pool, GUEST, count=count, seed=4
    )


def _certified(tasks: list[Task], oracle: Oracle, host: SimulatedHost | None = None) -> list[Certified]:
    done = []
    for task in tasks:
        with (host or SimulatedHost()).open(task.environment.image) as desktop:
            done.append(certify(task, desktop, Blind(), oracle))
    return done


def test_good_tasks_are_released_with_both_probes_and_the_oracle_s_episode(oracle: Oracle) -> None:
    tasks = _tasks()
    assert len(tasks) >= 4
    done = _certified(tasks, oracle)
    assert [item.task.id for item in done] == [task.id for task in tasks]
    for item in done:
        assert item.certificate.released, item.reason
        assert [(probe.name, probe.verdict.status) for probe in item.certificate.probes] == [
            ("null", "failed"),
            ("oracle", "passed"),
        ]
        assert item.episode is not None
        assert item.episode.outcome == "passed"
        assert len(item.episode.path()) >= item.task.k
        assert item.reason == ""


def test_a_task_that_is_solved_at_the_start_is_not_released(oracle: Oracle) -> None:
    task = _tasks(1)[0].model_copy(update={"verifier": FileExists(path="~", type="dir")})
    (done,) = _certified([task], oracle)
    assert not done.certificate.released
    assert done.episode is None
    assert "null probe passed" in done.reason


def test_a_task_whose_oracle_fails_is_not_released(oracle: Oracle) -> None:
    task = _tasks(1)[0].model_copy(update={"verifier": FileText(path="~/never", text="written")})
    (done,) = _certified([task], oracle)
    assert not done.certificate.released
    assert done.reason.startswith("oracle probe failed")


def test_a_start_state_that_cannot_be_reached_releases_nothing(oracle: Oracle) -> None:
    base = _tasks(1)[0]
    hopeless = base.environment.model_copy(update={"capabilities": ("app:nothing",)})
    (done,) = _certified([base.model_copy(update={"environment": hopeless})], oracle)
    assert not done.certificate.released
    assert "SetupFailed" in done.reason


class Flaky(SimulatedHost):
    """Its first clone cannot be rolled back."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = 0

    @contextmanager
    def open(self, image: str) -> Iterator[Desktop]:
        self.opened += 1
        with super().open(image) as desktop:
            if self.opened == 1:

                def drifted(label: str) -> None:
                    raise StateDrift("not as attested")

                desktop.rollback = drifted  # type: ignore[method-assign, assignment]
            yield desktop


def test_a_clone_that_cannot_go_back_is_replaced() -> None:
    host = Flaky()
    with FreshDesktops(host, "light-desktop") as desktops:
        desktops.fresh().write_file("~/left", b"x")
        assert desktops.fresh().read_file("~/left") is None
        assert host.opened == 2
        desktops.fresh().write_file("~/left", b"x")
        assert desktops.fresh().read_file("~/left") is None
        assert host.opened == 2


class Counting(SimulatedHost):
    """Counts the applications started on its clones."""

    def __init__(self) -> None:
        super().__init__()
        self.launches = 0

    @contextmanager
    def open(self, image: str) -> Iterator[Desktop]:
        with super().open(image) as desktop:
            launch = desktop.launch

            def counted(app: str, args: Sequence[str] = ()) -> None:
                self.launches += 1
                launch(app, args)

            desktop.launch = counted  # type: ignore[method-assign]
            yield desktop


def test_a_start_state_is_set_up_once_for_proofs_that_follow_each_other(oracle: Oracle) -> None:
    host = Counting()
    first, other = _shell("make-folder"), _shell("delete-file")
    alike = _with_command(first, "mkdir -p ~/{dirname}")
    proofs = _proofs([first, other, alike], oracle, host)
    assert [proof.primitive for proof in proofs] == [first, alike, other]
    assert all(proof.ok for proof in proofs), [proof.message for proof in proofs]
    assert host.launches == 2


def _proofs(primitives: list[Primitive], oracle: Oracle, host: SimulatedHost | None = None) -> list[Proof]:
    return list(prove_all(primitives, CURATED, host or SimulatedHost(), Blind(), {"cli": oracle}, GUEST))


@pytest.mark.parametrize("ability", IN_THE_SHELL)
def test_curated_commands_prove_themselves(ability: str, oracle: Oracle) -> None:
    (proof,) = _proofs([_shell(ability)], oracle)
    assert proof.ok, proof.message
    assert proof.before is not None
    assert proof.before.status == "failed"
    assert proof.first is not None
    assert proof.last is not None
    assert proof.t_end > proof.t_start


def _with_command(primitive: Primitive, command: str) -> Primitive:
    step = ActionTemplate(type="shell.exec", args={"command": command})
    return primitive.model_copy(update={"procedures": (Procedure(mode="cli", steps=(step,)),)})


def test_a_procedure_without_the_effect_is_no_proof(oracle: Oracle) -> None:
    (proof,) = _proofs([_with_command(_shell("make-folder"), "mkdir ~/elsewhere-{dirname}")], oracle)
    assert not proof.ok
    assert "absent" in proof.message


def test_a_verifier_that_is_true_before_is_no_proof(oracle: Oracle) -> None:
    always = _shell("make-folder").model_copy(update={"verifier": FileExists(path="~", type="dir")})
    (proof,) = _proofs([always], oracle)
    assert not proof.ok


def test_a_primitive_that_nothing_leads_to_is_told(oracle: Oracle) -> None:
    lost = _shell("make-folder").model_copy(
        update={"preconditions": (FileExists(path="~/{dirname}/deep/inside", type="file"),), "setup": ()}
    )
    (proof,) = _proofs([lost], oracle)
    assert proof.message == "nothing brings about its preconditions"


class Dying(SimulatedHost):
    """Every clone dies at its first command."""

    @contextmanager
    def open(self, image: str) -> Iterator[Desktop]:
        with super().open(image) as desktop:

            def dead(*_: object, **__: object) -> None:
                raise GuestDied("gone")

            desktop.act = dead  # type: ignore[method-assign, assignment]
            yield desktop


def test_a_dead_machine_is_an_error_never_a_failure(oracle: Oracle) -> None:
    (proof,) = _proofs([_shell("make-folder")], oracle, Dying())
    assert not proof.ok
    assert proof.after is None
    assert "GuestDied" in proof.message
    (done,) = _certified(_tasks(1), oracle, Dying())
    assert not done.certificate.released
    assert done.certificate.probes[-1].verdict.status == "errored"
