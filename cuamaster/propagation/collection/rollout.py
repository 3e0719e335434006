"""Rolls a task out: observe, decide, act; a snapshot at each stable boundary; on failure locate, roll back, go on with a hint."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from cuamaster.errors import CheckFailed, DesktopFault
from cuamaster.ports import Decision, Desktop, Detector, Journal, Policy, ScreenReader, Store
from cuamaster.propagation.collection.journal import joined
from cuamaster.propagation.collection.outcomes import ENDINGS, outcome_of
from cuamaster.propagation.collection.progress import course_of
from cuamaster.propagation.collection.race import Beaten, Race, run_all
from cuamaster.propagation.collection.rollback import roll_back
from cuamaster.propagation.collection.setup import establish, require
from cuamaster.propagation.collection.snapshots import Snapshots
from cuamaster.propagation.collection.track import Track
from cuamaster.propagation.collection.watching import AttemptFailed, Watch
from cuamaster.records.episode import Boundary, Branch, Budget, Episode, Node
from cuamaster.records.needs import needs_of_task
from cuamaster.records.task import Task
from cuamaster.records.trajectory import Observation
from cuamaster.records.verdict import Divergence, Outcome, Verdict

log = logging.getLogger(__name__)
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
    rival: Callable[[int], Policy] | None = None,
    elements: bool = False,
    watched: bool = True,
) -> Episode:
    """One episode with its typed outcome; desktop faults end it, they are not raised.

    `clock` gives seconds; `prepared`: the start state is there already, `establish` is skipped. `rival` gives the policy of
    another branch (1, 2, ...): with it and `budget.branches` above 1 the first failure is followed by branches side by side.
    `elements`: each observation keeps the accessibility tree as well, where the image has one. Not `watched`: nothing is looked
    at before the policy has finished, and every failure leads back to the start; it is what rollback is measured against.
    Raises InvalidInput for a task that the policy cannot take on (nothing is journalled then), StoreFull when frames or journal
    cannot be written.
    """
    race = Race(budget)
    snapshots = Snapshots(desktop, episode_id, course_of(task).files, max_snapshots)
    track = Track(episode_id, desktop, reader, journal, store, clock, clock(), race, snapshots, elements=elements)
    return _Rollout(task, policy, detector, race, track, rival, watched=watched).episode(prepared)


@dataclass
class _Rollout:
    """What decides in one episode, or in one of its branches: when to go on, verify, roll back, branch out, stop."""

    task: Task
    policy: Policy
    detector: Detector
    race: Race
    track: Track
    rival: Callable[[int], Policy] | None = None
    watched: bool = True
    branches: tuple[Branch, ...] = ()
    divergences: list[Divergence] = field(default_factory=list)
    first_attempt: bool | None = None
    verdict: Verdict | None = None
    final: Observation | None = None

    def __post_init__(self) -> None:
        self.desktop, self.snapshots = self.track.desktop, self.track.snapshots
        self.watch = Watch(self.task, self.desktop, self.track.reader, self.track.clock)

    def episode(self, prepared: bool) -> Episode:
        """From the start state to a typed outcome."""
        self.policy.begin(self.task)
        self.track.log(
            "begin",
            task=self.task.id,
            policy=self.policy.name,
            mode=self.policy.mode,
            image_digest=self.desktop.image_digest,
        )
        outcome, message = self._typed(prepared)
        episode = Episode(
            id=self.track.id,
            task_id=self.task.id,
            policy=self.policy.name,
            mode=self.policy.mode,
            outcome=outcome,
            verdict=self.verdict,
            nodes=tuple(self.track.nodes),
            final=self.final,
            divergences=tuple(self.divergences),
            rollbacks=len(self.divergences),
            injected_faults=sum(node.injected for node in self.track.nodes),
            first_attempt_passed=True if self.first_attempt is None and outcome == "passed" else self.first_attempt,
            seconds=self.track.seconds,
            message=message,
            image_digest=self.desktop.image_digest,
            branches=self.branches,
        )
        self.track.log("end", result=episode.model_dump(mode="json"))
        return episode

    def _typed(self, prepared: bool) -> tuple[Outcome, str]:
        try:
            require(needs_of_task(self.task), self.desktop)
            self.desktop.release()
            if not prepared:
                establish(self.task.environment, self.desktop, self.track.reader)
            ended = self._attempts()
        except ENDINGS as exc:
            return outcome_of(exc)
        try:
            self.desktop.release()
            self.snapshots.close()
        except DesktopFault as exc:  # what was found out before stays true
            log.warning("%s: after its end: %s", self.track.id, exc)
        return ended

    def _attempts(self) -> tuple[Outcome, str]:
        self.track.boundary(0, self.watch.look(0)[1], self.policy)
        return self._go_on(self.rival)

    def _go_on(self, rival: Callable[[int], Policy] | None) -> tuple[Outcome, str]:
        """Attempt after attempt, with a rival in several branches, until the verifier passes or a budget is spent."""
        while True:
            try:
                return self._attempt()
            except AttemptFailed as stop:
                self.first_attempt = False
                self.verdict = stop.verdict
                if not self.race.retry():
                    return "failed", f"{self.race.retries} rollbacks are spent; {stop.verdict.message}"
                boundary = self._roll_back(stop.verdict)
                if rival and (ended := self._branch_out(rival, boundary)):
                    return ended

    def _branch_out(self, rival: Callable[[int], Policy], boundary: Boundary) -> tuple[Outcome, str] | None:
        """Go on from a boundary in several branches at once; None when there is room for one only (retries are in turn then)."""
        with ExitStack() as forks:
            runs = [self]
            for number in range(1, self.race.budget.branches):
                try:
                    desktop = forks.enter_context(self.desktop.fork(boundary.label))
                except DesktopFault as exc:  # mostly no room; if this desktop is broken too, its next use tells
                    log.info("%s: %d branches: %s", self.track.id, number, exc)
                    break
                runs.append(self._forked(number, rival(number), desktop, boundary))
            if len(runs) == 1:
                return None
            kept, self.branches = run_all(runs, boundary)
        runs[kept].track.log("kept")
        self.track.nodes = joined({run.number: run.track.nodes for run in runs}, kept)
        self.verdict, self.final = runs[kept].verdict, runs[kept].final
        told = self.branches[kept]
        return told.outcome or "failed", told.message  # without a verified one no branch was given up

    def _forked(self, number: int, policy: Policy, desktop: Desktop, boundary: Boundary) -> _Rollout:
        policy.begin(self.task)
        policy.restore(boundary.controller)
        twin = replace(self, policy=policy, track=self.track.forked(number, desktop))
        twin.track.log("fork", label=boundary.label, node=boundary.node)
        return twin

    def to_its_end(self) -> tuple[Outcome | None, str]:
        """The outcome of a branch; None when another one has beaten it."""
        try:
            outcome, message = self._go_on(None)  # branches do not branch again
        except Beaten:
            return None, "another branch was verified with fewer steps"
        except ENDINGS as exc:
            return outcome_of(exc)
        if outcome == "passed":
            self.race.verified(len(self.path()))
        return outcome, message

    def _attempt(self) -> tuple[Outcome, str]:
        """Steps until the verifier passes or a budget is spent; raises AttemptFailed when this attempt has failed."""
        done = self.snapshots.last.use
        while True:
            self.race.check(len(self.path()))
            spent = self._spent()
            frame, observation = self.track.observe()
            if spent:
                return self._out_of_budget(observation, spent)
            decision = self.policy.decide(frame, self.path(), self.track.hint)
            if self.track.begins(decision) and not self.race.execute():
                most = self.race.budget.max_executions
                return self._out_of_budget(observation, f"the budget of {most} executions of primitives is spent")
            node = self.track.act(decision, observation, frame, self.policy.mode)
            ended = next((item.action.args["status"] for item in node.actions if item.action.type == "finish"), "")
            if ended:
                return self._finish(ended)
            if not self.watched:
                continue
            if done < len(self.task.plan) and (decision.done_use or decision.use is None):
                done = self._advance(done, decision)
            since = sum(later.index > self.snapshots.last.node for later in self.path())
            if since > MAX_STALL + _longest(self.task):
                raise AttemptFailed.because("no progress", self.watch.unmet_goals())

    def _out_of_budget(self, observation: Observation, spent: str) -> tuple[Outcome, str]:
        self.final = observation
        self.verdict = self._verify()
        return ("passed", "") if self.verdict.status == "passed" else ("failed", spent)

    def _finish(self, ended: str) -> tuple[Outcome, str]:
        _, self.final = self.track.observe()
        self.verdict = self._verify(ended)
        if self.verdict.status == "passed":
            return "passed", ""
        raise AttemptFailed.because("the goal was not reached", self.watch.unmet_goals())

    def _verify(self, ended: str = "") -> Verdict:
        verdict = self.watch.verify(ended)
        if verdict.status == "errored":
            self.verdict = verdict
            raise CheckFailed(f"the verifier could not be evaluated: {verdict.message}")
        return verdict

    def _advance(self, done: int, decision: Decision) -> int:
        """How many uses are complete now, with a snapshot when one more is. Raises AttemptFailed for a false claim."""
        if decision.done_use:
            before = self.snapshots.history[-1]
            after = self.track.boundary(done + 1, self.watch.await_effects(done + 1), self.policy)
            if spoilt := self.watch.spoilt(before, after):
                raise AttemptFailed.because("something that is needed later was lost", spoilt)
            return done + 1
        missed, checks = self.watch.look(done + 1)  # the policy does not know the plan: see whether it got further
        if missed:
            return done
        self.track.boundary(done + 1, checks, self.policy)
        return done + 1

    def _roll_back(self, verdict: Verdict) -> Boundary:
        divergence, boundary, leaked = roll_back(
            self.task,
            self.path(),
            verdict,
            desktop=self.desktop,
            reader=self.track.reader,
            policy=self.policy,
            detector=self.detector,
            snapshots=self.snapshots,
        )
        if leaked:
            log.warning(
                "%s: %s would have told %d secrets; said less instead", self.track.id, divergence.detector, leaked
            )
            self.track.log("leak", detector=divergence.detector, secrets=leaked)
        with self.race.lock:  # the journal and the episode tell them in the same order
            self.track.log("divergence", divergence=divergence.model_dump(mode="json"))
            self.track.log("rollback", label=boundary.label, node=boundary.node)
            self.divergences.append(divergence)
        self.track.returned(boundary, divergence.feedback)
        log.info("%s: rolled back to %s: %s", self.track.id, boundary.label, divergence.feedback)
        return boundary

    def _spent(self) -> str:
        budget = self.race.budget
        if self.race.steps >= budget.max_steps:
            return f"the budget of {budget.max_steps} steps is spent"
        if self.track.seconds >= budget.max_seconds:
            return f"the budget of {budget.max_seconds:g} seconds is spent"
        return ""

    @property
    def number(self) -> int:
        """Of the branch."""
        return self.track.number

    def path(self) -> list[Node]:
        """The steps of the branch that were not dropped."""
        return self.track.path()


def _longest(task: Task) -> int:
    return max((len(procedure.steps) for use in task.plan for procedure in use.primitive.procedures), default=0)
