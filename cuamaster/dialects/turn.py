"""The actions of one answer as they are read: points of the dialect become 0-1000, the pointer is followed, all is validated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cuamaster.action_space import MAX_SCROLL_NOTCHES, CUAAction, canonical_key
from cuamaster.dialects.coordinates import Point, Screen, Space
from cuamaster.dialects.key_names import split_chord
from cuamaster.dialects.lowering import cursor_after
from cuamaster.errors import InvalidAction

_DIGITS = re.compile(r"\s*[+-]?\d{1,6}(?:\.\d{1,12})?\s*")
_PAIR = re.compile(r"\s*[\[(]?\s*(\d{1,6}(?:\.\d+)?)\s*,\s*(\d{1,6}(?:\.\d+)?)\s*[\])]?\s*")
_MAX_NOTCHES = 2000
_DIRECTIONS = {"up": ("dy", -1), "down": ("dy", 1), "left": ("dx", -1), "right": ("dx", 1)}


class Turn:
    """Collects actions. Every method raises InvalidAction naming the field at fault."""

    def __init__(self, space: Space, screen: Screen) -> None:
        self.actions: list[CUAAction] = []
        self.screen = screen
        self.clipboard: Any = None
        """Text that was put there to be pasted by the next call."""
        self._space = space
        self._cursor = screen.cursor

    def add(self, kind: str, **args: Any) -> None:
        """One action; arguments that are None are left out."""
        action = CUAAction(kind, {name: value for name, value in args.items() if value is not None})
        action.validate()
        self._cursor = cursor_after(action, self._cursor)
        self.actions.append(action)

    def point(self, x: Any, y: Any, names: tuple[str, str] = ("x", "y")) -> Point:
        """A place named in the dialect's numbers."""
        return self._space.read(number(x), number(y), self.screen, names)

    def pair(self, value: Any, field: str = "coordinate") -> Point:
        """A place given as [x, y], as that inside a list, as {"x", "y"}, or as text that holds just that."""
        if isinstance(value, str) and (numbers := _PAIR.fullmatch(value)) is not None:
            value = list(numbers.groups())
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
            value = value[0]
        if isinstance(value, dict) and value.keys() == {"x", "y"}:
            value = [value["x"], value["y"]]
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise InvalidAction(f"{field} must be [x, y], got {value!r}", field=field)
        return self.point(value[0], value[1])

    def at(self, args: Mapping[str, Any]) -> Point:
        """The place of a call with `x` and `y`."""
        return self.point(need(args, "x"), need(args, "y"))

    def perhaps_at(self, args: Mapping[str, Any]) -> Point | None:
        """As `at`; None for a call without a place, which happens at the pointer."""
        return None if args.get("x") is None and args.get("y") is None else self.at(args)

    def here(self, field: str) -> Point:
        """Where the pointer is, for an action that names no place."""
        if self._cursor is None:
            raise InvalidAction(
                f"missing {field}, and where the pointer is is not known", field=field, hint="name the place"
            )
        return self._cursor

    def offset(self, dx: float, dy: float) -> Point:
        """A distance in the dialect's numbers as parts of 1000 of the screen."""
        return self._space.distance(dx, dy, self.screen)

    def close(self) -> None:
        """The answer is at its end."""
        if self.clipboard is not None:
            raise InvalidAction("text is put on the clipboard and not pasted", field="text", hint="type the text")

    def click(self, at: Point, button: Any = "left", count: Any = 1, modifiers: Sequence[str] = ()) -> None:
        """One to three clicks."""
        self.add(
            "mouse.click",
            x=at[0],
            y=at[1],
            button=None if button == "left" else button,
            count=None if count == 1 and count is not True else count,
            modifiers=list(modifiers) or None,
        )

    def button(self, name: str, at: Point | None, button: Any = "left") -> None:
        """A button pressed (`down`) or released (`up`) apart, at a place or where the pointer is."""
        place = {"x": at[0], "y": at[1]} if at else {}
        self.add(f"mouse.{name}", **place, button=None if button == "left" else button)

    def drag(self, path: Sequence[Point], button: Any = "left", modifiers: Sequence[str] = ()) -> None:
        """A drag whose first point is given."""
        self.add(
            "mouse.drag",
            path=[list(point) for point in path],
            button=None if button == "left" else button,
            modifiers=list(modifiers) or None,
        )

    def drag_to(self, end: Point, field: str, button: Any = "left") -> None:
        """A drag from the pointer; a move that only led up to it becomes its begin."""
        start = self.here(field)
        if self.actions and self.actions[-1].type == "mouse.move":
            self.actions.pop()
        self.drag([start, end], button)

    def scroll(self, dx: Any = 0, dy: Any = 0, at: Point | None = None, modifiers: Sequence[str] = ()) -> None:
        """A scroll by notches, in several actions where it is longer than one may be."""
        ways = {"dy": dy, "dx": dx}
        for name, way in ways.items():
            if isinstance(way, bool) or not isinstance(way, (int, float)) or not abs(way) <= _MAX_NOTCHES:
                raise InvalidAction(f"a scroll of {way!r} notches is none", field=name)
        place = {"x": at[0], "y": at[1]} if at else {}
        left = {name: round(way) for name, way in ways.items()}
        while any(left.values()):
            part = {name: max(-MAX_SCROLL_NOTCHES, min(MAX_SCROLL_NOTCHES, way)) for name, way in left.items()}
            left = {name: left[name] - part[name] for name in left}
            self.add(
                "mouse.scroll",
                **place,
                **{name: way or None for name, way in part.items()},
                modifiers=modifiers or None,
            )

    def scroll_towards(
        self, direction: Any, notches: float, at: Point | None = None, modifiers: Sequence[str] = ()
    ) -> None:
        """A scroll in a named direction."""
        if not isinstance(direction, str) or direction.lower() not in _DIRECTIONS:
            raise InvalidAction(f"direction must be up, down, left or right, got {direction!r}", field="direction")
        axis, sign = _DIRECTIONS[direction.lower()]
        self.scroll(**{axis: sign * notches}, at=at, modifiers=modifiers)

    def press(self, keys: Any, field: str = "keys", separators: str = "+") -> None:
        """Keys together, given as a list of names or chords, or as one chord."""
        self.add("keyboard.press", keys=key_list(keys, field, separators))

    def held_key(self, name: str, key: Any, field: str = "key") -> None:
        """A key pressed (`down`) or released (`up`) apart."""
        self.add(f"keyboard.{name}", key=canonical_key(key, field))

    def wait(self, seconds: Any) -> None:
        """Some seconds."""
        self.add("wait", seconds=number(seconds))

    def finish(self, status: Any, answer: Any = None) -> None:
        """The end."""
        self.add("finish", status=status.lower() if isinstance(status, str) else status, answer=answer or None)


def key_list(keys: Any, field: str = "keys", separators: str = "+") -> list[str]:
    """Canonical keys of a list of names, or of a chord such as ctrl+c."""
    if isinstance(keys, str):
        return split_chord(keys, field, separators)
    if not isinstance(keys, (list, tuple)) or not keys:
        raise InvalidAction(f"{field} must be a list of keys, got {keys!r}", field=field)
    found: list[str] = []
    for index, key in enumerate(keys):
        name = f"{field}[{index}]"
        # a whole chord as one item: ["ctrl+c"]
        chord = isinstance(key, str) and len(key) > 2 and "+" in key[1:-1]
        found += split_chord(key, name) if chord else [canonical_key(key, name)]
    return found


def need(arguments: Mapping[str, Any], *fields: str) -> Any:
    """The first of the fields that is there; raises InvalidAction naming the first."""
    for field in fields:
        if arguments.get(field) is not None:
            return arguments[field]
    raise InvalidAction(f"missing {fields[0]}", field=fields[0])


def number(value: Any) -> Any:
    """The number that a text holds, "5" for 5; anything else as it is."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return float(value) if "." in value else int(value)
    return value


def notches(value: Any, scale: float, field: str) -> int:
    """Whole notches of an amount in a dialect's unit, at least one; raises InvalidAction for what is no number but 0."""
    value = number(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e6 or not value:
        raise InvalidAction(f"{field} must be a number other than 0, got {value!r}", field=field)
    return max(1, round(abs(value) / scale)) * (1 if value > 0 else -1)
