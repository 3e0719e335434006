"""Rolls a task out: observe, decide, act; a snapshot at each stable boundary; on failure locate, roll back, go on with a hint."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from cuamaster.checks import unmet, verify
from cuamaster.errors import (
    BudgetExceeded,
    CheckFailed,
    DesktopFault,
    EndpointUnavailable,
    InvalidAction,
    ModelAnswerError,
    ModelRefusal,
    SetupFailed,
    StateDrift,
)
from cuamaster.ports import Decision, Desktop, Detector, Frame, Journal, Policy, ScreenReader, Store
from cuamaster.propagation.collection.acting import QUIET_S, await_reaction, observe, perform, pointers_of, same_screen
from cuamaster.propagation.collection.journal import drop_after
from cuamaster.propagation.collection.progress import files_of, required
from cuamaster.propagation.collection.setup import establish
from cuamaster.propagation.collection.snapshots import Snapshots
from cuamaster.records.condition import Condition
from cuamaster.records.episode import Boundary, Budget, Episode, Node
from cuamaster.records.reasoning import conjuncts
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Observation, StateSignature
from cuamaster.records.verdict import Check, Divergence, Outcome, Verdict

log = logging.getLogger(__name__)
PATIENCE_S = 3.0
"""An expected effect is given up once the screen has been still for this long ..."""
MAX_PATIENCE_S = 25.0
"""... or after this long in any case."""
MAX_STALL = 20
"""Steps without a new boundary after which an attempt counts as stuck."""


def rollout(
    task: Task,
    policy: Policy,
    desktop: Desktop,
    *,
    reader: ScreenReader,
    journal: Journal,
    detector: Detector,
    store: Store,
    budget: Budget,
    clock: Callable[[], float],
    episode_id: str,
    prepared: bool = False,
    max_snapshots: int = 6,
) -> Episode:
    """One episode with its typed outcome; desktop faults end it, they are not raised.

    `clock` gives seconds; `prepared`: the start state is there already, `establish` is skipped. Raises InvalidInput for a task
    that the policy cannot read, StoreFull when neither frames nor journal can be written.
    """
    run = _Rollout(task, policy, desktop, reader, journal, detector, store, budget, clock, episode_id, max_snapshots)
    return run.episode(prepared)


class _Attempted(Exception):
    """The current attempt failed: `verdict` says what did not hold."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict


class _Rollout:
    """State of one episode; every change is journalled before the next thing happens."""

    def __init__(
        self,
        task: Task,
        policy: Policy,
        desktop: Desktop,
        reader: ScreenReader,
        journal: Journal,
        detector: Detector,
        store: Store,
        budget: Budget,
        clock: Callable[[], float],
        episode_id: str,
        max_snapshots: int,
    ) -> None:
        self.task, self.policy, self.desktop, self.reader = task, policy, desktop, reader
        self.journal, self.detector, self.store, self.budget, self.clock = journal, detector, store, budget, clock
        self.id = episode_id
        self.begun = clock()
        self.snapshots = Snapshots(desktop, episode_id, files_of(task), max_snapshots)
        self.nodes: list[Node] = []
        self.divergences: list[Divergence] = []
        self.hint = ""
        self.first_attempt: bool | None = None
        self.verdict: Verdict | None = None
        self.final: Observation | None = None
        self.state: StateSignature | None = None
        """The desktop's state while nothing has been done since it was attested."""

    def episode(self, prepared: bool) -> Episode:
        """From the start state to a typed outcome."""
        self._log("begin", task=self.task.id, policy=self.policy.name, mode=self.policy.mode, image_digest=self.desktop.image_digest)
        outcome, message = self._typed(prepared)
        episode = Episode(
            id=self.id,
            task_id=self.task.id,
            policy=self.policy.name,
            mode=self.policy.mode,
            outcome=outcome,
            verdict=self.verdict,
            nodes=tuple(self.nodes),
            final=self.final,
            divergences=tuple(self.divergences),
            rollbacks=len(self.divergences),
            injected_faults=sum(node.injected for node in self.nodes),
            first_attempt_passed=True if self.first_attempt is None and outcome == "passed" else self.first_attempt,
            seconds=self.clock() - self.begun,
            message=message,
            image_digest=self.desktop.image_digest,
        )
        self._log("end", result=episode.model_dump(mode="json"))
        return episode

    def _typed(self, prepared: bool) -> tuple[Outcome, str]:
        try:
            if not prepared:
                establish(self.task.environment, self.desktop, self.reader)
            self.policy.begin(self.task)
            outcome, message = self._attempts()
            self.snapshots.close()
        except SetupFailed as exc:
            return "setup", str(exc)
        except StateDrift as exc:
            return "drift", str(exc)
        except CheckFailed as exc:
            return "verifier", str(exc)
        except (DesktopFault, EndpointUnavailable, BudgetExceeded) as exc:
            return "infra", f"{type(exc).__name__}: {exc}"
        except (ModelAnswerError, ModelRefusal, InvalidAction) as exc:
            return "failed", f"{type(exc).__name__}: {exc}"
        return outcome, message

    def _attempts(self) -> tuple[Outcome, str]:
        self._boundary(0, self._look(required(self.task, 0))[1])
        while True:
            try:
                return self._attempt()
            except _Attempted as stop:
                self.first_attempt = False
                self.verdict = stop.verdict
                if len(self.divergences) >= self.budget.max_retries:
                    return "failed", f"{len(self.divergences)} rollbacks are spent; {stop.verdict.message}"
                self._roll_back(stop.verdict)

    def _attempt(self) -> tuple[Outcome, str]:
        """Steps until the verifier passes or a budget is spent; raises _Attempted when this attempt has failed."""
        done = self.snapshots.last.use
        while True:
            spent = self._spent()
            frame, observation = self._observe()
            if spent:
                self.final = observation
                self.verdict = self._verify()
                return ("passed", "") if self.verdict.status == "passed" else ("failed", spent)
            decision = self.policy.decide(frame, self._path(), self.hint)
            node = self._act(decision, observation, frame)
            if any(item.action.type == "finish" for item in node.actions):
                return self._finish()
            if done < len(self.task.plan) and (decision.done_use or decision.use is None):
                done = self._advance(done, claimed=decision.done_use, frame=frame)
            if node.index - self.snapshots.last.node > MAX_STALL + _longest(self.task):
                raise _Attempted(Verdict(status="failed", checks=self._goal_checks(), message="no progress"))

    def _finish(self) -> tuple[Outcome, str]:
        _, self.final = self._observe()
        self.verdict = self._verify()
        if self.verdict.status == "passed":
            return "passed", ""
        raise _Attempted(Verdict(status="failed", checks=self._goal_checks(), message="the goal was not reached"))

    def _verify(self) -> Verdict:
        verdict = verify(self.task.verifier, self.desktop, self.reader)
        if verdict.status == "errored":
            self.verdict = verdict
            raise CheckFailed(f"the verifier could not be evaluated: {verdict.message}")
        return verdict

    def _goal_checks(self) -> tuple[Check, ...]:
        return unmet(conjuncts(self.task.verifier), self.desktop, self.reader)

    def _advance(self, done: int, *, claimed: bool, frame: Frame) -> int:
        """How many uses are complete now; takes a snapshot when one more is. Raises _Attempted for a false claim."""
        wanted = required(self.task, done + 1)
        if claimed:
            frame = self.desktop.settle(timeout=4.0, quiet=QUIET_S)
        begun = still = self.clock()
        while True:
            missed, checks = self._look(wanted)
            if not missed:
                self._boundary(done + 1, checks)
                return done + 1
            if not claimed:
                return done
            now = self.desktop.settle(timeout=2.0, quiet=QUIET_S)
            if not same_screen(frame.image, now.image):
                frame, still = now, self.clock()
            if self.clock() - still > PATIENCE_S or self.clock() - begun > MAX_PATIENCE_S:
                errors = [check.observed for check in missed if check.holds is None]
                if errors:
                    raise CheckFailed(f"an effect could not be evaluated: {'; '.join(errors)}")
                raise _Attempted(Verdict(status="failed", checks=missed, message="a step that was called done had not its effect"))

    def _look(self, wanted: Sequence[Condition]) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
        """(checks of `wanted` that do not hold, all checks of `wanted` and the goals), seen together."""
        watched = tuple(dict.fromkeys([*wanted, *conjuncts(self.task.verifier)]))
        missed = unmet(watched, self.desktop, self.reader)
        by_condition = {check.condition: check for check in missed}
        checks = tuple(by_condition.get(condition) or Check(condition=condition, holds=True) for condition in watched)
        return tuple(check for check in missed if check.condition in wanted), checks

    def _boundary(self, use: int, checks: Sequence[Check]) -> Boundary:
        node = self.nodes[-1].index if self.nodes else -1
        self.hint = ""
        boundary = self.snapshots.take(node, use, checks, self.policy)
        self.state = boundary.signature
        if self.nodes:
            self.nodes[-1] = self.nodes[-1].model_copy(update={"snapshot_after": boundary.label})
        self._log("boundary", boundary=boundary.model_dump(mode="json"))
        return boundary

    def _roll_back(self, verdict: Verdict) -> None:
        divergence = self.detector.locate(self.task, self._path(), self.desktop, self.snapshots.usable(), verdict)
        self._log("divergence", divergence=divergence.model_dump(mode="json"))
        boundary = self.snapshots.back_to(divergence.snapshot)
        self.state = boundary.signature
        self.divergences.append(divergence)
        self.nodes = drop_after(self.nodes, boundary.node)
        self._log("rollback", label=boundary.label, node=boundary.node)
        self.policy.restore(boundary.controller)
        self.hint = divergence.feedback
        log.info("%s: rolled back to %s: %s", self.id, boundary.label, divergence.feedback)

    def _observe(self) -> tuple[Frame, Observation]:
        path = self._path()
        response = path[-1].answer if path else ""
        return observe(self.desktop, self.store, t=self.clock() - self.begun, response=response, feedback=self.hint, state=self.state)

    def _act(self, decision: Decision, observation: Observation, frame: Frame) -> Node:
        """Journal the intent, perform, journal the node: only then does it count."""
        index = len(self.nodes)
        ids = [f"{self.id}-{index}-{position}" for position in range(len(decision.actions))]
        self._log("intent", node=index, ids=ids, actions=[item.model_dump(mode="json") for item in decision.actions])
        tried, receipts = perform(
            decision.actions, ids, mode=self.policy.mode, desktop=self.desktop, reader=self.reader, clock=lambda: self.clock() - self.begun
        )
        if any(item.action.category == "gui" and item.action.type != "mouse.move" for item in tried):
            earlier = [place for node in self._path() for place in pointers_of(node.actions)][-1:]
            await_reaction(frame.image, self.desktop, self.clock, [*earlier, *pointers_of(tried)])
        self.state = None
        path = self._path()
        node = Node(
            index=index,
            parent=path[-1].index if path else -1,
            observation=observation,
            actions=tried,
            receipts=receipts,
            thought=decision.thought,
            use=decision.use,
            injected=decision.injected,
        )
        self.nodes.append(node)
        self._log("node", node=node.model_dump(mode="json"))
        return node

    def _path(self) -> list[Node]:
        return [node for node in self.nodes if not node.dropped]

    def _spent(self) -> str:
        if len(self.nodes) >= self.budget.max_steps:
            return f"the budget of {self.budget.max_steps} steps is spent"
        if self.clock() - self.begun >= self.budget.max_seconds:
            return f"the budget of {self.budget.max_seconds:g} seconds is spent"
        return ""

    def _log(self, event: str, **data: object) -> None:
        self.journal.append({"event": event, "episode": self.id, "t": self.clock() - self.begun, **data})


def _longest(task: Task) -> int:
    return max((len(procedure.steps) for use in task.plan for procedure in use.primitive.procedures), default=0)
