"""Facts about a desktop while a plan is imagined: what setup brings about, what holds, what an effect leaves standing.

A state is a tuple of ground facts, each with its producer: the index of the plan's use that made it true, or START.
What is not stated is unknown, with one exception: in a fresh clone, a file, window or clipboard text nobody made is not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cuamaster.records.condition import (
    All,
    AnyOf,
    ClipboardText,
    Condition,
    FileExists,
    FileText,
    Not,
    ScreenText,
    SettingValue,
    WindowTitle,
)
from cuamaster.records.effects import overwrites, rest_of
from cuamaster.records.parts import conjuncts
from cuamaster.records.primitive import SetupStep
from cuamaster.records.reasoning import conflicts_with, implies

START = -1
_ABSENT_UNLESS_MADE = (FileExists, WindowTitle, ClipboardText, ScreenText)


@dataclass(frozen=True)
class Fact:
    """Something that holds, and who made it so."""

    condition: Condition
    producer: int = START


Facts = tuple[Fact, ...]


def setup_facts(setup: Sequence[SetupStep]) -> tuple[Condition, ...]:
    """What holds after the setup steps; of several launched applications the last one has the focus.

    A file that an application is launched with names its window and shows on the screen when it is text. That this is
    so for the application at hand is the claim of the primitive's author, tested on the VM before anything is released.
    """
    files: dict[str, list[Condition]] = {}
    others: list[Condition] = []
    shown: list[Condition] = []
    for step in setup:
        if step.kind == "file.write":
            files[step.path] = [FileExists(path=step.path, type="file"), FileText(path=step.path, text=step.text)]
        elif step.kind == "file.bytes":
            files[step.path] = [FileExists(path=step.path, type="file")]
        elif step.kind == "dir.make":
            files[step.path] = [FileExists(path=step.path, type="dir")]
        elif step.kind == "path.remove":
            files[step.path] = [Not(of=FileExists(path=step.path))]
        elif step.kind == "setting.write":
            others.append(SettingValue(schema_id=step.schema_id, key=step.key, value=step.value))
        elif step.kind == "clipboard.set":
            others.append(ClipboardText(text=step.text))
        elif step.kind == "app.launch":
            shown = [c.model_copy(update={"active": False}) for c in shown if isinstance(c, WindowTitle)]
            shown += _launched(step, files)
    return (*(fact for facts in files.values() for fact in facts), *others, *shown)


def _launched(step: SetupStep, files: dict[str, list[Condition]]) -> list[Condition]:
    documents = [arg for arg in step.args if not arg.startswith("-")]
    if not documents:
        return [WindowTitle(app=step.app, title=step.text, active=True)]
    facts: list[Condition] = [WindowTitle(app=step.app, title=step.text or _title(documents[-1]), active=True)]
    for known in files.get(documents[-1], []):
        if isinstance(known, FileText):
            facts += [ScreenText(text=line, app=step.app) for line in known.text.splitlines() if line.strip()]
    return facts


def _title(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1].removeprefix("~")


def supporter(condition: Condition, facts: Facts) -> Fact | None:
    """A fact that alone makes the condition hold, the oldest first; None when there is none."""
    return next((fact for fact in facts if implies(fact.condition, condition)), None)


def satisfied(condition: Condition, facts: Facts) -> bool:
    """Whether the condition surely holds in the state."""
    if isinstance(condition, All):
        return all(satisfied(part, facts) for part in condition.of)
    if isinstance(condition, AnyOf):
        return any(satisfied(part, facts) for part in condition.of) or supporter(condition, facts) is not None
    if supporter(condition, facts) is not None:
        return True
    if isinstance(condition, Not):
        return _surely_not(condition.of, facts)
    return False


def _surely_not(condition: Condition, facts: Facts) -> bool:
    if isinstance(condition, AnyOf):
        return all(_surely_not(part, facts) for part in condition.of)
    if isinstance(condition, All):
        return any(_surely_not(part, facts) for part in condition.of)
    if any(conflicts_with(fact.condition, condition) for fact in facts):
        return True
    if isinstance(condition, FileText):
        return _surely_not(FileExists(path=condition.path), facts)
    if isinstance(condition, WindowTitle) and any(_may_be(fact.condition, condition) for fact in facts):
        return False
    return isinstance(condition, _ABSENT_UNLESS_MADE) and not any(implies(fact.condition, condition) for fact in facts)


def _may_be(fact: Condition, wanted: WindowTitle) -> bool:
    """Whether a window of unknown title could be the one that is asked about."""
    if not isinstance(fact, WindowTitle) or fact.title or wanted.app not in ("", fact.app):
        return False
    return fact.active or not wanted.active


def progress(facts: Facts, effects: Iterable[Condition], producer: int) -> Facts:
    """The state after `effects` came true: overwritten facts go (or leave a rest), the rest persists, new ones are added."""
    wanted = tuple(part for effect in effects for part in conjuncts(effect))
    changes = [effect for effect in wanted if not satisfied(effect, facts)]
    kept: list[Fact] = []
    for fact in facts:
        ending = [e for e in changes if overwrites(e, fact.condition)]
        if not ending or any(implies(effect, fact.condition) for effect in wanted):
            kept.append(fact)
            continue
        rests = [rest_of(fact.condition, effect) for effect in ending]
        kept += [replace(fact, condition=rest) for rest in rests[:1] if rest is not None]
    known = {fact.condition for fact in kept}
    return (*kept, *(Fact(effect, producer) for effect in dict.fromkeys(wanted) if effect not in known))
