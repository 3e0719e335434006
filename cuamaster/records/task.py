"""Tasks T = (I, E, V): instruction, executable environment, verifier; and the certificate that releases them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cuamaster.records.condition import Condition
from cuamaster.records.primitive import Primitive, SetupStep
from cuamaster.records.record import Record, content_id
from cuamaster.records.trajectory import Lineage
from cuamaster.records.verdict import Verdict

Strategy = Literal["sequential", "parameterized", "state_dependent", "cross_app_handoff", "seed", "imported"]


class Environment(Record):
    """Where a task runs: image, its digest, needed capabilities, setup, and what must hold once set up."""

    image: str
    image_digest: str
    capabilities: tuple[str, ...] = ()
    setup: tuple[SetupStep, ...] = ()
    established: tuple[Condition, ...] = Field(default=(), description="checked after setup; a miss is outcome `setup`")
    screen: tuple[int, int] = (1280, 800)


class PrimitiveUse(Record):
    """One primitive of the oracle plan with its arguments."""

    primitive: Primitive
    arguments: dict[str, str] = Field(default_factory=dict)


class Task(Record):
    """A task with its difficulty (K primitives, N applications) and oracle plan; the plan is never shown to a policy."""

    instruction: str
    environment: Environment
    verifier: Condition
    closing: tuple[SetupStep, ...] = Field(
        default=(),
        exclude_if=lambda steps: not steps,  # tasks without any keep the id that they were released under
        description="done once when the policy has finished, before the verifier looks: bring to disk what is on the screen",
    )
    plan: tuple[PrimitiveUse, ...] = Field(description="empty for an imported task: nobody has told how it is done")
    strategy: Strategy
    domain: str = ""
    max_steps: int = 60
    timeout_s: float = 600.0
    seed: int = 0
    lineage: tuple[Lineage, ...] = ()

    @property
    def id(self) -> str:
        """Content id."""
        return content_id("task", self)

    @property
    def k(self) -> int:
        """Number of primitives."""
        return len(self.plan)

    @property
    def apps(self) -> tuple[str, ...]:
        """Applications in order of first use; N is their number."""
        return tuple(dict.fromkeys(use.primitive.app for use in self.plan))

    @property
    def n(self) -> int:
        """Number of applications."""
        return len(self.apps)


class Probe(Record):
    """One check of a task's verifier on a desktop: which run, what was expected, what came out."""

    name: Literal["null", "oracle"]
    expected: Literal["passed", "failed"]
    verdict: Verdict

    @property
    def ok(self) -> bool:
        """The verdict is the expected one."""
        return self.verdict.status == self.expected


class Certificate(Record):
    """Probes of one task; it is released only if all are as expected."""

    task_id: str
    probes: tuple[Probe, ...]
    image_digest: str

    @property
    def released(self) -> bool:
        """Both probes were run and came out as expected."""
        return {probe.name for probe in self.probes} == {"null", "oracle"} and all(probe.ok for probe in self.probes)
