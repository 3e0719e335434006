"""The state a mined task begins in, as far as its words and the tasks before tell: conditions, and whether it goes on from the one before."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuamaster.records.condition import AppRunning, Condition, Not, WindowTitle
from cuamaster.records.lexicon import word_set
from cuamaster.records.speech import Operation, clean
from cuamaster.records.spoken import typed_text
from cuamaster.records.taxonomy import App
from cuamaster.records.video import TaskSegment

_STARTING = word_set("open launch start run öffne öffnen starte starten abre abrimos inicia 打开 启动")
_SAVED = re.compile(r'save it as "([^"]+)"')


def start_state(
    operations: Sequence[Operation], app: App | str, before: TaskSegment | None, language: str
) -> tuple[tuple[Condition, ...], bool]:
    """(conditions, continues) of a task in `app` (an id where the taxonomy has none; '' tells nothing).

    An application that the first operations start is not there yet. One in which the task before was done is as that left it, and its
    window has the name under which something was saved there.
    """
    app_id = app.id if isinstance(app, App) else app
    if not app_id:
        return (), False
    if _starts(operations, app, language):
        before_it = (AppRunning(app=before.app),) if before is not None and before.app not in ("", app_id) else ()
        return (*before_it, Not(of=AppRunning(app=app_id))), False
    continues = before is not None and before.app == app_id
    saved = _SAVED.findall(before.instruction) if before is not None and continues else []
    window: tuple[Condition, ...] = (WindowTitle(title=saved[-1], app=app_id, active=True),) if saved else ()
    return (AppRunning(app=app_id), *window), continues


def _starts(operations: Sequence[Operation], app: App | str, language: str) -> bool:
    """The first operation but one or two starts the application: its command is typed, or it is opened by name."""
    names = {name.lower() for name in (*app.names, app.id, app.command or app.id)} if isinstance(app, App) else {app}
    for item in operations[:2]:
        typed = (typed_text(item.clause.text, language) or "").lower().split() if item.kind == "type" else []
        if typed and typed[0] in names:
            return True
        said = item.clause.text.lower()
        verb = clean(item.clause.words[item.position].text)
        if verb in _STARTING and any(re.search(rf"\b{re.escape(name)}\W*$", said) for name in names):
            return True
    return False
