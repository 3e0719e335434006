"""Any action said with a dialect's own words: as it is, spelled out in several actions, with a named loss, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from cuamaster.action_space import COORD_MAX, CUAAction, canonical_key
from cuamaster.dialects.coordinates import Point, Screen, Space
from cuamaster.dialects.vocabulary import Vocabulary, Where
from cuamaster.errors import Inexpressible

_MOST_WAITS = 15
_SUBSTITUTE = {"infeasible": "failure", "failure": "infeasible"}


@dataclass(frozen=True)
class Loss:
    """Something of an action that a dialect cannot carry, and what becomes of it."""

    field: str
    what: str

    def __str__(self) -> str:
        return f"{self.field}: {self.what}"


@dataclass(frozen=True)
class Said:
    """Actions in the dialect's own words, coordinates in its own steps, and what was lost on the way."""

    actions: tuple[CUAAction, ...]
    losses: tuple[Loss, ...] = ()


def lower(actions: Sequence[CUAAction], says: Vocabulary, space: Space, screen: Screen, name: str) -> Said:
    """Every action in words of the dialect `name`; the pointer is followed from one to the next.

    Raises Inexpressible for what has no words at all, InvalidAction for what is no action.
    """
    out: list[CUAAction] = []
    losses: list[Loss] = []
    cursor = screen.cursor
    for action in actions:
        action.validate()
        speaker = _Speaker(says, space, Screen(screen.width, screen.height, cursor), name, losses)
        parts = speaker.say(action.type, dict(action.args))
        for part in parts:
            cursor = cursor_after(part, cursor)
        out += parts
    return Said(tuple(out), tuple(losses))


def cursor_after(action: CUAAction, cursor: Point | None) -> Point | None:
    """Where the pointer is after an action, 0-1000; None when that is not known."""
    args = action.args
    if action.type == "mouse.drag":
        x, y = args["path"][-1]
        return x, y
    if action.type == "mouse.move_relative":
        return cursor and (_clamped(cursor[0] + args["dx"]), _clamped(cursor[1] + args["dy"]))
    return (args["x"], args["y"]) if "x" in args else cursor


def _clamped(value: float) -> float:
    return min(COORD_MAX, max(0.0, value))


@dataclass
class _Speaker:
    says: Vocabulary
    space: Space
    screen: Screen
    name: str
    losses: list[Loss]

    def say(self, kind: str, args: dict[str, Any]) -> list[CUAAction]:
        modifiers = [canonical_key(key) for key in args.pop("modifiers", ())]
        if modifiers:
            if kind in self.says.modifiers:
                args["modifiers"] = [self._key(key) for key in modifiers]
            else:
                return self._held(modifiers, self.say(kind, args), "modifiers")
        if args.get("button") == "left":
            del args["button"]
        handler = getattr(self, "_" + kind.replace(".", "_"), None)
        return handler(args) if handler else [CUAAction(kind, args)]

    # the mouse

    def _mouse_click(self, args: dict[str, Any]) -> list[CUAAction]:
        button, count = args.get("button", "left"), args.pop("count", 1)
        if (button, count) in self.says.clicks:
            return [CUAAction("mouse.click", self._placed(args) | ({"count": count} if count > 1 else {}))]
        if count > 1 or button not in self.says.down or "modifiers" in args:
            self._cannot(f"{count} clicks of the {button} button", "count" if count > 1 else "button")
        return self.say("mouse.down", dict(args)) + self.say("mouse.up", {"button": button})

    def _mouse_move(self, args: dict[str, Any]) -> list[CUAAction]:
        return [CUAAction("mouse.move", self._placed(args))]

    def _mouse_move_relative(self, args: dict[str, Any]) -> list[CUAAction]:
        if self.says.relative:
            width, height = self.screen.width, self.screen.height
            steps = {"dx": round(args["dx"] * width / COORD_MAX), "dy": round(args["dy"] * height / COORD_MAX)}
            sizes = {"dx": width, "dy": height}
            return [CUAAction("mouse.move_relative", {key: steps[key] * COORD_MAX / sizes[key] for key in steps})]
        there = cursor_after(CUAAction("mouse.move_relative", args), self.screen.cursor)
        if there is None:
            self._cannot("a move by an offset from a pointer whose place is not known", "dx")
        return self._mouse_move({"x": there[0], "y": there[1]})

    def _mouse_drag(self, args: dict[str, Any]) -> list[CUAAction]:
        button, says = args.get("button", "left"), self.says
        path = [self._place(point) for point in args["path"]]
        whole = says.drag == "path" or (says.drag == "ends" and len(path) == 2)
        if whole and button in says.drag_buttons:
            return [CUAAction("mouse.drag", {**args, "path": [list(point) for point in path]})]
        if button not in says.down:
            what = f"a drag with the {button} button" if whole else "a drag along a path"
            self._cannot(what, "button" if whole else "path")
        held = {"button": button} if button != "left" else {}
        moves = [CUAAction("mouse.move", {"x": x, "y": y}) for x, y in path[1:-1]]
        begin, end = ({"x": point[0], "y": point[1]} for point in (path[0], path[-1]))
        parts = [*self.say("mouse.down", begin | held), *moves, *self.say("mouse.up", end | held)]
        return self._held(args["modifiers"], parts, "modifiers") if args.get("modifiers") else parts

    def _mouse_scroll(self, args: dict[str, Any]) -> list[CUAAction]:
        says = self.says
        ways = {axis: int(args.pop(axis, 0)) for axis in ("dy", "dx")}
        if ways["dx"] and says.scroll == "up and down":
            self._cannot("scrolling sideways", "dx")
        before, args = self._pointed(args, says.scroll_point, "mouse.scroll")
        if says.scroll == "both axes" and max(map(abs, ways.values())) <= says.notches[1] and says.notches[0] == 1:
            return [*before, CUAAction("mouse.scroll", args | {axis: way for axis, way in ways.items() if way})]
        return before + [
            CUAAction("mouse.scroll", args | {axis: part}) for axis, way in ways.items() for part in self._parts(way)
        ]

    def _parts(self, way: int) -> list[int]:
        """One amount as the amounts of one or more scrolls."""
        least, most = self.says.notches
        if way % least:
            near = max(least, round(abs(way) / least) * least) * (1 if way > 0 else -1)
            self._lose("dy", f"{way} notches become {near}: one scroll is {least}")
            way = near
        sign = 1 if way > 0 else -1
        return [sign * min(most, abs(way) - done) for done in range(0, abs(way), most)]

    def _mouse_down(self, args: dict[str, Any]) -> list[CUAAction]:
        return self._pressed("mouse.down", args)

    def _mouse_up(self, args: dict[str, Any]) -> list[CUAAction]:
        return self._pressed("mouse.up", args)

    def _pressed(self, kind: str, args: dict[str, Any]) -> list[CUAAction]:
        if args.get("button", "left") not in self.says.down:
            self._cannot(f"{kind} of the {args.get('button', 'left')} button", "button")
        before, args = self._pointed(args, self.says.down_point, kind)
        return [*before, CUAAction(kind, args)]

    # the keyboard

    def _keyboard_type(self, args: dict[str, Any]) -> list[CUAAction]:
        for part in self.says.forbidden:
            if part in args["text"]:
                self._cannot(f"text that holds {part!r}", "text")
        return [CUAAction("keyboard.type", args)]

    def _keyboard_press(self, args: dict[str, Any]) -> list[CUAAction]:
        keys = [self._key(key) for key in args["keys"]]
        # a key cannot be pressed together with itself, and where naming it again presses it again, once is what is meant
        return [CUAAction("keyboard.press", {"keys": list(dict.fromkeys(keys)) if self.says.key_again else keys})]

    def _keyboard_hold(self, args: dict[str, Any]) -> list[CUAAction]:
        keys = [self._key(key) for key in args["keys"]]
        if self.says.hold:
            return [CUAAction("keyboard.hold", {"keys": keys, "seconds": args["seconds"]})]
        return self._held(keys, self._wait({"seconds": args["seconds"]}), "seconds")

    def _keyboard_down(self, args: dict[str, Any]) -> list[CUAAction]:
        return self._held_key("keyboard.down", args)

    def _keyboard_up(self, args: dict[str, Any]) -> list[CUAAction]:
        return self._held_key("keyboard.up", args)

    def _held_key(self, kind: str, args: dict[str, Any]) -> list[CUAAction]:
        if not self.says.held_keys:
            self._cannot(f"{kind} of one key", "key")
        return [CUAAction(kind, {"key": self._key(args["key"])})]

    def _held(self, keys: Sequence[str], parts: list[CUAAction], field: str) -> list[CUAAction]:
        if not self.says.held_keys:
            self._cannot("keys held down meanwhile", field)
        keys = [self._key(key) for key in keys]
        return [
            *(CUAAction("keyboard.down", {"key": key}) for key in keys),
            *parts,
            *(CUAAction("keyboard.up", {"key": key}) for key in reversed(keys)),
        ]

    def _key(self, key: str) -> str:
        key = canonical_key(key)
        said = canonical_key(self.says.keys.say(key))
        if said != key:
            self._lose("keys", f"{key} is said as {said}")
        return said

    # the rest

    def _wait(self, args: dict[str, Any]) -> list[CUAAction]:
        seconds, says = args["seconds"], self.says.wait
        if seconds == 0 and self.says.look:
            return [CUAAction("wait", {"seconds": 0})]
        if says is None:
            self._cannot("a wait", "seconds")
        if says == "seconds":
            return [CUAAction("wait", args)]
        # at least one: a wait for no time would be another action
        if says == "whole seconds":
            one, times = max(1, round(seconds)), 1
        else:
            one, times = says, min(_MOST_WAITS, max(1, round(seconds / says)))
        if one * times != seconds:
            self._lose("seconds", f"a wait of {seconds:g} s becomes one of {one * times:g} s")
        return [CUAAction("wait", {"seconds": one})] * times

    def _finish(self, args: dict[str, Any]) -> list[CUAAction]:
        status, known = args["status"], self.says.statuses
        if status not in known:
            other = _SUBSTITUTE.get(status, "")
            if other not in known:
                self._cannot(f"an end with status {status}", "status")
            self._lose("status", f"{status} is said as {other}")
            status = other
        answer = args.get("answer")
        if answer and not known[status]:
            self._lose("answer", f"no words for an answer with status {status}")
            answer = None
        if answer:
            self._keyboard_type({"text": answer})
        return [CUAAction("finish", {"status": status, **({"answer": answer} if answer else {})})]

    def _shell_exec(self, args: dict[str, Any]) -> list[CUAAction]:
        if not self.says.shell:
            self._cannot("a command for the shell", "command")
        for value in (args["command"], args.get("cwd", "")):
            self._keyboard_type({"text": value})
        return [CUAAction("shell.exec", args)]

    def _tool_call(self, args: dict[str, Any]) -> list[CUAAction]:
        if not self.says.tool:
            self._cannot("a call of a tool", "name")
        self._keyboard_type({"text": args["name"]})
        return [CUAAction("tool.call", {"arguments": {}, **args})]

    def _pointed(self, args: dict[str, Any], where: Where, kind: str) -> tuple[list[CUAAction], dict[str, Any]]:
        """Moves that must go before, and the arguments with the point as far as the dialect takes one."""
        if "x" in args:
            args = self._placed(args)
            if where != "none":
                return [], args
            point = {"x": args.pop("x"), "y": args.pop("y")}
            return [CUAAction("mouse.move", point)], args
        if where != "required":
            return [], args
        if self.screen.cursor is None:
            self._cannot(f"{kind} at the pointer, whose place is not known", "x")
        return [], self._placed({"x": self.screen.cursor[0], "y": self.screen.cursor[1], **args})

    def _placed(self, args: dict[str, Any]) -> dict[str, Any]:
        x, y = self._place((args["x"], args["y"]))
        return {**args, "x": x, "y": y}

    def _place(self, point: Any) -> Point:
        return self.space.read(*self.space.write((point[0], point[1]), self.screen), self.screen)

    def _lose(self, field: str, what: str) -> None:
        self.losses.append(Loss(field, what))

    def _cannot(self, what: str, field: str) -> NoReturn:
        raise Inexpressible(f"has no words for {what}", dialect=self.name, field=field)
