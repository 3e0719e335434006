"""What a task's plan says must hold after each of its uses: pure, over conditions."""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.records.condition import Condition
from cuamaster.records.filling import substitute
from cuamaster.records.reasoning import conjuncts, implies, leaves, overwrites, rest_of
from cuamaster.records.task import PrimitiveUse, Task


def effects_of(use: PrimitiveUse) -> tuple[Condition, ...]:
    """The effects of one use, filled in and flattened."""
    filled = (substitute(effect, use.arguments) for effect in use.primitive.effects)
    return tuple(dict.fromkeys(part for effect in filled for part in conjuncts(effect)))


def facts_after(task: Task) -> tuple[tuple[Condition, ...], ...]:
    """Entry i: the facts that hold after i uses, where later effects have ended earlier ones; entry 0 is the start state."""
    facts = tuple(part for condition in task.environment.established for part in conjuncts(condition))
    rows = [facts]
    for use in task.plan:
        effects = effects_of(use)
        kept = (left for fact in facts if (left := _surviving(fact, effects)) is not None)
        facts = tuple(dict.fromkeys([*kept, *effects]))
        rows.append(facts)
    return tuple(rows)


def owner(task: Task, condition: Condition) -> int | None:
    """The use (1 = first) from whose end on the plan keeps `condition` true to the last, or None; 0: true from the start."""
    rows = facts_after(task)
    first: int | None = None
    for index in range(len(rows) - 1, -1, -1):
        if not any(implies(fact, condition) for fact in rows[index]):
            break
        first = index
    return first


def required(task: Task, done: int) -> tuple[Condition, ...]:
    """What must hold once `done` uses are complete: the last one's effects, and the goals that are already due."""
    own = effects_of(task.plan[done - 1]) if done else ()
    goals = (goal for goal in conjuncts(task.verifier) if (since := owner(task, goal)) is not None and since <= done)
    return tuple(dict.fromkeys([*own, *goals]))


def related_use(task: Task, condition: Condition) -> int | None:
    """The last use (1 = first) that touches something `condition` is about (a path, setting, application), or None."""
    subjects = _subjects([condition])
    for number in range(len(task.plan), 0, -1):
        use = task.plan[number - 1]
        fragment = substitute(use.primitive.verifier, use.arguments)
        if subjects & _subjects([*effects_of(use), fragment]):
            return number
    return None


def files_of(task: Task) -> tuple[str, ...]:
    """Paths that the goal and the effects speak of: hashed into every state signature."""
    conditions = [task.verifier, *(effect for use in task.plan for effect in effects_of(use))]
    return tuple(sorted({leaf.path for condition in conditions for leaf in leaves(condition) if hasattr(leaf, "path")}))


def _surviving(fact: Condition, effects: Sequence[Condition]) -> Condition | None:
    left: Condition | None = fact
    for effect in effects:
        if left is not None and overwrites(effect, left):
            left = rest_of(left, effect)
    return left


def _subjects(conditions: Sequence[Condition]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for condition in conditions:
        for leaf in leaves(condition):
            data = leaf.model_dump()
            found.update((name, str(data[name])) for name in ("path", "key", "command") if data.get(name))
            if leaf.kind == "clipboard.text":
                found.add(("kind", leaf.kind))
            if leaf.kind in ("window.title", "app.running", "screen.text") and data.get("app"):
                found.add(("app", str(data["app"])))
    return found
