"""What every dialect can and cannot express, as Markdown tables that are worked out by asking the dialects themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from cuamaster.action_space import CUAAction
from cuamaster.dialects.coordinates import Screen, Space
from cuamaster.dialects.dialect import Dialect
from cuamaster.dialects.registry import DIALECTS
from cuamaster.errors import Inexpressible

Way = Literal["exact", "spelled out", "with a loss", "not at all"]
_SIGNS: dict[Way, str] = {"exact": "●", "spelled out": "○", "with a loss": "◐", "not at all": "·"}
_SCREEN = Screen(1920, 1080)
_AT = {"x": 500, "y": 500}


def _one(kind: str, **args: Any) -> CUAAction:
    return CUAAction(kind, args)


FEATURES: dict[str, CUAAction] = {
    "left click": _one("mouse.click", **_AT),
    "double click": _one("mouse.click", **_AT, count=2),
    "triple click": _one("mouse.click", **_AT, count=3),
    "right click": _one("mouse.click", **_AT, button="right"),
    "middle click": _one("mouse.click", **_AT, button="middle"),
    "back and forward buttons": _one("mouse.click", **_AT, button="back"),
    "right button twice": _one("mouse.click", **_AT, button="right", count=2),
    "click with a modifier": _one("mouse.click", **_AT, modifiers=["ctrl"]),
    "move": _one("mouse.move", **_AT),
    "move by an offset": _one("mouse.move_relative", dx=10, dy=10),
    "drag between two points": _one("mouse.drag", path=[[100, 100], [500, 500]]),
    "drag along a path": _one("mouse.drag", path=[[100, 100], [300, 500], [500, 500]]),
    "drag with the right button": _one("mouse.drag", path=[[100, 100], [500, 500]], button="right"),
    "drag with a modifier": _one("mouse.drag", path=[[100, 100], [500, 500]], modifiers=["ctrl"]),
    "scroll at a point": _one("mouse.scroll", **_AT, dy=3),
    "scroll at the pointer": _one("mouse.scroll", dy=3),
    "scroll sideways": _one("mouse.scroll", **_AT, dx=3),
    "scroll with a modifier": _one("mouse.scroll", **_AT, dy=3, modifiers=["ctrl"]),
    "press a button": _one("mouse.down", **_AT),
    "press the right button": _one("mouse.down", **_AT, button="right"),
    "type text": _one("keyboard.type", text="naïve\n"),
    "press a key": _one("keyboard.press", keys=["enter"]),
    "press a hot key": _one("keyboard.press", keys=["ctrl", "s"]),
    "keypad Enter": _one("keyboard.press", keys=["kpenter"]),
    "hold keys for a time": _one("keyboard.hold", keys=["shift"], seconds=2),
    "press and release keys apart": _one("keyboard.down", key="shift"),
    "wait a given time": _one("wait", seconds=7.5),
    "ask for a look": _one("wait", seconds=0),
    "end: success": _one("finish", status="success"),
    "end: success, with an answer": _one("finish", status="success", answer="42"),
    "end: failure": _one("finish", status="failure"),
    "end: infeasible": _one("finish", status="infeasible"),
    "shell command": _one("shell.exec", command="ls"),
    "tool call": _one("tool.call", name="screen.text"),
}
"""One action for every feature in which dialects differ."""


def way(spoken: Dialect, action: CUAAction) -> tuple[Way, str]:
    """How a dialect says an action, and what is lost or lacking."""
    try:
        said = spoken.express([action], _SCREEN)
    except Inexpressible as exc:
        return "not at all", exc.message.removeprefix(f"{spoken.name} ")
    if said.losses:
        return "with a loss", "; ".join(loss.what for loss in said.losses)
    one = said.actions[0]
    places = {"x", "y", "path", "dx", "dy"} if action.type != "mouse.scroll" else {"x", "y"}
    wanted = {"arguments": {}, **action.args} if action.type == "tool.call" else action.args
    same = (
        len(said.actions) == 1
        and one.type == action.type
        and set(one.args) == set(wanted)
        and all(one.args[name] == value for name, value in wanted.items() if name not in places)
    )
    return ("exact", "") if same else ("spelled out", "")


def spaces_table() -> str:
    """Name, title, coordinates and picture of each dialect, with the number that heads its column in `features_table`."""
    lines = ["| # | name | format | coordinates | picture the model sees | source |", "|---|---|---|---|---|---|"]
    for number, spoken in enumerate(DIALECTS.values(), 1):
        cells = [f"`{spoken.name}`", spoken.title, _coordinates(spoken.space), str(spoken.space.resize), spoken.source]
        lines.append(f"| {number} | {' | '.join(cells)} |")
    return "\n".join(lines)


def features_table() -> str:
    """A row for each feature, a column for each dialect."""
    head = " | ".join(str(number) for number in range(1, len(DIALECTS) + 1))
    lines = [f"| | {head} |", f"|---|{'---|' * len(DIALECTS)}"]
    for name, action in FEATURES.items():
        signs = " | ".join(_SIGNS[way(spoken, action)[0]] for spoken in DIALECTS.values())
        lines.append(f"| {name} | {signs} |")
    return "\n".join(lines)


def losses_list() -> str:
    """For each dialect, what it says with a loss."""
    return "\n".join(f"- `{spoken.name}`: {'; '.join(_losses(spoken)) or 'nothing'}" for spoken in DIALECTS.values())


def legend() -> str:
    """The signs of `features_table`."""
    return ", ".join(f"{sign} {name}" for name, sign in _SIGNS.items())


def _losses(spoken: Dialect) -> Iterator[str]:
    for name, action in FEATURES.items():
        how, what = way(spoken, action)
        if how == "with a loss":
            yield f"{name} ({what})"


def _coordinates(space: Space) -> str:
    match space.unit:
        case "pixels":
            return "integer pixels"
        case "cells":
            return f"integers 0-{space.maximum}: the index of one of {space.maximum + 1} equal parts"
        case "grid":
            return f"integers 0-{space.maximum}, {space.maximum} being the far edge"
        case _:
            return f"decimals 0-1, {space.digits} digits"
