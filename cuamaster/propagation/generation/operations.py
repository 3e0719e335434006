"""Cuts a trajectory's actions into operations: runs of clicks, keys and typing that end where something is carried out.

An operation ends with Enter after typing, a button that confirms, a double click, a hot key, a menu item that asks nothing
further, or typing straight into a document. What only closes a dialog belongs to the operation before it; a click that only gives
the focus belongs to the one after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from cuamaster.records.trajectory import Action, Trajectory

_CONFIRMS = re.compile(
    r"^(save|ok|open|create|rename|apply|replace all|replace|insert|yes|done|add|delete|move to trash|find|go|connect|export|import)$",
    re.IGNORECASE,
)
_CLOSES = re.compile(r"^(close|cancel|ok|done|quit dialog|no)$", re.IGNORECASE)
_DIRECT = re.compile(
    r"^(save|save all|copy|cut|paste|undo|redo|select all|delete|delete selection|move to trash|remove|close|close tab|close window|quit|new|reload)\b",
    re.IGNORECASE,
)
_AIDS = frozenset(
    {"tab", "home", "end", "up", "down", "left", "right", "escape", "shift", "pageup", "pagedown", "backspace"}
)


@dataclass(frozen=True)
class Operation:
    """Consecutive actions with one purpose; `title_after`: the active window's title when it was over ('' if unknown)."""

    actions: tuple[Action, ...]
    title_after: str = ""

    @property
    def t_start(self) -> float:
        """Seconds, begin of the first action."""
        return self.actions[0].t_start

    @property
    def t_end(self) -> float:
        """Seconds, end of the last action."""
        return max(action.t_end for action in self.actions)

    @property
    def labels(self) -> tuple[str, ...]:
        """Texts of what was clicked, in order."""
        return tuple(label_of(a) for a in self.actions if a.action.type == "mouse.click" and label_of(a))

    @property
    def typed(self) -> tuple[str, ...]:
        """Texts typed, in order."""
        return tuple(str(a.action.args["text"]) for a in self.actions if a.action.type == "keyboard.type")

    @property
    def chords(self) -> tuple[frozenset[str], ...]:
        """Hot keys pressed, in order."""
        return tuple(chord_of(a) for a in self.actions if a.action.type == "keyboard.press")


def label_of(action: Action) -> str:
    """The text of the thing an action is aimed at, without trailing dots; '' for none."""
    return "" if action.target is None else action.target.text.strip().rstrip(".…: ")


def chord_of(action: Action) -> frozenset[str]:
    """Keys of a keyboard.press."""
    return frozenset(str(key).lower() for key in action.action.args.get("keys", ()))


def _is_double(action: Action) -> bool:
    return action.action.type == "mouse.click" and action.action.args.get("count", 1) >= 2


def _is_plain_click(action: Action) -> bool:
    return (
        action.action.type == "mouse.click"
        and action.action.args.get("button", "left") == "left"
        and not _is_double(action)
    )


def _role(action: Action | None) -> str:
    return "" if action is None or action.target is None else action.target.role


def operations(trajectory: Trajectory) -> list[Operation]:
    """The operations of a trajectory in order; waits are left out."""
    flat: list[tuple[Action, str]] = []
    steps = trajectory.steps
    for index, step in enumerate(steps):
        after = steps[index + 1].observation if index + 1 < len(steps) else trajectory.final
        flat += [
            (action, after.active_window) for action in step.actions if action.action.type not in ("wait", "finish")
        ]
    cut: list[Operation] = []
    current: list[Action] = []
    for index, (action, title) in enumerate(flat):
        current.append(action)
        following = flat[index + 1][0] if index + 1 < len(flat) else None
        if following is None or _ends(current, following):
            cut.append(Operation(tuple(current), title))
            current = []
    return _joined(cut)


def _ends(current: list[Action], following: Action) -> bool:
    last = current[-1]
    typed = any(a.action.type == "keyboard.type" for a in current)
    types_next = following.action.type == "keyboard.type"
    if last.action.type == "keyboard.press":
        keys = chord_of(last)
        if "enter" in keys:
            return typed
        return not types_next and not keys <= _AIDS and keys != {"ctrl", "a"}
    if _is_double(last):
        return not types_next
    if last.action.type == "keyboard.type":
        confirmed = following.action.type == "keyboard.press" and chord_of(following) & {"enter", "tab"}
        return not confirmed and not _asks(current)
    if _is_plain_click(last):
        return _click_ends(last, following, typed=typed, first=len(current) == 1, types_next=types_next)
    return False


def _click_ends(last: Action, following: Action, *, typed: bool, first: bool, types_next: bool) -> bool:
    label = label_of(last)
    if types_next or _role(last) in ("menu", "field", "checkbox", "tab") or not label:
        return False
    if typed and _CONFIRMS.match(label):
        return not (_CONFIRMS.match(label_of(following)) and _role(following) == "button")
    if first:
        return bool(_CLOSES.match(label)) and _role(last) in ("button", "")
    return bool(_DIRECT.match(label)) or _role(following) == "menu" or not _is_plain_click(following)


def _asks(current: list[Action]) -> bool:
    """Whether something before the typing opened a dialog or a field to be confirmed (a menu item, a hot key)."""
    for action in current[:-1]:
        if action.action.type == "keyboard.press" and not chord_of(action) <= _AIDS:
            return True
        if (
            action.action.type == "mouse.click"
            and label_of(action)
            and _role(action) not in ("area", "cell", "titlebar")
        ):
            return True
    return False


def _joined(cut: list[Operation]) -> list[Operation]:
    done: list[Operation] = []
    carried: tuple[Action, ...] = ()
    for operation in cut:
        clicks_only = all(action.action.type == "mouse.click" for action in operation.actions)
        if clicks_only and operation.labels and all(_CLOSES.match(label) for label in operation.labels) and done:
            done[-1] = Operation((*done[-1].actions, *operation.actions), operation.title_after)
        elif clicks_only and not operation.labels:
            carried += operation.actions
        else:
            done.append(replace(operation, actions=(*carried, *operation.actions)))
            carried = ()
    return done
