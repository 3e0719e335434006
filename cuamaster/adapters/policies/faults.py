"""What can go wrong on purpose: pure functions from a right decision to a wrong one, and from a plan to what a stray action may harm."""

from __future__ import annotations

import dataclasses
import posixpath
import random
import re
from collections.abc import Iterator, Sequence

from cuamaster.action_space import COORD_MAX, CUAAction
from cuamaster.ports import Decision
from cuamaster.records.condition import Condition, FileExists, FileText, Not
from cuamaster.records.effects import overwrites
from cuamaster.records.filling import substitute
from cuamaster.records.parts import conjuncts, leaves
from cuamaster.records.task import PrimitiveUse
from cuamaster.records.templates import quote
from cuamaster.records.trajectory import Action

DELAY = 5
"""A stray action harms what one of the next DELAY uses needs."""
STRAY = "fault-delayed"
"""Evidence of an action that harms a later use; a fault that harms its own use has the evidence `fault`."""
_NOTHING = Action(action=CUAAction("wait", {"seconds": 0.1}), evidence="fault")
_WORD = re.compile(r"[A-Za-z]{3,}")


def spoil(decision: Decision, rng: random.Random) -> Decision:
    """A wrong decision in place of a right one, marked as injected: its use will not have its effect."""
    types = {item.action.type for item in decision.actions}
    kinds = ["premature-done"]
    if decision.done_use or "keyboard.type" in types:
        kinds.append("skipped-step")  # other steps are too often superfluous to make a fault of leaving them out
    if "mouse.click" in types:
        kinds.append("wrong-click")
    if "keyboard.type" in types:
        kinds.append("wrong-text")
    if any(_last_word(item.action) for item in decision.actions):
        kinds.append("wrong-command")
    kind = rng.choice(kinds)
    if kind == "skipped-step":
        return dataclasses.replace(decision, actions=(_NOTHING,), injected=True)
    if kind == "premature-done":
        return dataclasses.replace(decision, actions=(_NOTHING,), injected=True, done_use=True)
    spoiled = tuple(_spoil_action(item, kind, rng) for item in decision.actions)
    return dataclasses.replace(decision, actions=spoiled, injected=True)


def stray(decision: Decision, path: str) -> Decision:
    """The right actions after one that writes a file nobody has asked for: nothing is wrong with this use itself."""
    folder = posixpath.dirname(path)
    command = f"mkdir -p {quote(folder)} && " if folder not in ("", "~") else ""
    command += f"echo mislaid > {quote(path)}"
    harm = Action(action=CUAAction("shell.exec", {"command": command}), evidence=STRAY)
    return dataclasses.replace(decision, actions=(harm, *decision.actions), injected=True)


def fragile(plan: Sequence[PrimitiveUse], use: int) -> list[str]:
    """Paths at which one of the next DELAY uses consumes a file or makes one, and that nothing looks after until then.

    What is there when `use` (0 = first) is carried out is the plan's business only when it is taken up: a consumed file's text
    goes into what the later use makes, and where a file lies already none can be made. Harm shows there, and not earlier.
    """
    found: list[str] = []
    for later in range(use + 1, min(len(plan), use + 1 + DELAY)):
        effects = tuple(_filled(plan[later].primitive.effects, plan[later]))
        touched = {path for earlier in plan[use:later] for path in _paths(earlier)}
        for need in _filled(plan[later].primitive.preconditions, plan[later]):
            if isinstance(need, Not) and isinstance(need.of, FileExists):
                path = need.of.path
                depends = any(isinstance(effect, FileText) and effect.path == path for effect in effects)
            elif isinstance(need, FileText):
                path = need.path
                depends = any(isinstance(effect, FileText) and need.text in effect.text for effect in effects)
                depends = depends and any(overwrites(effect, need) for effect in effects)
            else:
                continue
            if depends and path not in touched and path not in found:
                found.append(path)
    return found


def _filled(conditions: Sequence[Condition], use: PrimitiveUse) -> Iterator[Condition]:
    for condition in conditions:
        yield from conjuncts(substitute(condition, use.arguments))


def _paths(use: PrimitiveUse) -> set[str]:
    conditions = _filled((*use.primitive.preconditions, *use.primitive.effects), use)
    return {str(leaf.path) for condition in conditions for leaf in leaves(condition) if hasattr(leaf, "path")}


def _spoil_action(item: Action, kind: str, rng: random.Random) -> Action:
    action = item.action
    args = action.to_dict()["args"]
    if kind == "wrong-click" and action.type == "mouse.click":
        args["x"], args["y"] = _elsewhere(args["x"], rng), _elsewhere(args["y"], rng)
    elif kind == "wrong-text" and action.type == "keyboard.type":
        args["text"] = _misspelt(args["text"], rng)
    elif kind == "wrong-command" and (word := _last_word(action)):
        command = args["command"]
        args["command"] = command[: word.start()] + _misspelt(word.group(), rng) + command[word.end() :]
    else:
        return item
    return item.model_copy(update={"action": CUAAction(action.type, args), "evidence": "fault"})


def _last_word(action: CUAAction) -> re.Match[str] | None:
    """Of a command: mostly what it is about, a name or a text."""
    words = list(_WORD.finditer(action.args["command"])) if action.type == "shell.exec" else []
    return words[-1] if words else None


def _elsewhere(value: float, rng: random.Random) -> float:
    """150 to 350 thousandths away, on the screen."""
    offset = rng.uniform(150, 350)
    return (
        value - offset if value + offset > COORD_MAX or (value - offset >= 0 and rng.random() < 0.5) else value + offset
    )


def _misspelt(text: str, rng: random.Random) -> str:
    """One character in five replaced by another letter: more than a reader of the screen would take for its own mistake."""
    letters = list(text)
    for index in rng.sample(range(len(text)), max(1, len(text) // 5)):
        letters[index] = rng.choice([char for char in "bdfghkmrtwxz" if char != text[index].lower()])
    return "".join(letters)
