"""What a task's plan says must hold after each of its uses: pure, over conditions, worked out once a task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from cuamaster.records.condition import Condition
from cuamaster.records.effects import overwrites, rest_of
from cuamaster.records.episode import Node
from cuamaster.records.filling import substitute
from cuamaster.records.parts import conjuncts, leaves
from cuamaster.records.reasoning import implies
from cuamaster.records.task import PrimitiveUse, Task

_REMEMBERED = 8


def effects_of(use: PrimitiveUse) -> tuple[Condition, ...]:
    """The effects of one use, filled in and flattened."""
    return _filled(use.primitive.effects, use)


class Course:
    """The course of one task's plan: facts, when each goal is reached, which files each use is about."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.goals = conjuncts(task.verifier)
        self.effects = tuple(effects_of(use) for use in task.plan)
        self._rows: dict[Condition, tuple[bool, ...]] = {}

    @cached_property
    def facts(self) -> tuple[tuple[Condition, ...], ...]:
        """Entry i: the facts that hold after i uses, where later effects have ended earlier ones; entry 0 is the start state."""
        facts = tuple(part for condition in self.task.environment.established for part in conjuncts(condition))
        rows = [facts]
        for effects in self.effects:
            kept = (left for fact in facts if (left := _surviving(fact, effects)) is not None)
            facts = tuple(dict.fromkeys([*kept, *effects]))
            rows.append(facts)
        return tuple(rows)

    @cached_property
    def _numbered(self) -> tuple[dict[Condition, int], tuple[frozenset[int], ...]]:
        """Every fact once, and the rows as numbers: a fact stays for many uses, and comparing conditions is slow."""
        numbers: dict[Condition, int] = {}
        rows = tuple(frozenset(numbers.setdefault(fact, len(numbers)) for fact in row) for row in self.facts)
        return numbers, rows

    def owner(self, condition: Condition) -> int | None:
        """The use (1 = first) from whose end on the plan keeps `condition` true to the last, or None; 0: true from the start."""
        return self.since(condition, len(self.task.plan))

    def since(self, condition: Condition, use: int) -> int | None:
        """The use (1 = first) from whose end on `condition` is true at least until `use` is complete; None: not true then."""
        if condition not in self._rows:
            numbers, rows = self._numbered
            supporting = {number for fact, number in numbers.items() if implies(fact, condition)}
            self._rows[condition] = tuple(bool(row & supporting) for row in rows)
        first: int | None = None
        for index in range(use, -1, -1):
            if not self._rows[condition][index]:
                break
            first = index
        return first

    def required(self, done: int) -> tuple[Condition, ...]:
        """What must hold once `done` uses are complete: the last one's effects, and the goals that are already due."""
        own = self.effects[done - 1] if done else ()
        goals = (goal for goal in self.goals if (since := self.owner(goal)) is not None and since <= done)
        return tuple(dict.fromkeys([*own, *goals]))

    def related_use(self, condition: Condition) -> int | None:
        """The last use (1 = first) that touches something `condition` is about (a path, setting, application), or None."""
        subjects = _subjects([condition])
        for number in range(len(self.task.plan), 0, -1):
            use = self.task.plan[number - 1]
            fragment = substitute(use.primitive.verifier, use.arguments)
            if subjects & _subjects([*self.effects[number - 1], fragment]):
                return number
        return None

    @cached_property
    def _needs(self) -> tuple[tuple[Condition, ...], ...]:
        """Entry i: the preconditions of use i + 1."""
        return tuple(_filled(use.primitive.preconditions, use) for use in self.task.plan)

    @cached_property
    def paths(self) -> tuple[frozenset[str], ...]:
        """Entry i: the paths that use i + 1 is about, as its preconditions and effects name them."""
        return tuple(_paths([*needs, *effects]) for needs, effects in zip(self._needs, self.effects, strict=True))

    def awaited(self, done: int, path: str) -> tuple[Condition, ...]:
        """What the first use after the first `done` that is about `path` needs to find there: nothing changes it until then."""
        for needs, paths in zip(self._needs[done:], self.paths[done:], strict=True):
            if any(about(path, other) for other in paths):
                return tuple(need for need in needs if path in _paths([need]))
        return ()

    @property
    def files(self) -> tuple[str, ...]:
        """Paths that the goal and the uses speak of: hashed into every state signature."""
        return tuple(sorted(_paths(self.goals).union(*self.paths)))


_courses: list[Course] = []


def course_of(task: Task) -> Course:
    """The course of a task; the last few are remembered by the task object itself."""
    for course in list(_courses):
        if course.task is task:
            return course
    course = Course(task)
    _courses.append(course)
    del _courses[:-_REMEMBERED]
    return course


def begins_execution(node_use: int | None, parent: int, last: Node | None) -> bool:
    """Whether a step that continues the path at `parent` begins another execution of a use: of another one than the last step's,
    or of the same one anew after a rollback. A policy that does not know the plan executes nothing that could be counted.
    """
    return node_use is not None and (last is None or last.use != node_use or last.index != parent)


def executions(nodes: Sequence[Node]) -> int:
    """How many executions of primitives an episode's steps make, those on abandoned branches included."""
    pairs = zip([None, *nodes[:-1]], nodes, strict=True) if nodes else ()
    return sum(begins_execution(node.use, node.parent, last) for last, node in pairs)


def about(path: str, other: str) -> bool:
    """Whether two paths are the same, or one lies in the other."""
    one, two = path.rstrip("/"), other.rstrip("/")
    return one == two or one.startswith(two + "/") or two.startswith(one + "/")


def _filled(conditions: Iterable[Condition], use: PrimitiveUse) -> tuple[Condition, ...]:
    filled = (substitute(condition, use.arguments) for condition in conditions)
    return tuple(dict.fromkeys(part for condition in filled for part in conjuncts(condition)))


def _surviving(fact: Condition, effects: Sequence[Condition]) -> Condition | None:
    left: Condition | None = fact
    for effect in effects:
        if left is not None and overwrites(effect, left):
            left = rest_of(left, effect)
    return left


def _paths(conditions: Iterable[Condition]) -> frozenset[str]:
    return frozenset(str(leaf.path) for condition in conditions for leaf in leaves(condition) if hasattr(leaf, "path"))


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
