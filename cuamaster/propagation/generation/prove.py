"""Runs a primitive's own procedures on a desktop: its verifier must be false before and, with its effects, true after.

A primitive whose start state no setup brings about (such as saving what was typed) is proven behind a prelude: the shortest
chain of other primitives whose effects meet its preconditions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from cuamaster.checks import verify
from cuamaster.errors import DesktopFault
from cuamaster.ports import Desktop, DesktopHost, Frame, ScreenReader
from cuamaster.propagation.collection.acting import await_reaction, observe, perform
from cuamaster.propagation.collection.setup import QUIET_S, REST_S
from cuamaster.propagation.collection.watching import looks
from cuamaster.propagation.generation.clones import FreshDesktops
from cuamaster.propagation.generation.composer import Surroundings, start_of
from cuamaster.propagation.generation.oracle import Oracle
from cuamaster.propagation.generation.plan import Plan, extend, ground
from cuamaster.records.condition import Condition, Not, WindowTitle
from cuamaster.records.filling import names_in
from cuamaster.records.parts import conjoin
from cuamaster.records.primitive import Primitive
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.records.templates import fill_text
from cuamaster.records.trajectory import Window
from cuamaster.records.verdict import Verdict

_LONGEST_PRELUDE = 2
_UNSAVED = "*\u2022\u25cf"
"""Marks of a document with unsaved changes."""
FAULT_TRIES = 3
"""Tries until one finds out something."""
PROOF_TRIES = 2
"""A click that a loaded guest lost must not refute a primitive: what fails twice on fresh clones is wrong."""

ProcedureMode = Literal["gui", "cli"]


@dataclass(frozen=True)
class Proof:
    """How one procedure went: verdicts before and after, screens before and after, seconds since the clone's start."""

    primitive: Primitive
    mode: ProcedureMode
    before: Verdict | None = None
    after: Verdict | None = None
    first: Frame | None = None
    last: Frame | None = None
    t_start: float = 0.0
    t_end: float = 0.0
    message: str = ""
    window: Window | None = None
    """The window that had the focus before the procedure began ..."""
    left: Window | None = None
    """... and the one that has it afterwards."""
    fault: bool = False
    """The machinery failed: nothing was found out."""

    @property
    def ok(self) -> bool:
        """False before, true after."""
        return (
            self.before is not None
            and self.after is not None
            and (self.before.status, self.after.status) == ("failed", "passed")
        )


def plan_for(primitive: Primitive, library: Iterable[Primitive], *, seed: int = 0) -> Plan | None:
    """The shortest plan that ends with one use of `primitive`, or None when nothing brings about its preconditions."""
    others = [other for other in library if other.id != primitive.id]
    plans: list[Plan] = [Plan()]
    for _ in range(_LONGEST_PRELUDE + 1):
        for plan in plans:
            for whole in extend(plan, primitive, Random(seed)):
                return whole
        plans = [grown for plan in plans for other in others for grown in _first(plan, other, primitive, seed)]
    return None


def _first(plan: Plan, other: Primitive, goal: Primitive, seed: int) -> Sequence[Plan]:
    """At most one extension of a plan by a primitive that produces a kind of condition the goal needs."""
    kinds = {condition.kind for condition in goal.preconditions}
    if not kinds & {effect.kind for effect in other.effects}:
        return ()
    return next(([grown] for grown in extend(plan, other, Random(seed))), ())


def _task(uses: Sequence[PrimitiveUse], environment: Environment) -> Task:
    last = uses[-1]
    goals = ground([*last.primitive.effects, last.primitive.verifier], last.arguments)
    return Task(
        instruction=fill_text(last.primitive.instruction, last.arguments),
        environment=environment,
        verifier=conjoin(goals),
        plan=tuple(uses),
        strategy="seed",
    )


def _carried_out(task: Task, desktop: Desktop, reader: ScreenReader, oracle: Oracle) -> Verdict:
    """Carry out a task's one use and say whether its effects came true in time: no snapshots, no second try."""
    number = 0
    oracle.policy.begin(task)
    done = False
    while not done:
        frame, _ = observe(desktop, oracle.store, t=0.0, response="", feedback="")
        decision = oracle.policy.decide(frame, (), "")
        ids = [f"{task.id}-{number}-{index}" for index in range(len(decision.actions))]
        perform(decision.actions, ids, mode=oracle.policy.mode, desktop=desktop, reader=reader, clock=oracle.clock)
        if any(item.action.category != "control" for item in decision.actions):
            await_reaction(frame.image, desktop, oracle.clock)
        number += 1
        done = decision.done_use or any(item.action.type == "finish" for item in decision.actions)
    for _ in looks(desktop, oracle.clock):
        verdict = verify(task.verifier, desktop, reader)
        if verdict.status == "passed":
            break
    return verdict


def prove(
    plan: Plan,
    mode: ProcedureMode,
    desktops: FreshDesktops,
    reader: ScreenReader,
    oracles: Mapping[str, Oracle],
    guest: Surroundings,
    *,
    keep: bool = False,
) -> Proof:
    """Prove the last use of a plan from its start state; never raises a DesktopFault.

    `oracles` by mode: the one of `mode`, and `gui` for what has to happen before and knows no command. `keep`: the next
    proof starts alike.
    """
    oracle = oracles[mode]
    primitive = plan.uses[-1].primitive
    started = oracle.clock()
    proof = Proof(primitive, mode)
    environment = start_of(plan, guest)
    try:
        desktop = desktops.ready(environment, reader, keep=keep)
        for number in range(len(plan.uses) - 1):
            use = plan.uses[number]
            helper = oracle if use.primitive.procedure(mode) is not None else oracles["gui"]
            prelude = _carried_out(_task([use], environment), desktop, reader, helper)
            if prelude.status != "passed":
                return _failed(proof, f"use {number + 1} of its prelude: {_missed(prelude)}")
        first = desktop.settle(timeout=REST_S, quiet=QUIET_S)
        window = desktop.state().active
        before = verify(_fragment(plan), desktop, reader)
        begun = oracle.clock()
        after = _carried_out(_task(plan.uses[-1:], environment), desktop, reader, oracle)
        last = desktop.settle(timeout=5.0, quiet=0.3)
        left = desktop.state().active
    except DesktopFault as exc:
        return replace(_failed(proof, f"{type(exc).__name__}: {exc}"), fault=True)
    message = "" if after.status == "passed" else _missed(after)
    if before.status != "failed":
        message = f"its verifier was {before.status} before anything was done"
    return Proof(
        primitive, mode, before, after, first, last, begun - started, oracle.clock() - started, message, window, left
    )


def tightened(primitive: Primitive, proof: Proof) -> Primitive:
    """The primitive with what its window's title told when it was proven: which document or folder, and unsaved changes.

    What a video shows may leave open what kind of document or folder was before the user; the proof knows. A number at the
    title's end, and what follows " - ", are the instance's and the application's own and are left out.
    """
    if proof.window is None or not proof.ok or proof.window.app != primitive.app:
        return primitive
    loose = WindowTitle(app=primitive.app, active=True)
    title = re.sub(r"\s+\d+$", "", proof.window.title.split(" - ")[0].lstrip(_UNSAVED).strip())
    if title and loose in primitive.preconditions and not names_in(title):
        named = loose.model_copy(update={"title": title})
        launches = [
            step.kind == "app.launch" and step.app == primitive.app and not step.args for step in primitive.setup
        ]
        primitive = primitive.model_copy(
            update={
                "preconditions": tuple(named if item == loose else item for item in primitive.preconditions),
                "setup": tuple(
                    step.model_copy(update={"text": title}) if launch and not step.text else step
                    for step, launch in zip(primitive.setup, launches, strict=True)
                ),
            }
        )
    return primitive.model_copy(
        update={"effects": (*primitive.effects, *_title_effects(primitive, proof.window, proof.left))}
    )


def _title_effects(primitive: Primitive, before: Window, after: Window | None) -> list[Condition]:
    """What became of the mark that applications put before the title of a document with unsaved changes."""
    if after is None or after.app != before.app or after.title.lstrip(_UNSAVED) != before.title.lstrip(_UNSAVED):
        return []
    marks = tuple(_UNSAVED)
    was, now = before.title[:1] in marks, after.title[:1] in marks
    if was == now:
        return []
    mark = WindowTitle(app=primitive.app, title=(after if now else before).title[0], active=now)
    document = [
        item for item in primitive.preconditions if isinstance(item, WindowTitle) and item.active and item.title
    ]
    told = [*document, mark if now else Not(of=mark)]
    return [condition for condition in told if condition not in primitive.effects]


def _fragment(plan: Plan) -> Condition:
    last = plan.uses[-1]
    return conjoin(ground([last.primitive.verifier], last.arguments))


def _missed(verdict: Verdict) -> str:
    """What was seen of the conditions that decided against it (of all, where one that holds should not)."""
    untrue = [check for check in verdict.checks if check.holds is not True] or verdict.checks
    return "; ".join(f"{check.condition.kind}: {check.observed}" for check in untrue)


def _failed(proof: Proof, message: str) -> Proof:
    return Proof(proof.primitive, proof.mode, message=message)


def prove_all(
    primitives: Iterable[Primitive],
    library: Sequence[Primitive],
    host: DesktopHost,
    reader: ScreenReader,
    oracles: Mapping[str, Oracle],
    guest: Surroundings,
) -> Generator[Proof]:
    """Every procedure of every primitive, on one clone that is rolled back in between; `oracles` by mode.

    Procedures that start alike come one after the other, so that their start is set up once. What fails gets PROOF_TRIES
    tries on fresh clones, FAULT_TRIES where the machinery failed.
    """
    alike: dict[Environment, list[tuple[Plan, ProcedureMode]]] = defaultdict(list)
    for primitive in primitives:
        plan = plan_for(primitive, library)
        modes = [procedure.mode for procedure in primitive.procedures if procedure.mode in oracles]
        if plan is None:
            yield from (Proof(primitive, mode, message="nothing brings about its preconditions") for mode in modes)
        else:
            alike[start_of(plan, guest)] += [(plan, mode) for mode in modes]
    with FreshDesktops(host, guest.image) as desktops:
        for group in alike.values():
            for number, (plan, mode) in enumerate(group, 1):
                refuted = 0
                for _ in range(FAULT_TRIES):
                    keep = number < len(group)
                    proof = prove(plan, mode, desktops, reader, oracles, guest, keep=keep)
                    refuted += not proof.fault
                    if proof.ok or refuted == PROOF_TRIES:
                        break
                    desktops.discard()
                yield proof
