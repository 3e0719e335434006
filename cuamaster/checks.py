"""Whether conditions hold on a desktop: one function a kind in a table, three-valued, with what was observed.

An error while looking (no answer, unreadable document, bad pattern) makes a check `None` and a verdict `errored`, unless the
rest of the condition decides it anyway (`any` with one true part, `all` with one false part); it never counts as false.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from cuamaster.errors import CheckFailed, InvalidInput, MissingCapability
from cuamaster.ports import Desktop, ScreenReader
from cuamaster.records.cells import canonical_rows, cell_address
from cuamaster.records.condition import All, AnyOf, Condition, DocumentSheets, DocumentTable, Not
from cuamaster.records.filling import placeholders
from cuamaster.records.parts import leaves
from cuamaster.records.values import matches, same_json, same_variant
from cuamaster.records.verdict import Check, Verdict
from cuamaster.vision.documents import image_size, sheet_cell, sheet_names, table_cell, table_rows
from cuamaster.vision.sight import Sight

_SHOWN = 300


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def _file_exists(c: Any, sight: Sight) -> tuple[bool, str]:
    found = sight.file_type(c.path)
    return found != "absent" and c.type in ("any", found), found


def _file_text(c: Any, sight: Sight) -> tuple[bool, str]:
    data = sight.file(c.path)
    if data is None:
        return False, "no such file"
    text = data.decode("utf-8", errors="replace")
    return matches(text, c.text, c.match), _short(text) or "an empty file"


def _file_table(c: Any, sight: Sight) -> tuple[bool, str]:
    data = sight.file(c.path)
    if data is None:
        return False, "no such file"
    cell = table_cell(data, c.row, c.column, tabs=c.path.lower().endswith((".tsv", ".tab")))
    return cell == c.value, "no such cell" if cell is None else _short(cell)


def _file_json(c: Any, sight: Sight) -> tuple[bool, str]:
    data = sight.file(c.path)
    if data is None:
        return False, "no such file"
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise CheckFailed(f"{c.path} is no JSON: {exc}") from exc
    for key in c.keys:
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return False, f"no {key}"
    found = json.dumps(value, ensure_ascii=False)
    return same_json(found, c.value), _short(found)


def _document_cell(c: Any, sight: Sight) -> tuple[bool, str]:
    data = sight.file(c.path)
    if data is None:
        return False, "no such file"
    cell = sheet_cell(data, c.cell, c.sheet)
    return cell == c.value, "empty or no such cell" if cell is None else _short(cell)


def _document_table(c: DocumentTable, sight: Sight) -> tuple[bool, str]:
    data = sight.file(c.path)
    if data is None:
        return False, "no such file"
    rows = table_rows(data, c.path, c.sheet, c.number)
    if rows is None:
        return False, f"no sheet {c.sheet or c.number}"
    top, left = cell_address(c.start)
    height, width = len(c.rows), max(map(len, c.rows), default=0)
    if not c.whole:  # rows of the block only, each as long as what is expected of it
        block = [row[left - 1 :] for row in rows[top - 1 : top - 1 + height]]
        rows = [row[: len(wanted)] for row, wanted in zip(block, c.rows, strict=False)]
        outside = False
    else:
        outside = any(any(row[: left - 1]) for row in rows) or any(any(row) for row in rows[: top - 1])
        rows = [row[left - 1 :] for row in rows[top - 1 :]]
    found = canonical_rows(rows, c)
    seen = "; ".join(", ".join(row) for row in rows[: height + 1]) or "nothing"
    return not outside and found == canonical_rows(c.rows, c), _short(f"{len(rows)} rows of {width} columns: {seen}")


def _document_sheets(c: Any, sight: Sight) -> tuple[bool, str]:
    data = sight.file(c.path)
    if data is None:
        return False, "no such file"
    names = sheet_names(data)
    return names == c.names, _short(", ".join(names))


def _finish(c: Any, sight: Sight) -> tuple[bool, str]:
    return sight.ended == c.status, sight.ended or "not ended"


def _app_running(c: Any, sight: Sight) -> tuple[bool, str]:
    # A program may run under another name, and one program may be several applications.
    running = c.app in sight.processes() or any(window.app == c.app for window in sight.state().windows)
    return running, "running" if running else "not running"


def _window_title(c: Any, sight: Sight) -> tuple[bool, str]:
    state = sight.state()
    windows = [state.active] if c.active else [*state.windows, state.active]
    seen = [window for window in windows if window is not None]
    titles = " | ".join(dict.fromkeys(f"{window.app}: {window.title}" for window in seen))
    return any(c.title in w.title and c.app in ("", w.app) for w in seen), _short(titles or "no window")


def _setting(c: Any, sight: Sight) -> tuple[bool, str]:
    value = sight.setting(c.schema_id, c.key)
    return same_variant(value, c.value), value


def _clipboard(c: Any, sight: Sight) -> tuple[bool, str]:
    text = sight.clipboard()
    return text == c.text, _short(text) or "empty"


def _command(c: Any, sight: Sight) -> tuple[bool, str]:
    result = sight.shell(c.command)
    if result.exit_code is None:
        raise CheckFailed(f"the check command did not end in time: {c.command}")
    seen = result.stdout if result.exit_code == 0 else f"exit {result.exit_code}: {result.stderr}"
    return result.exit_code == 0 and matches(result.stdout, c.text, c.match), _short(seen) or "no output"


def _image_size(c: Any, sight: Sight) -> tuple[bool, str]:
    data = sight.file(c.path)
    if data is None:
        return False, "no such file"
    width, height = image_size(data)
    return (width, height) == (c.width, c.height), f"{width} x {height}"


def _screen_text(c: Any, sight: Sight) -> tuple[bool, str]:
    return sight.reads(c.text, c.app)


_KINDS: Mapping[str, Callable[[Any, Sight], tuple[bool, str]]] = {
    "file.exists": _file_exists,
    "file.text": _file_text,
    "file.table": _file_table,
    "file.json": _file_json,
    "document.cell": _document_cell,
    "document.table": _document_table,
    "document.sheets": _document_sheets,
    "app.running": _app_running,
    "window.title": _window_title,
    "setting.value": _setting,
    "clipboard.text": _clipboard,
    "command.output": _command,
    "image.size": _image_size,
    "screen.text": _screen_text,
    "episode.finish": _finish,
}


def _look(leaf: Condition, sight: Sight) -> Check:
    unfilled = placeholders(leaf)
    if unfilled:
        raise InvalidInput(
            f"{leaf.kind} still holds parameters: {', '.join(sorted(unfilled))}", hint="substitute first"
        )
    try:
        holds, observed = _KINDS[leaf.kind](leaf, sight)
    except (CheckFailed, MissingCapability, re.error) as exc:
        return Check(condition=leaf, holds=None, observed=str(exc))
    return Check(condition=leaf, holds=holds, observed=observed)


def _decide(condition: Condition, found: Mapping[Condition, Check]) -> bool | None:
    if isinstance(condition, Not):
        inner = _decide(condition.of, found)
        return None if inner is None else not inner
    if isinstance(condition, (All, AnyOf)):
        values = [_decide(part, found) for part in condition.of]
        decisive = isinstance(condition, AnyOf)
        if decisive in values:
            return decisive
        return None if None in values else not decisive
    return found[condition].holds


def _look_at_all(
    condition: Condition, desktop: Desktop, reader: ScreenReader, ended: str = ""
) -> dict[Condition, Check]:
    wanted = tuple(dict.fromkeys(leaves(condition)))
    sight = Sight(desktop, reader, wanted, ended)
    return {leaf: _look(leaf, sight) for leaf in wanted}


def holds(condition: Condition, desktop: Desktop, reader: ScreenReader) -> Check:
    """One condition, with parts or without, as found now. Raises DesktopFault when the desktop itself fails (GuestDied, ...)."""
    found = _look_at_all(condition, desktop, reader)
    if condition in found:
        return found[condition]
    return Check(
        condition=condition, holds=_decide(condition, found), observed="; ".join(c.observed for c in found.values())
    )


def verify(condition: Condition, desktop: Desktop, reader: ScreenReader, *, ended: str = "") -> Verdict:
    """passed | failed | errored, with a check per leaf; `ended`: the status with which the policy finished, '' if it did not.

    Raises DesktopFault when the desktop itself fails.
    """
    found = _look_at_all(condition, desktop, reader, ended)
    decided = _decide(condition, found)
    checks = tuple(found.values())
    if decided is None:
        return Verdict(
            status="errored", checks=checks, message="; ".join(c.observed for c in checks if c.holds is None)
        )
    return Verdict(status="passed" if decided else "failed", checks=checks)


def unmet(conditions: tuple[Condition, ...], desktop: Desktop, reader: ScreenReader) -> tuple[Check, ...]:
    """Of several conditions those that do not hold or cannot be evaluated, looked at together."""
    if not conditions:
        return ()
    found = _look_at_all(All(of=conditions), desktop, reader)
    checks = [Check(condition=c, holds=_decide(c, found), observed=_seen(c, found)) for c in conditions]
    return tuple(check for check in checks if check.holds is not True)


def _seen(condition: Condition, found: Mapping[Condition, Check]) -> str:
    return "; ".join(found[leaf].observed for leaf in leaves(condition))


def table_like(example: bytes, path: str, *, sheet: str = "", number: int = 1, **options: Any) -> DocumentTable | None:
    """The condition that `path` holds what a sheet of the `example` document holds; None if the example has no such sheet.

    `options` are fields of DocumentTable. What is expected is read just as what is found will be. Raises CheckFailed.
    """
    rows = table_rows(example, path, sheet, number)
    return None if rows is None else DocumentTable(path=path, rows=tuple(map(tuple, rows)), **options)


def sheets_like(example: bytes, path: str) -> DocumentSheets:
    """The condition that `path` has the sheets that the `example` document has. Raises CheckFailed."""
    return DocumentSheets(path=path, names=sheet_names(example))
