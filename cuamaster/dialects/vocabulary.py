"""What a dialect has words for, as data: the lowering and the table in docs/actions.md read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cuamaster.action_space import FINISH_STATUSES, MAX_SCROLL_NOTCHES
from cuamaster.dialects.key_names import CANONICAL, KeyNames

Where = Literal["none", "optional", "required"]
LEFT_AND_SINGLES = frozenset({("left", 1), ("left", 2), ("left", 3), ("right", 1), ("middle", 1)})


@dataclass(frozen=True)
class Vocabulary:
    """One dialect's words. The defaults say nothing but clicks of three buttons, moves, text and hot keys."""

    clicks: frozenset[tuple[str, int]] = LEFT_AND_SINGLES
    modifiers: frozenset[str] = frozenset()
    """Action types that carry modifier keys themselves."""
    relative: bool = False
    """Moves by an offset."""
    drag: Literal["ends", "path", "none"] = "ends"
    drag_buttons: frozenset[str] = frozenset({"left"})
    scroll: Literal["up and down", "one axis", "both axes"] = "one axis"
    scroll_point: Where = "optional"
    notches: tuple[int, int] = (1, MAX_SCROLL_NOTCHES)
    """The fewest notches of one scroll, all amounts being multiples of it, and the most."""
    down: frozenset[str] = frozenset()
    """Buttons that can be pressed and released apart."""
    down_point: Where = "none"
    hold: bool = False
    """Keys held for a time in one action."""
    held_keys: bool = False
    """Keys pressed and released apart."""
    key_again: bool = False
    """The last key of a chord, named again, is pressed again."""
    keys: KeyNames = CANONICAL
    wait: Literal["seconds", "whole seconds"] | float | None = "seconds"
    """A number: every wait lasts that long."""
    look: bool = False
    """A screenshot can be asked for: a wait of no time."""
    statuses: Mapping[str, bool] = field(default_factory=lambda: {"success": False, "failure": False})
    """How an episode can end, and whether an answer can be given with it."""
    shell: bool = False
    tool: bool = False
    forbidden: tuple[str, ...] = ()
    """Strings that typed text cannot hold, because the syntax has no way to write them."""


ALL_STATUSES: Mapping[str, bool] = dict.fromkeys(FINISH_STATUSES, True)
EVERY_BUTTON = frozenset({"left", "right", "middle"})
EVERY_CLICK = frozenset((button, count) for button in EVERY_BUTTON for count in (1, 2, 3))
