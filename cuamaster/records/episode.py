"""Episodes: the tree of attempts over snapshots, as journalled, and the path that is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from cuamaster.records.primitive import Mode
from cuamaster.records.record import Record
from cuamaster.records.trajectory import Action, Observation, StateSignature
from cuamaster.records.verdict import Check, Divergence, Outcome, Verdict


class Receipt(Record):
    """What became of one action: exactly once, or known to be unknown; never re-sent."""

    action_id: str
    status: str = Field(pattern=r"^(sent|effect_seen|unknown|rejected)$")
    response: str = ""
    exit_code: int | None = None
    seconds: float = 0.0


class Node(Record):
    """One step in the tree. `parent` is the node before it (-1: the start); dropped nodes lie on abandoned branches."""

    index: int = Field(ge=0)
    parent: int = Field(ge=-1)
    observation: Observation
    actions: tuple[Action, ...]
    receipts: tuple[Receipt, ...] = ()
    thought: str = ""
    use: int | None = Field(default=None, description="index into the task's plan, when the policy knows it")
    injected: bool = Field(default=False, description="a fault was injected on purpose; never exported")
    snapshot_after: str | None = None
    dropped: bool = False

    @property
    def answer(self) -> str:
        """What was answered to this batch: the next observation's `response`."""
        return answer_to(self.actions, self.receipts)


def answer_to(actions: Iterable[Action], receipts: Iterable[Receipt]) -> str:
    """What the shell (with its exit status) or a tool answered to a batch, or why one of it was rejected."""
    parts: list[str] = []
    for item, receipt in zip(actions, receipts, strict=False):
        parts += [receipt.response] if receipt.response else []
        if item.action.type == "shell.exec" and receipt.status != "rejected":
            code = receipt.exit_code
            parts.append(
                f"[exit status {code}]" if code is not None else "[no exit status: the time limit was reached]"
            )
    return "\n".join(parts)


class Boundary(Record):
    """A stable point of the kept path with a snapshot: what was attested and known to hold when it was taken."""

    label: str
    node: int = Field(ge=-1, description="index of the last node before it; -1: the start")
    use: int = Field(ge=0, description="how many plan uses were complete")
    parent: str = Field(default="", description="label of the boundary from which this one was reached; '': the start")
    bytes: int = Field(default=0, ge=0, description="what the snapshot takes on disk")
    signature: StateSignature
    checks: tuple[Check, ...] = Field(default=(), description="the task's leaf conditions as found here")
    controller: dict[str, Any] = Field(default_factory=dict, description="the policy's state")


class Branch(Record):
    """One of several ways that were tried side by side from the same attested snapshot."""

    number: int = Field(ge=0, description="0 went on where the episode had begun, the others on forks")
    snapshot: str = Field(description="label of the snapshot they all began at")
    node: int = Field(ge=-1, description="index of the last node before it; -1: the start")
    path: tuple[int, ...] = Field(description="indices of the branch's own nodes that it did not drop itself")
    outcome: Outcome | None = Field(description="None: given up because another one was verified with fewer steps")
    kept: bool = False
    message: str = ""


class Budget(Record):
    """Limits of one episode, all its branches together."""

    max_steps: int = 60
    max_retries: int = 3
    max_seconds: float = 600.0
    branches: int = Field(default=1, ge=1, description="tried side by side after the first failure")
    max_executions: int = Field(default=0, ge=0, description="executions of primitives that may begin; 0: no limit")


class Episode(Record):
    """One rollout of a task by a policy: typed outcome, tree, retries, cost."""

    id: str
    task_id: str
    policy: str
    mode: Mode
    outcome: Outcome
    verdict: Verdict | None
    nodes: tuple[Node, ...]
    final: Observation | None = None
    divergences: tuple[Divergence, ...] = ()
    rollbacks: int = 0
    injected_faults: int = 0
    first_attempt_passed: bool | None = None
    seconds: float = 0.0
    message: str = ""
    image_digest: str = ""
    branches: tuple[Branch, ...] = ()

    def path(self) -> tuple[Node, ...]:
        """The kept steps in order."""
        return tuple(node for node in self.nodes if not node.dropped)

    def unjudged(self) -> frozenset[int]:
        """Indices of dropped steps that nothing says were wrong: of branches verified with more steps, given up or broken off."""
        lost = (branch.path for branch in self.branches if not branch.kept and branch.outcome != "failed")
        return frozenset(index for path in lost for index in path)


class Usage(Record):
    """Tokens and money of one model call."""

    endpoint: str
    model: str
    purpose: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0


class PlanCell(Record):
    """The next round's budget for one application."""

    app: str
    domain: str
    videos: int = Field(ge=0)
    tasks: int = Field(ge=0)
    k: int = Field(ge=1)
    n: int = Field(ge=1)
    reason: str
    capabilities: tuple[str, ...] = Field(default=(), description="abilities that fail most, in words to search for")


class RoundPlan(Record):
    """What one round of the wheel looks for."""

    round: int = Field(ge=1)
    cells: tuple[PlanCell, ...]
    seed: int = 0


class Dropped(Record):
    """Anything a stage did not keep, with the reason and enough of it to look again."""

    item_id: str
    stage: str
    reason: str = Field(min_length=1)
    detail: str = ""
