"""What an effect ends: which facts, true before, can no longer be relied on, and what is left of them."""

from __future__ import annotations

import re

from cuamaster.records.condition import (
    CommandOutput,
    Condition,
    DocumentTable,
    FileJson,
    FileTable,
    FileText,
    Not,
    ScreenText,
    WindowTitle,
)
from cuamaster.records.parts import conjuncts
from cuamaster.records.reasoning import conflicts_with, implies, present


def _ends(effect: Condition, fact: Condition) -> bool:
    if isinstance(effect, WindowTitle) and effect.active:
        if isinstance(
            fact, WindowTitle
        ):  # only one window has the focus, and one application's title follows its document
            return fact.active or (bool(effect.app) and effect.app == fact.app)
        return isinstance(fact, ScreenText) and bool(fact.app)  # another window or document is looked at now
    if isinstance(effect, ScreenText):
        return isinstance(fact, ScreenText) and effect.app == fact.app
    if isinstance(effect, Not) and isinstance(
        effect.of, WindowTitle
    ):  # the text may have been in the window that was closed
        return isinstance(fact, ScreenText) and (not fact.app or effect.of.app in ("", fact.app))
    if isinstance(effect, FileText):
        return isinstance(fact, (FileText, FileTable, FileJson, DocumentTable)) and effect.path == fact.path
    return False


def _touches(effect: Condition, fact: Condition) -> bool:
    """Whether a file that a command names came, went or changed: what the command then prints is unknown."""
    if not isinstance(fact, CommandOutput):
        return False
    there = present(effect.of if isinstance(effect, Not) else effect)
    name = there[0].rsplit("/", 1)[-1] if there is not None else ""
    return bool(name) and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", fact.command) is not None


def overwrites(effect: Condition, fact: Condition) -> bool:
    """Whether after `effect` came true, `fact` (true before) can no longer be relied on."""
    target = fact.of if isinstance(fact, Not) else fact
    for part in conjuncts(effect):
        if implies(part, fact):
            continue
        if conflicts_with(part, fact) or (target is fact and _ends(part, fact)) or _touches(part, target):
            return True
    return False


def rest_of(fact: Condition, effect: Condition) -> Condition | None:
    """What is left of a fact that `effect` overwrites: a window that lost the focus to another application is still there."""
    if isinstance(fact, WindowTitle) and fact.active:
        for part in conjuncts(effect):
            if isinstance(part, WindowTitle) and part.active and part.app and fact.app and part.app != fact.app:
                return fact.model_copy(update={"active": False})
    return None
