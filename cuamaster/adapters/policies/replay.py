"""Carries out a plan's procedures on the live screen: named targets are found by reading it, then acted on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.action_space import CUAAction
from cuamaster.adapters.policies.wording import in_words
from cuamaster.errors import InvalidInput
from cuamaster.ports import Decision, Frame, Image, ScreenReader
from cuamaster.records.episode import Node
from cuamaster.records.primitive import ActionTemplate, Mode, Procedure
from cuamaster.records.task import PrimitiveUse, Task
from cuamaster.records.templates import fill_template
from cuamaster.records.trajectory import Action, Target, TextBox, Window
from cuamaster.vision.changes import same_screen
from cuamaster.vision.grounding import Grounded, find_target

_WAIT = Action(action=CUAAction("wait", {"seconds": 1.0}), evidence="target not on the screen yet")


class ReplayPolicy:
    """The oracle: reads task.plan. In mode `mixed` it uses a command where a primitive has one.

    A keyboard step with a target is preceded by a click on it, in one batch; one whose target names only a window waits until
    that window has the focus. A target that is not on the screen is waited for: `max_waits` decisions long, `still_waits` while
    the screen stays as it is; then the policy gives up.

    After a rollback it goes on with another procedure of the primitive that the mode allows, since that costs nothing and a
    fault that lies in the way itself would come back: the one that has failed least, of several the one that has worked
    before. Where there is one procedure only, the first new attempt repeats it on the fresh screen and later ones take the
    next best match of each target.
    """

    name = "replay"

    def __init__(self, reader: ScreenReader, mode: Mode = "gui", *, max_waits: int = 10, still_waits: int = 4) -> None:
        self.mode: Mode = mode
        self._reader, self._max_waits, self._still_waits = reader, max_waits, still_waits
        self._plan: tuple[PrimitiveUse, ...] = ()
        self._use = self._step = self._waits = 0
        self._waited_at: Image | None = None
        self._still = 0
        self._doing: int | None = None
        self._failed: Counter[tuple[int, int]] = Counter()
        self._worked: Counter[tuple[int, int]] = Counter()

    def begin(self, task: Task) -> None:
        """Take up the plan; raises InvalidInput without one, for a use without a procedure in this mode or with a missing argument."""
        if not task.plan:
            raise InvalidInput(
                f"task {task.id} has no plan to replay", hint="collect imported tasks with CUAMASTER_POLICY=openai_api"
            )
        for number, use in enumerate(task.plan, 1):
            procedure = use.primitive.procedure(self.mode)
            if procedure is None:
                raise InvalidInput(
                    f"use {number}, {use.primitive.id}: no procedure for mode {self.mode}",
                    hint="run it in another mode",
                )
            for template in procedure.steps:
                fill_template(template, use.arguments)
        self._plan = task.plan
        self._use = self._step = self._waits = 0
        self._waited_at = self._doing = None
        self._failed.clear()
        self._worked.clear()

    def decide(self, frame: Frame, history: Sequence[Node], hint: str) -> Decision:  # noqa: ARG002 (it retries on its own account)
        """The next step of the current use, or a wait, or the end."""
        if self._doing is not None and self._doing != self._use:  # nobody went back: it had its effect
            self._worked[self._doing, self._way(self._doing)] += 1
        if self._use == len(self._plan):
            self._doing = None
            return _finish("success", "Everything is done.")
        self._doing = self._use
        use = self._plan[self._use]
        steps = self._ways(use)[self._way(self._use)].steps
        template = fill_template(steps[self._step], use.arguments)
        actions = self._ground(template, frame)
        if actions is None:
            return self._wait(template, frame)
        current, done = self._use, self._step + 1 == len(steps)
        self._waits, self._waited_at = 0, None
        self._use, self._step = (self._use + 1, 0) if done else (self._use, self._step + 1)
        return Decision(actions=tuple(actions), thought=in_words(template), use=current, done_use=done)

    def state(self) -> dict[str, Any]:
        """Where in the plan it is."""
        return {"use": self._use, "step": self._step}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to that place; that its use is tried again, and the one that failed, is not forgotten."""
        failed, self._use, self._step = self._doing, int(state["use"]), int(state["step"])
        self._waits, self._waited_at, self._doing = 0, None, None
        for use in {self._use} if failed is None else {self._use, failed}:
            if use < len(self._plan):
                self._failed[use, self._way(use)] += 1

    def _ways(self, use: PrimitiveUse) -> list[Procedure]:
        """The procedures that the mode allows, the preferred one first."""
        preferred = use.primitive.procedure(self.mode)
        assert preferred is not None  # begin() has checked it
        allowed = (item for item in use.primitive.procedures if self.mode in ("mixed", item.mode))
        return [preferred, *(item for item in allowed if item is not preferred)]

    def _way(self, number: int) -> int:
        """Which of its procedures a use takes."""
        ways = range(len(self._ways(self._plan[number])))
        return min(ways, key=lambda way: (self._failed[number, way], -self._worked[number, way]))

    def _rank(self) -> int:
        """0: the best match of a target, 1: the next one, ..."""
        only = len(self._ways(self._plan[self._use])) == 1
        return max(0, self._failed[self._use, 0] - 1) if only else 0

    def _ground(self, template: ActionTemplate, frame: Frame) -> list[Action] | None:
        """The template's actions on this screen, or None while its target is not to be seen."""
        if template.type == "mouse.drag":
            return self._drag(template, frame)
        args = dict(template.args)
        if template.target is None:
            return [_action(template.type, args)]
        if not template.type.startswith("mouse.") and _only_window(template.target):
            return (
                [_action(template.type, args)]
                if frame.active and frame.active == _window(template.target, frame)
                else None
            )
        spot = self._find(template.target, frame)
        if spot is None:
            return None
        point = {"x": spot.x, "y": spot.y}
        if template.type.startswith("mouse."):
            return [_action(template.type, {**args, **point}, template.target, spot.score)]
        return [_action("mouse.click", point, template.target, spot.score), _action(template.type, args)]

    def _drag(self, template: ActionTemplate, frame: Frame) -> list[Action] | None:
        if template.target is None or template.to is None:
            return [_action(template.type, dict(template.args))]
        start, end = self._find(template.target, frame), self._find(template.to, frame)
        if start is None or end is None:
            return None
        path = [[start.x, start.y], [end.x, end.y]]
        return [_action(template.type, {**template.args, "path": path}, template.target, min(start.score, end.score))]

    def _find(self, target: Target, frame: Frame) -> Grounded | None:
        boxes = self._reader.read(frame.image) if target.text or target.near else []
        window = _window(target, frame)
        for candidates in (_inside(boxes, window), boxes) if window else (boxes,):
            for nth in dict.fromkeys((target.nth + self._rank(), target.nth)):
                wanted = target.model_copy(update={"nth": nth})
                spot = find_target(candidates, wanted, (frame.image.shape[1], frame.image.shape[0]), window)
                if spot is not None:
                    return spot
        return None

    def _wait(self, template: ActionTemplate, frame: Frame) -> Decision:
        """A settled screen that stays as it is will not show the target later: a wrong step led here."""
        self._waits += 1
        unchanged = self._waited_at is not None and same_screen(self._waited_at, frame.image)
        self._waited_at, self._still = frame.image, self._still + 1 if unchanged else 0
        if self._waits > self._max_waits or self._still >= self._still_waits:
            return _finish("failure", f"Cannot find what to use for: {in_words(template)}", self._use)
        return Decision(actions=(_WAIT,), thought="Wait for the screen to change.", use=self._use)


def _action(kind: str, args: Mapping[str, Any], target: Target | None = None, score: float = 1.0) -> Action:
    return Action(
        action=CUAAction(kind, args),
        target=target,
        confidence=max(0.0, min(1.0, score)),
        evidence="screen" if target else "procedure",
    )


def _finish(status: str, thought: str, use: int | None = None) -> Decision:
    return Decision(
        actions=(Action(action=CUAAction("finish", {"status": status}), evidence="procedure"),),
        thought=thought,
        use=use,
    )


def _only_window(target: Target) -> bool:
    return bool(target.window) and not target.text and not target.near and target.at is None


def _window(target: Target, frame: Frame) -> Window | None:
    """The window a target is in: the named one, by application or part of the title; the focused one when none is named.

    None for a window that is not there, and for `screen`, the whole of it.
    """
    if not target.window:
        return frame.active
    if target.window == "screen":
        return None
    name = target.window.casefold()
    fitting = [window for window in frame.windows if name == window.app.casefold() or name in window.title.casefold()]
    return frame.active if frame.active in fitting else next(iter(fitting), None)


def _inside(boxes: Sequence[TextBox], window: Window) -> list[TextBox]:
    right, bottom = window.x + window.width, window.y + window.height
    return [box for box in boxes if window.x <= box.center[0] <= right and window.y <= box.center[1] <= bottom]
