"""Reasoning about conditions without a desktop: what follows from what, and what excludes what.

`implies` and `conflicts_with` are sound, not complete: True is a proof, False means "cannot be shown". Filling in
parameters lives in `cuamaster.records.filling`, words in `cuamaster.records.wording`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any

from cuamaster.records.cells import tables_clash
from cuamaster.records.condition import (
    All,
    AnyOf,
    AppRunning,
    ClipboardText,
    CommandOutput,
    Condition,
    DocumentCell,
    DocumentSheets,
    DocumentTable,
    EpisodeFinish,
    FileExists,
    FileJson,
    FileTable,
    FileText,
    ImageSize,
    Not,
    ScreenText,
    SettingValue,
    WindowTitle,
)
from cuamaster.records.parts import COMPOUND, normal_form
from cuamaster.records.values import plain_text, same_json, same_text, same_variant

# --- what follows from a leaf ------------------------------------------------------------------------------------


def _text_follows(a: FileText | CommandOutput, b: FileText | CommandOutput) -> bool:
    if a.match == "equals":
        if b.match == "equals":
            return same_text(a.text, b.text)
        if b.match == "contains":
            return b.text in plain_text(a.text)
        return False  # a final newline may or may not be there, so a pattern is not provable
    return a.match == b.match and (a.text == b.text or (a.match == "contains" and b.text in a.text))


def _inside(path: str, folder: str) -> bool:
    return path.rstrip("/").startswith(folder.rstrip("/") + "/")


_IN_A_FILE = frozenset({FileText, FileTable, FileJson, DocumentCell, DocumentTable, DocumentSheets, ImageSize})


def present(fact: Condition) -> tuple[str, str] | None:
    """(path, type) of the file that must be there for a leaf to hold."""
    kind = type(fact)
    if kind is FileExists:
        return fact.path.rstrip("/"), fact.type  # type: ignore[union-attr]
    if kind in _IN_A_FILE:
        return fact.path.rstrip("/"), "file"  # type: ignore[union-attr]
    return None


def _exists_follows(a: Condition, b: FileExists) -> bool:
    there = present(a)
    if there is None:
        return False
    path, kind = there
    wanted = b.path.rstrip("/")
    if path == wanted:
        return b.type in ("any", kind)
    return _inside(path, wanted) and b.type in ("any", "dir")


def _window(fact: Condition) -> WindowTitle | None:
    """The window that must be there for a leaf to hold: a text of an application is read inside its window while it has the focus."""
    if isinstance(fact, ScreenText) and fact.app:
        return WindowTitle(app=fact.app, active=True)
    return fact if isinstance(fact, WindowTitle) else None


def _window_follows(a: WindowTitle, b: WindowTitle) -> bool:
    return b.title in a.title and b.app in ("", a.app) and (a.active or not b.active)


_FOLLOWS: Mapping[type, Callable[[Any, Any], bool]] = {
    WindowTitle: _window_follows,
    FileText: lambda a, b: a.path == b.path and _text_follows(a, b),
    CommandOutput: lambda a, b: a.command == b.command and _text_follows(a, b),
    ScreenText: lambda a, b: _whole_words(b.text, a.text) and b.app in ("", a.app),
    # no sheet named: the first one that has the cell
    DocumentCell: lambda a, b: a.model_copy(update={"sheet": ""}) == b,
    DocumentTable: lambda a, b: a.whole and a.model_copy(update={"whole": False}) == b,
    SettingValue: lambda a, b: (a.schema_id, a.key) == (b.schema_id, b.key) and same_variant(a.value, b.value),
}
"""Per kind: when one leaf follows from another of its kind, beside being equal."""


def _leaf_follows(a: Condition, b: Condition) -> bool:
    kind = type(b)
    if kind is FileExists:
        return _exists_follows(a, b)  # type: ignore[arg-type]
    if type(a) is kind:
        return a == b or (kind in _FOLLOWS and _FOLLOWS[kind](a, b))
    window = _window(a)
    if window is None:
        return False
    if isinstance(b, WindowTitle):
        return _window_follows(window, b)
    return isinstance(b, AppRunning) and bool(window.app) and window.app == b.app


def _whole_words(part: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def implies(a: Condition, b: Condition) -> bool:
    """Whether b must hold wherever a holds (sound, not complete)."""
    return _implies(normal_form(a), normal_form(b))


def _implies(a: Condition, b: Condition) -> bool:
    if a is b:
        return True
    if type(a) not in COMPOUND and type(b) not in COMPOUND:
        return _leaf_follows(a, b)
    if _never(a):
        return True
    if isinstance(b, All):
        return all(_implies(a, part) for part in b.of)
    if isinstance(a, AnyOf):
        return all(_implies(part, b) for part in a.of)
    if isinstance(b, AnyOf) and any(_implies(a, part) for part in b.of):
        return True
    if isinstance(a, All):
        return any(_implies(part, b) for part in a.of)
    if isinstance(a, Not):
        return isinstance(b, Not) and not _never(b) and _leaf_follows(b.of, a.of)
    if isinstance(b, Not):
        return not _never(b) and _leaves_clash(a, b.of)
    return False  # a leaf, and alternatives none of which follows


def _never(condition: Condition) -> bool:
    return isinstance(condition, Not) and isinstance(condition.of, All)


# --- what cannot hold together -----------------------------------------------------------------------------------


def _files_clash(a: Condition, b: Condition) -> bool:
    one, two = present(a), present(b)
    if one is None or two is None:
        return False
    if one[0] == two[0]:
        return {one[1], two[1]} == {"file", "dir"}
    return (one[1] == "file" and _inside(two[0], one[0])) or (two[1] == "file" and _inside(one[0], two[0]))


def _texts_clash(a: FileText | CommandOutput, b: FileText | CommandOutput) -> bool:
    if a.match == b.match == "equals":
        return not same_text(a.text, b.text)
    for whole, part in ((a, b), (b, a)):
        if whole.match == "equals" and part.match == "contains":
            return part.text not in plain_text(whole.text) + "\n"
    return False


def _windows_clash(a: WindowTitle, b: WindowTitle) -> bool:
    return a.active and b.active and bool(a.app) and bool(b.app) and a.app != b.app


_SAME_SUBJECT: Mapping[type, tuple[Callable[[Any], Any], Callable[[Any, Any], bool]]] = {
    FileText: (lambda c: c.path, _texts_clash),
    CommandOutput: (lambda c: c.command, _texts_clash),
    FileTable: (lambda c: (c.path, c.row, c.column), lambda a, b: a.value != b.value),
    FileJson: (lambda c: (c.path, c.keys), lambda a, b: not same_json(a.value, b.value)),
    DocumentCell: (lambda c: (c.path, c.cell, c.sheet), lambda a, b: a.value != b.value),
    DocumentTable: (lambda c: c.model_dump(exclude={"rows", "whole"}), tables_clash),
    DocumentSheets: (lambda c: c.path, lambda a, b: a.names != b.names),
    EpisodeFinish: (lambda _: None, lambda a, b: a.status != b.status),
    SettingValue: (lambda c: (c.schema_id, c.key), lambda a, b: not same_variant(a.value, b.value)),
    ClipboardText: (lambda _: None, lambda a, b: a.text != b.text),
    ImageSize: (lambda c: c.path, lambda a, b: (a.width, a.height) != (b.width, b.height)),
}
"""Per kind: what two conditions must share to be about the same thing, and when they then exclude each other."""


def _leaves_clash(a: Condition, b: Condition) -> bool:
    rule = _SAME_SUBJECT.get(type(a)) if type(a) is type(b) else None
    if rule is not None and rule[0](a) == rule[0](b) and rule[1](a, b):
        return True
    one, two = _window(a), _window(b)
    return _files_clash(a, b) or (one is not None and two is not None and _windows_clash(one, two))


def conflicts_with(a: Condition, b: Condition) -> bool:
    """Whether a and b cannot hold at the same moment (sound, not complete; symmetric)."""
    return _conflict(normal_form(a), normal_form(b))


def _conflict(a: Condition, b: Condition) -> bool:
    if type(a) not in COMPOUND and type(b) not in COMPOUND:
        return _leaves_clash(a, b)
    if _never(a) or _never(b):
        return True
    if isinstance(a, AnyOf):
        return all(_conflict(part, b) for part in a.of)
    if isinstance(b, AnyOf):
        return all(_conflict(a, part) for part in b.of)
    if isinstance(a, All) or isinstance(b, All):
        parts_of_a = a.of if isinstance(a, All) else ()
        parts_of_b = b.of if isinstance(b, All) else ()
        return any(_conflict(part, b) for part in parts_of_a) or any(_conflict(a, part) for part in parts_of_b)
    if isinstance(a, Not):
        return not isinstance(b, Not) and _leaf_follows(b, a.of)
    if isinstance(b, Not):
        return _leaf_follows(a, b.of)
    return _leaves_clash(a, b)


def consistent(conditions: Iterable[Condition]) -> bool:
    """Whether no two of the conditions are known to exclude each other."""
    return not any(conflicts_with(a, b) for a, b in combinations(tuple(conditions), 2))
