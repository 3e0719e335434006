"""Conditions in words: for instructions and reports (`reveal`), or as feedback that keeps the expected values to itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cuamaster.records.condition import All, AnyOf, Condition, Not

_HIDDEN = "the expected"
_ROWS_TOLD = 3


def _quoted(text: str) -> str:
    return f'"{text}"'


def _relation(match: str) -> str:
    return {"equals": "is", "contains": "contains", "regex": "matches"}[match]


def _file_exists(c: Any, reveal: bool) -> str:
    noun = {"file": "file", "dir": "folder", "any": "file or folder"}[c.type]
    return f"there is a {noun} {c.path}" if reveal else f"the {noun} the task asks for is in place"


def _file_text(c: Any, reveal: bool) -> str:
    if reveal:
        return f"the text of {c.path} {_relation(c.match)} {_quoted(c.text)}"
    return "the text of the file the task is about is right"


def _cell(c: Any, reveal: bool) -> str:
    where = c.cell if c.kind == "document.cell" else f"row {c.row}, column {c.column}"
    return f"{where} of {c.path} is {_quoted(c.value)}" if reveal else "the cell the task is about has the right value"


def _json(c: Any, reveal: bool) -> str:
    return (
        f"{'.'.join(c.keys)} in {c.path} is {c.value}"
        if reveal
        else "the setting the task is about has the right value"
    )


def _table(c: Any, reveal: bool) -> str:
    if not reveal:
        return "the table the task is about is right"
    size = f"{len(c.rows)} x {max(map(len, c.rows), default=0)} cells"
    where = f"sheet {_quoted(c.sheet)} of {c.path}" if c.sheet else f"sheet {c.number} of {c.path}"
    block = f"{where} from {c.start} on" if c.start != "A1" else where
    rows = "; ".join(", ".join(row) for row in c.rows[:_ROWS_TOLD]) + ("; ..." if len(c.rows) > _ROWS_TOLD else "")
    return f"{block} holds {'exactly ' if c.whole else ''}the given {size}: {rows}"


def _sheets(c: Any, reveal: bool) -> str:
    return f"the sheets of {c.path} are {', '.join(c.names)}" if reveal else "the document has the right sheets"


def _finish(c: Any, reveal: bool) -> str:
    return f"the task is ended as {c.status}" if reveal else "the task is ended in the right way"


def _running(c: Any, reveal: bool) -> str:
    return f"{c.app} is running" if reveal else "the application the task needs is running"


def _window(c: Any, reveal: bool) -> str:
    if not reveal:
        return "the right window is in front" if c.active else "the window the task needs is open"
    who = f"a window of {c.app}" if c.app else "a window"
    title = f" titled {_quoted(c.title)}" if c.title else ""
    return f"{who}{title} {'is in front' if c.active else 'is open'}"


def _setting(c: Any, reveal: bool) -> str:
    return (
        f"the setting {c.schema_id} {c.key} is {c.value}"
        if reveal
        else "the setting the task is about has the right value"
    )


def _clipboard(c: Any, reveal: bool) -> str:
    return f"the clipboard holds {_quoted(c.text)}" if reveal else "the clipboard holds the right text"


def _command(c: Any, reveal: bool) -> str:
    if reveal:
        return f"the output of `{c.command}` {_relation(c.match)} {_quoted(c.text)}"
    return "a command's output is right"


def _image(c: Any, reveal: bool) -> str:
    return f"the picture {c.path} is {c.width} x {c.height} pixels" if reveal else "the picture has the right size"


def _screen(c: Any, reveal: bool) -> str:
    where = f"in {c.app}" if c.app else "on the screen"
    return f"{_quoted(c.text)} can be read {where}" if reveal else f"{_HIDDEN} text can be read"


_WORDS: Mapping[str, Callable[[Any, bool], str]] = {
    "file.exists": _file_exists,
    "file.text": _file_text,
    "file.table": _cell,
    "file.json": _json,
    "document.cell": _cell,
    "document.table": _table,
    "document.sheets": _sheets,
    "app.running": _running,
    "window.title": _window,
    "setting.value": _setting,
    "clipboard.text": _clipboard,
    "command.output": _command,
    "image.size": _image,
    "screen.text": _screen,
    "episode.finish": _finish,
}


def describe(condition: Condition, *, reveal: bool) -> str:
    """The condition in words. Without `reveal` nothing it names is told: no path, title, text, key or value."""
    if isinstance(condition, Not):
        return f"not ({describe(condition.of, reveal=reveal)})"
    if isinstance(condition, (All, AnyOf)):
        if not condition.of:
            return "nothing is asked"
        word = " and " if isinstance(condition, All) else " or "
        return word.join(dict.fromkeys(describe(part, reveal=reveal) for part in condition.of))
    return _WORDS[condition.kind](condition, reveal)
