"""Turns a video's trajectory into primitives: cut at observed effects, values made parameters, state carried from one to the next.

Two gates: what no video shows (no source, no times, or an effect that neither the end state nor a window title bears out) is
dropped, and so is what needs a capability the environment lacks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.propagation.generation.facts import Fact, Facts, progress, satisfied, setup_facts
from cuamaster.propagation.generation.intents import POOLS, Intent, Scene, Value, intent_of
from cuamaster.propagation.generation.operations import Operation, operations
from cuamaster.records.condition import (
    CONDITION,
    AppRunning,
    Condition,
    FileExists,
    FileText,
    Not,
    ScreenText,
    WindowTitle,
)
from cuamaster.records.episode import Dropped
from cuamaster.records.parts import conjoin, conjuncts, leaves
from cuamaster.records.primitive import ActionTemplate, Evidence, Parameter, Primitive, Procedure, SetupStep
from cuamaster.records.reasoning import conflicts_with, implies
from cuamaster.records.trajectory import Action, Target, Trajectory

_STAGE = "extract"


def extract(trajectory: Trajectory, capabilities: frozenset[str]) -> tuple[list[Primitive], list[Dropped]]:
    """Primitives of one trajectory and what was dropped, with reasons; Library.add merges what is known already."""
    kept: list[Primitive] = []
    dropped: list[Dropped] = []
    facts: Facts = tuple(Fact(part) for condition in trajectory.start_state for part in conjuncts(condition))
    goals = conjuncts(trajectory.verifier) if trajectory.verifier is not None else ()
    for index, operation in enumerate(operations(trajectory)):
        scene = Scene(trajectory.app, tuple(fact.condition for fact in facts), _folder(facts, goals))
        item = f"{trajectory.id}#{index}"
        intent = intent_of(operation, scene)
        if intent is None:
            dropped.append(
                _drop(
                    item,
                    "no-known-effect",
                    f"{' > '.join(operation.labels) or 'keys'}: what it brings about is not known",
                )
            )
            continue
        reason = _gate(trajectory, operation, intent, goals, capabilities)
        if reason is None:
            kept.append(_primitive(trajectory, operation, intent, scene))
        else:
            dropped.append(_drop(item, *reason))
        facts = progress(facts, intent.effects, index)
    return kept, dropped


def _drop(item: str, reason: str, detail: str) -> Dropped:
    return Dropped(item_id=item, stage=_STAGE, reason=reason, detail=detail)


def _folder(facts: Facts, goals: Sequence[Condition]) -> str:
    """The folder names are relative to: that of the first path the goals or facts speak of, else the home folder."""
    for condition in [*goals, *(fact.condition for fact in facts)]:
        for leaf in leaves(condition):
            path = str(getattr(leaf, "path", ""))
            if "/" in path.rstrip("/"):
                return path.rstrip("/").rsplit("/", 1)[0] or "/"
    return "~"


# --- gates ---------------------------------------------------------------------------------------------------------


def _gate(
    trajectory: Trajectory,
    operation: Operation,
    intent: Intent,
    goals: Sequence[Condition],
    capabilities: frozenset[str],
) -> tuple[str, str] | None:
    """(reason, detail) when the operation must not become a primitive."""
    lineage = trajectory.lineage
    if not (lineage.video_id or lineage.video_url) or operation.t_end <= 0:
        return "no-source-evidence", f"{intent.ability}: no video or no times"
    if not _borne_out(operation, intent, goals):
        return "no-source-evidence", f"{intent.ability}: neither the end state nor a window title shows its effect"
    missing = sorted(set(_requires(trajectory.app)) - capabilities)
    if missing:
        return "missing-capability", f"{intent.ability} needs {', '.join(missing)}"
    return None


def _borne_out(operation: Operation, intent: Intent, goals: Sequence[Condition]) -> bool:
    """An effect follows from a goal, shows in the window's title, or its values appear among the goals' expected texts."""
    if any(implies(goal, effect) for goal in goals for effect in intent.effects):
        return True
    if any(isinstance(e, WindowTitle) and e.title and e.title in operation.title_after for e in intent.effects):
        return True
    texts = [
        str(value)
        for goal in goals
        for leaf in leaves(goal)
        for value in leaf.model_dump().values()
        if isinstance(value, str)
    ]
    return bool(intent.values) and all(any(value.text in text for text in texts) for value in intent.values[-1:])


def _requires(app: str) -> tuple[str, ...]:
    return (f"app:{app}",)


# --- making the primitive ------------------------------------------------------------------------------------------


def _primitive(trajectory: Trajectory, operation: Operation, intent: Intent, scene: Scene) -> Primitive:
    before = _preconditions(intent, scene)
    parameters = _values(intent, before, scene)
    values = {value.name: value.text for value in parameters}
    setup = setup_for(before, scene, [text.text for text in _texts(intent, scene)])
    effects = tuple(_generalized(effect, values) for effect in intent.effects)
    lasting: list[Condition] = [effect for effect in effects if not isinstance(effect, ScreenText)] or [*effects]
    lineage = trajectory.lineage
    return Primitive(
        app=trajectory.app,
        ability=intent.ability,
        instruction=intent.instruction,
        parameters=tuple(_parameter(value) for value in parameters),
        preconditions=tuple(_generalized(condition, values) for condition in before),
        requires=_requires(trajectory.app),
        effects=effects,
        verifier=conjoin(lasting if intent.ability != "replace-text" else effects),
        procedures=(Procedure(mode="gui", steps=tuple(template_of(action, values) for action in operation.actions)),),
        setup=tuple(SetupStep.model_validate(_replaced(step.model_dump(), values)) for step in setup),
        evidence=(
            Evidence(
                kind="video",
                source=lineage.video_id or lineage.video_url or "",
                t_start=operation.t_start,
                t_end=operation.t_end,
                trajectory_id=trajectory.id,
                frames=_frames(trajectory, operation),
            ),
        ),
        origin="extracted",
    )


def _frames(trajectory: Trajectory, operation: Operation) -> tuple[str, ...]:
    """Blobs of the observation the operation begins on and of the one after it."""
    holding = [
        i for i, step in enumerate(trajectory.steps) if any(action in operation.actions for action in step.actions)
    ]
    if not holding:
        return ()
    after = (
        trajectory.steps[holding[-1] + 1].observation if holding[-1] + 1 < len(trajectory.steps) else trajectory.final
    )
    return trajectory.steps[holding[0]].observation.screenshot, after.screenshot


def _values(intent: Intent, before: Sequence[Condition], scene: Scene) -> tuple[Value, ...]:
    """The intent's values, and the open document's name where the preconditions speak of it."""
    named = any(scene.document and scene.document in str(condition.model_dump()) for condition in before)
    if not named or any(value.text == scene.document for value in intent.values):
        return intent.values
    return (
        *intent.values,
        Value(
            "filename" if all(v.name != "filename" for v in intent.values) else "document", "filename", scene.document
        ),
    )


def _preconditions(intent: Intent, scene: Scene) -> tuple[Condition, ...]:
    """The active window, what the intent itself asks for, and facts about the values it builds on."""
    windows = [f for f in scene.facts if isinstance(f, WindowTitle) and f.active and f.app in ("", scene.app)]
    window = windows[-1] if windows else WindowTitle(app=scene.app, active=True)
    if scene.document:
        window = window.model_copy(update={"title": scene.document})
    document = [
        f for f in scene.facts if isinstance(f, FileExists) and scene.document and f.path == scene.path(scene.document)
    ]
    texts = [text for text in _texts(intent, scene) if not any(implies(text, asked) for asked in intent.preconditions)]
    wanted: list[Condition] = [window, *document, *texts, *intent.preconditions]
    known = tuple(Fact(c) for c in scene.facts)
    # a condition the scene contradicts (the replaced word, read off an older frame) would make the primitive useless
    return tuple(dict.fromkeys(c for c in wanted if not (isinstance(c, Not) and satisfied(c.of, known))))


def _texts(intent: Intent, scene: Scene) -> list[ScreenText]:
    """Shown texts that hold what the operation builds on."""
    return [f for f in scene.facts if isinstance(f, ScreenText) and any(use in f.text for use in intent.uses)]


def setup_for(before: Sequence[Condition], scene: Scene, lines: Sequence[str] = ()) -> tuple[SetupStep, ...]:
    """Files and a window that bring the conditions about, or nothing if they would contradict one.

    `lines`: what the screen showed of the open document, besides the texts the conditions ask for.
    """
    steps: list[SetupStep] = []
    document = scene.path(scene.document) if scene.document else ""
    for condition in before:
        if isinstance(condition, FileText) and condition.match == "equals":
            steps.append(SetupStep(kind="file.write", path=condition.path, text=condition.text))
        elif isinstance(condition, FileExists) and condition.type == "dir":
            steps.append(SetupStep(kind="dir.make", path=condition.path))
        elif isinstance(condition, FileExists) and condition.path != document:
            steps.append(SetupStep(kind="file.write", path=condition.path, text="contents\n"))
    window = next((c for c in before if isinstance(c, WindowTitle)), None)
    if window is None and not any(isinstance(c, AppRunning) for c in before):
        return tuple(steps)
    if document and not any(step.path == document for step in steps):
        held = [c.text for c in before if isinstance(c, FileText) and c.path == document and c.match == "contains"]
        shown = [*lines, *held, *(c.text for c in before if isinstance(c, ScreenText))]
        steps.append(SetupStep(kind="file.write", path=document, text="".join(f"{line}\n" for line in _lines(shown))))
    if document:
        steps.append(SetupStep(kind="app.launch", app=scene.app, args=(document,)))
    else:
        steps.append(SetupStep(kind="app.launch", app=scene.app, text=window.title if window else ""))
    gained = setup_facts(steps)
    return () if any(conflicts_with(fact, condition) for fact in gained for condition in before) else tuple(steps)


def _lines(texts: Sequence[str]) -> list[str]:
    """Texts without those that are part of a longer one."""
    return [text for text in dict.fromkeys(texts) if not any(text != other and text in other for other in texts)]


def _parameter(value: Value) -> Parameter:
    pool = [example for example in POOLS.get(value.kind, POOLS["text"]) if example != value.text]
    kind = value.kind if value.kind in ("text", "path", "filename", "dirname", "number", "choice") else "text"
    # two words of one primitive must not draw the same value: each starts at its own place in the pool
    turn = sum(map(ord, value.name)) % len(pool)
    return Parameter.model_validate(
        {"name": value.name, "kind": kind, "examples": (value.text, *pool[turn:], *pool[:turn])}
    )


def _generalized(condition: Condition, values: Mapping[str, str]) -> Condition:
    return CONDITION.validate_python(
        _replaced(condition.model_dump(mode="json"), values, skip=("kind", "app", "match", "type"))
    )


def _replaced(
    data: Any, values: Mapping[str, str], skip: Sequence[str] = ("kind", "app", "type", "schema_id", "key")
) -> Any:
    """Every value, where it stands as whole words, becomes its {parameter}; longer values first."""
    if isinstance(data, str):
        names = {text: name for name, text in values.items() if text}
        if not names:
            return data
        choice = "|".join(re.escape(text) for text in sorted(names, key=len, reverse=True))
        return re.sub(rf"(?<![\w])(?:{choice})(?![\w])", lambda match: f"{{{names[match.group()]}}}", data)
    if isinstance(data, Mapping):
        return {key: item if key in skip else _replaced(item, values, skip) for key, item in data.items()}
    if isinstance(data, (list, tuple)):
        return [_replaced(item, values, skip) for item in data]
    return data


def template_of(action: Action, values: Mapping[str, str]) -> ActionTemplate:
    args = {key: value for key, value in action.action.to_dict()["args"].items() if key not in ("x", "y", "path")}
    target = action.target
    if target is not None:
        target = _target(target, values)
    elif action.action.type.startswith("mouse."):
        target = Target(role="area")
    if action.action.type == "keyboard.type" or (target is not None and action.action.type.startswith("keyboard.")):
        target = None  # the focus is where the operation's clicks have put it
    typed = (
        {key: _replaced(value, values) for key, value in args.items()}
        if action.action.type == "keyboard.type"
        else args
    )
    return ActionTemplate(type=action.action.type, target=target, args=typed)


def _target(target: Target, values: Mapping[str, str]) -> Target:
    """Named things by their labels; a bare position was one of that recording, so only 'somewhere in the window' is kept."""
    if not target.text:
        return Target(role="area", near=target.near)
    replaced = _replaced({"text": target.text, "near": target.near}, values)
    return target.model_copy(update={**replaced, "at": None, "window": ""})
