"""Reasoning about conditions without a desktop: what follows from what, what excludes what, what an effect ends.

`implies` and `conflicts_with` are sound, not complete: True is a proof, False means "cannot be shown". Filling in
parameters lives in `cuamaster.records.filling`, words in `cuamaster.records.wording`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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

_COMPOUND = frozenset({All, AnyOf, Not})
"""Compared by type: pydantic's own isinstance is a slow Python call, and a composer asks a million times."""


def leaves(condition: Condition) -> Iterator[Condition]:
    """Every condition without parts, negated ones included, in order."""
    parts = condition.parts()
    if not isinstance(condition, (All, AnyOf, Not)):
        yield condition
    for part in parts:
        yield from leaves(part)


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The parts that must all hold: nested `all` is flattened, negations are pushed inwards, repeats are dropped."""
    normal = normal_form(condition)
    if isinstance(normal, All):
        return tuple(dict.fromkeys(item for part in normal.of for item in conjuncts(part)))
    return (normal,)


def normal_form(condition: Condition) -> Condition:
    """The same condition with `not` only in front of leaves (or of an empty `all`, which is how "never" is written)."""
    if type(condition) not in _COMPOUND:
        return condition
    if isinstance(condition, All):
        return All(of=tuple(normal_form(part) for part in condition.of))
    if isinstance(condition, AnyOf):
        return AnyOf(of=tuple(normal_form(part) for part in condition.of))
    if not isinstance(condition, Not):
        return condition
    inner = condition.of
    if isinstance(inner, Not):
        return normal_form(inner.of)
    if isinstance(inner, AnyOf):
        return All(of=tuple(normal_form(Not(of=part)) for part in inner.of))
    if isinstance(inner, All) and inner.of:
        return AnyOf(of=tuple(normal_form(Not(of=part)) for part in inner.of))
    return condition


def conjoin(conditions: Iterable[Condition]) -> Condition:
    """One condition that holds exactly when all of them do; a single one stays itself."""
    parts = tuple(dict.fromkeys(item for condition in conditions for item in conjuncts(condition)))
    return parts[0] if len(parts) == 1 else All(of=parts)


def same_text(left: str, right: str) -> bool:
    """Equality of file texts: one final newline does not count, nor does the kind of line end."""
    return plain_text(left) == plain_text(right)


def plain_text(text: str) -> str:
    """Text with \\n line ends and without its final newline."""
    return text.replace("\r\n", "\n").removesuffix("\n")


def matches(text: str, expected: str, match: str) -> bool:
    """Whether observed text meets an `equals`, `contains` or `regex` expectation; raises re.error for a bad pattern."""
    if match == "equals":
        return same_text(text, expected)
    if match == "contains":
        return expected in text.replace("\r\n", "\n")
    return re.search(expected, text, re.MULTILINE) is not None


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


def _present(fact: Condition) -> tuple[str, str] | None:
    """(path, type) of the file that must be there for a leaf to hold."""
    kind = type(fact)
    if kind is FileExists:
        return fact.path.rstrip("/"), fact.type  # type: ignore[union-attr]
    if kind in _IN_A_FILE:
        return fact.path.rstrip("/"), "file"  # type: ignore[union-attr]
    return None


def _exists_follows(a: Condition, b: FileExists) -> bool:
    there = _present(a)
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


def same_json(left: str, right: str) -> bool:
    """Whether two JSON texts are the same value (14 is 14.0, but true is not 1); one that is no JSON equals only itself."""
    try:
        return _canonical(left) == _canonical(right)
    except (ValueError, RecursionError):
        return left == right


def _canonical(text: str) -> str:
    # whole numbers lose their fraction; compared as text, so that no truth value equals a number
    return json.dumps(json.loads(text, parse_float=_number), sort_keys=True)


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value


def same_variant(left: str, right: str) -> bool:
    """Whether two GVariant texts are the same value: a type prefix such as `uint32` and the kind of quote do not count."""
    return _variant(left) == _variant(right)


def _variant(text: str) -> str:
    bare = re.sub(r"^(?:byte|u?int(?:16|32|64)|double|handle|@\S+)\s+", "", text.strip())
    if len(bare) > 1 and bare[0] == bare[-1] == '"' and "'" not in bare:
        bare = f"'{bare[1:-1]}'"
    return bare


def implies(a: Condition, b: Condition) -> bool:
    """Whether b must hold wherever a holds (sound, not complete)."""
    return _implies(normal_form(a), normal_form(b))


def _implies(a: Condition, b: Condition) -> bool:
    if a is b:
        return True
    if type(a) not in _COMPOUND and type(b) not in _COMPOUND:
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
    one, two = _present(a), _present(b)
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
    if type(a) not in _COMPOUND and type(b) not in _COMPOUND:
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


# --- what an effect ends -----------------------------------------------------------------------------------------


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
    there = _present(effect.of if isinstance(effect, Not) else effect)
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
