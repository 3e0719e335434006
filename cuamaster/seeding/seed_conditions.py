"""The seed task's start state E and verifier V, as conditions derived from what was done and from the first and last frames.

Rules know what operations on files mean anywhere (save under a name, create a folder, replace and save); where none applies, V is text that
newly stands on the screen at the end. No evidence, no V: the trajectory then stays unproven.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from cuamaster.records.condition import (
    All,
    AppRunning,
    Condition,
    FileExists,
    FileText,
    Not,
    ScreenText,
    WindowTitle,
)
from cuamaster.records.trajectory import Action, TextBox
from cuamaster.records.video import TaskSegment
from cuamaster.seeding.scene import Scene
from cuamaster.vision.labels import label
from cuamaster.vision.reading import skeleton

_PATH = re.compile(r"^[^\w~/]*((?:~|/)[\w./~ -]*)")
_FILE_NAME = re.compile(r"^[^\s/][^/]*\.[A-Za-z0-9]{1,5}$")
_PLAIN_TEXT = frozenset(
    [
        "txt",
        "md",
        "rst",
        "csv",
        "tsv",
        "log",
        "ini",
        "conf",
        "cfg",
        "json",
        "xml",
        "html",
        "css",
        "js",
        "py",
        "sh",
        "c",
        "h",
        "tex",
        "yaml",
        "yml",
        "toml",
    ]
)
_MAX_NEW_TEXTS = 3


def derive(
    actions: Sequence[Action], scene: Scene, segment: TaskSegment, *, final_t: float
) -> tuple[tuple[Condition, ...], Condition | None]:
    """(E, V) of a reconstructed trajectory; V None when nothing lasting was observed."""
    first = scene.reader.read(scene.footage.frame(actions[0].t_start - 0.3))
    last = scene.reader.read(scene.footage.frame(final_t))
    start: list[Condition] = []
    if segment.app:
        start = [AppRunning(app=segment.app), WindowTitle(title=_window(first), app=segment.app, active=True)]
    goal: list[Condition] = []
    for rule in (_saved_as, _replaced, _created, _opened):
        needs, effects = rule(actions, Ends(first, last, segment.app))
        start.extend(needs)
        goal.extend(effects)
    if not goal:
        goal.extend(_new_texts(first, last, actions, partial(_reads_again, scene, final_t)))
    if not goal:
        return tuple(start), None
    return tuple(start), goal[0] if len(goal) == 1 else All(of=tuple(goal))


Found = tuple[list[Condition], list[Condition]]


class Ends(NamedTuple):
    """Text on the first and on the last frame, and the application."""

    first: Sequence[TextBox]
    last: Sequence[TextBox]
    app: str


def _saved_as(actions: Sequence[Action], ends: Ends) -> Found:
    """Save as NAME: the file is there, with the text that was typed before."""
    asked = _index(
        actions,
        lambda a: (
            _clicked(a, "save as")
            or _pressed(a, "ctrl", "shift", "s")
            or _clicked(a, "save")
            or _pressed(a, "ctrl", "s")
        ),
    )
    if asked is None:
        return [], []
    named = next((i for i in range(asked + 1, len(actions)) if _typed(actions[i])), None)
    if named is None or not any(_clicked(a, "save", "ok") or _pressed(a, "enter") for a in actions[named + 1 :]):
        return [], []
    path = _located(_typed(actions[named]), ends.last)
    start: list[Condition] = [Not(of=FileExists(path=path))]
    goal: list[Condition] = [FileExists(path=path, type="file")]
    written = [_typed(action) for action in actions[:asked] if _typed(action)]
    if written and path.rsplit(".", 1)[-1].lower() in _PLAIN_TEXT:
        fresh = any(skeleton("untitled") in skeleton(box.text) for box in ends.first)
        only_typing = all(_typed(a) or a.action.type == "mouse.click" for a in actions[:asked])
        match = "equals" if fresh and only_typing and len(written) == 1 else "contains"
        goal.extend(FileText.model_validate({"path": path, "text": text, "match": match}) for text in written)
    return start, goal


def _replaced(actions: Sequence[Action], ends: Ends) -> Found:
    """Replace OLD with NEW, then save: the open file holds NEW and no longer OLD."""
    done = _index(actions, lambda a: _clicked(a, "replace all", "replace"))
    if done is None:
        return [], []
    texts = [_typed(action) for action in actions[:done] if _typed(action)]
    saved = any(_clicked(a, "save") or _pressed(a, "ctrl", "s") for a in actions[done + 1 :])
    path = _open_file(ends.first)
    if len(texts) < 2 or not saved or path is None:
        return [], []
    old, new = texts[-2], texts[-1]
    # Of the document's text only the word is certain: a reader errs in a whole line now and then.
    start: list[Condition] = [
        FileExists(path=path, type="file"), FileText(path=path, text=old, match="contains"), ScreenText(app=ends.app, text=old)
    ]  # fmt: skip
    goal: list[Condition] = [FileText(path=path, text=new, match="contains")]
    if old not in new:
        goal.append(Not(of=FileText(path=path, text=old, match="contains")))
    return start, goal


def _created(actions: Sequence[Action], ends: Ends) -> Found:
    """Create a folder (or an empty file) NAME: it is there, and was not before."""
    for index, action in enumerate(actions):
        kind = (
            "dir"
            if _clicked(action, "folder", "new folder", "create folder")
            else "file"
            if _clicked(action, "empty file", "blank file")
            else ""
        )
        if not kind:
            continue
        named = next((a for a in actions[index + 1 :] if _typed(a)), None)
        if named is not None:
            name = _typed(named)
            path = name if name.startswith(("/", "~")) else f"{_shown_folder(ends.first) or '~'}/{name}"
            return [Not(of=FileExists(path=path))], [FileExists.model_validate({"path": path, "type": kind})]
    return [], []


def _opened(actions: Sequence[Action], ends: Ends) -> Found:
    """A last double click on X, after which X heads a window: that window is open."""
    action = actions[-1]
    if (
        action.action.type != "mouse.click"
        or action.action.args.get("count", 1) != 2
        or action.target is None
        or not action.target.text
    ):
        return [], []
    name = label(action.target.text)
    before = sum(label(box.text) == name for box in ends.first)
    now = sorted(
        (box for box in ends.last if label(box.text) == name or label(box.text).endswith("/" + name)),
        key=lambda box: box.y0,
    )
    if not now or (before and len(now) <= before):
        return [], []
    return [], [WindowTitle(title=action.target.text, app=ends.app, active=True)]


def _window(first: Sequence[TextBox]) -> str:
    """A part of the first window's title that is sure to come again: its file's name, `Untitled`, a folder's name; else ''."""
    path = _open_file(first)
    if path is not None:
        return path.rsplit("/", 1)[-1]
    if any(skeleton("untitled") in skeleton(box.text) for box in first):
        return "Untitled"
    folder = _shown_folder(first)
    return folder.rsplit("/", 1)[-1] if folder not in (None, "~", "/") else ""


def _new_texts(
    first: Sequence[TextBox], last: Sequence[TextBox], actions: Sequence[Action], sure: Callable[[TextBox], bool]
) -> list[Condition]:
    """Text at the end that was not there at the start, what was typed and long texts first; clocks are no result."""
    before = {skeleton(box.text) for box in first}
    fresh = [
        box
        for box in last
        if skeleton(box.text) not in before
        and box.score >= 0.9
        and not re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", box.text)
    ]
    typed = [text for action in actions if (text := _typed(action))]
    wanted = sorted(fresh, key=lambda box: (not any(skeleton(t) == skeleton(box.text) for t in typed), -len(box.text)))
    texts: list[str] = []
    for box in wanted:
        if len(texts) < _MAX_NEW_TEXTS and len(label(box.text)) >= 2 and box.text not in texts and sure(box):
            texts.append(box.text)
    return [ScreenText(text=text) for text in texts]


def _reads_again(scene: Scene, t: float, box: TextBox) -> bool:
    """A reader that errs seldom errs twice alike: the text alone, cut out of the frame, reads the same."""
    pad = (box.y1 - box.y0) / 2
    area = (int(box.x0 - pad), int(box.y0 - pad), int(box.x1 + pad), int(box.y1 + pad))
    return box.text in {again.text for again in scene.reader.read(scene.footage.frame(t), region=area)}


# -- what actions mean ----------------------------------------------------------------------------------------------


def _index(actions: Sequence[Action], test: Callable[[Action], bool]) -> int | None:
    return next((i for i, action in enumerate(actions) if test(action)), None)


def _clicked(action: Action, *labels: str) -> bool:
    return (
        action.action.type == "mouse.click"
        and action.target is not None
        and label(action.target.text) in {label(text) for text in labels}
    )


def _pressed(action: Action, *keys: str) -> bool:
    return action.action.type == "keyboard.press" and tuple(sorted(action.action.args["keys"])) == tuple(sorted(keys))


def _typed(action: Action) -> str:
    return str(action.action.args["text"]) if action.action.type == "keyboard.type" else ""


def _home(path: str) -> str:
    return re.sub(r"^/home/[\w.-]+(?=/|$)", "~", path.strip()).rstrip("/") or "/"


def _located(name: str, last: Sequence[TextBox]) -> str:
    """Where a file NAME was saved: the folder that a title or path on the screen shows before it, else the home folder."""
    if name.startswith(("/", "~")):
        return _home(name)
    ended = re.compile(rf"(?<![\w.]){re.escape(name)}(\.[A-Za-z0-9]{{2,9}})?(?![\w.])")
    if "." not in name:  # many applications add their own ending
        name = next((name + match[1] for box in last if (match := ended.search(box.text)) and match[1]), name)
    for box in last:
        match = _PATH.match(box.text.replace(" ", ""))
        if match and f"/{name}" in match[1]:
            return _home(match[1].split(f"/{name}")[0] + f"/{name}")
    return f"~/{name}"


def _open_file(first: Sequence[TextBox]) -> str | None:
    """The path that a window's title shows."""
    for box in sorted(first, key=lambda item: item.y0):
        text = re.split(r"\s*[-–—]\s*(?=[A-Z])", box.text)[0].strip(" *")
        match = _PATH.match(text)
        if match and "." in match[1]:
            return _home(match[1])
        if _FILE_NAME.match(text) and len(re.split(r"\s*[-–—]\s*(?=[A-Z])", box.text)) > 1:
            return f"~/{text}"
    return None


def _shown_folder(first: Sequence[TextBox]) -> str | None:
    """The folder in an address bar."""
    for box in sorted(first, key=lambda item: item.y0):
        if re.fullmatch(r"(~|/)[\w./-]*", box.text.strip()) and len(box.text.strip()) > 1:
            return _home(box.text)
    return None
