"""What recorded boundaries and steps prove about where a path went wrong: pure functions over facts, without a desktop."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cuamaster.errors import InvalidInput
from cuamaster.propagation.collection.progress import Course, about
from cuamaster.records.episode import Boundary, Node
from cuamaster.records.primitive import ActionTemplate
from cuamaster.records.task import PrimitiveUse
from cuamaster.records.templates import fill_template


def unasked(course: Course, before: Boundary, after: Boundary) -> frozenset[str]:
    """The paths that came, went or changed between two boundaries although no use in between is about them."""
    told = frozenset[str]().union(*course.paths[before.use : after.use])
    was, now = before.signature.files, after.signature.files
    changed = (path for path, digest in was.items() if now.get(path, digest) != digest)
    return frozenset(path for path in changed if not any(about(path, other) for other in told))


def unexplained_change(course: Course, history: Sequence[Boundary], paths: frozenset[str]) -> int | None:
    """Position of the earliest boundary after which one of `paths` came, went or changed although no use is about it, or None.

    The signatures hold the files' hashes at every boundary, so that harm done to a file that is needed only later is dated
    without going back to look. What a later use has dealt with since is no harm any more.
    """
    for position, (before, after) in enumerate(pairwise(history)):
        since = frozenset[str]().union(*course.paths[after.use : history[-1].use])
        for path in unasked(course, before, after) & paths:
            if not any(about(path, other) for other in since):
                return position
    return None


def departed(course: Course, path: Sequence[Node], stretch: Sequence[int]) -> bool:
    """Whether in a stretch of `path` something was done that no procedure of its use says, or one was called done too early.

    Then the failure is the policy's own. A procedure that was followed, to its end or until its next target could not be found,
    and led nowhere casts doubt on the state that it began in. Places on the screen are not compared.
    """
    for start, end in _runs(path, stretch):
        nodes = [path[index] for index in stretch[start:end]]
        use = nodes[0].use
        if use is None or use >= len(course.task.plan):
            continue
        done = [node for node in nodes if not _idles(node)]
        given_up = any(item.action.type == "finish" for item in nodes[-1].actions)
        if not any(
            all(map(_is_step, done, steps)) and (len(done) == len(steps) or (given_up and len(done) < len(steps)))
            for steps in _procedures(course.task.plan[use])
        ):
            return True
    return False


def odd_step(course: Course, path: Sequence[Node], stretch: Sequence[int]) -> int | None:
    """The first step of a stretch of `path` that is not the next one of any of its use's procedures, or None.

    Such a step is suspect only because its stretch is known to hold the mistake: a policy with ways of its own, whose first
    step already is another, is not judged. A wait that is repeated or given up on is the trace of what came before it.
    """
    for start, end in _runs(path, stretch):
        use = path[stretch[start]].use
        if use is None or use >= len(course.task.plan):
            continue
        runs = [path[index] for index in stretch[start:end]]
        matched, length = max((_matched(runs, steps) for steps in _procedures(course.task.plan[use])), default=(0, 0))
        if matched == len(runs) or length == 0:
            continue
        return stretch[start + matched]
    return None


def _runs(path: Sequence[Node], stretch: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring steps of the same use, as slices of the stretch."""
    cuts = [i for i in range(1, len(stretch)) if path[stretch[i]].use != path[stretch[i - 1]].use]
    return list(zip([0, *cuts], [*cuts, len(stretch)], strict=True)) if stretch else []


def _procedures(use: PrimitiveUse) -> list[list[ActionTemplate]]:
    found = []
    for procedure in use.primitive.procedures:
        try:
            found.append([fill_template(step, use.arguments) for step in procedure.steps])
        except InvalidInput:  # a plan that cannot be filled in says nothing
            continue
    return found


def _matched(nodes: Sequence[Node], steps: Sequence[ActionTemplate]) -> tuple[int, int]:
    """(how many leading nodes are the procedure's leading steps, whether waits aside the first one is): the better, the more."""
    step = position = 0
    while position < len(nodes) and step < len(steps):
        if _is_step(nodes[position], steps[step]):
            position, step = position + 1, step + 1
            continue
        waits = 0
        while position + waits < len(nodes) and _waits(nodes[position + waits]):
            waits += 1
        after = nodes[position + waits] if position + waits < len(nodes) else None
        if waits and after is not None and _is_step(after, steps[step]):
            position += waits  # the target came at last
            continue
        if waits and position and after is not None and after.actions[0].action.type == "finish":
            position -= 1  # it never came: the step before did not lead there
        break
    return position, step


def _waits(node: Node) -> bool:
    return all(item.action.type == "wait" for item in node.actions)


def _idles(node: Node) -> bool:
    return all(item.action.type in ("wait", "finish") for item in node.actions)


def _is_step(node: Node, template: ActionTemplate) -> bool:
    """Whether the node does what the template says; places on the screen are not compared."""
    actions = [item.action for item in node.actions]
    if len(actions) == 2 and not template.type.startswith("mouse.") and actions[0].type == "mouse.click":
        actions = actions[1:]  # the click on the field comes before its text
    if len(actions) != 1 or actions[0].type != template.type:
        return False
    wanted = {key: value for key, value in template.args.items() if key not in ("x", "y", "path")}
    args = actions[0].to_dict()["args"]
    return all(_plain(args.get(key)) == _plain(value) for key, value in wanted.items())


def _plain(value: object) -> object:
    return [str(item).lower() for item in value] if isinstance(value, (list, tuple)) else value
