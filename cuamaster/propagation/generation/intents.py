"""What an operation was for and what it must have brought about, from the words of menus, dialogs and hot keys common to desktops.

No application is named here: "Save As" + a typed name + a confirmation makes a file of that name, wherever it is done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cuamaster.propagation.generation.operations import Operation, label_of
from cuamaster.records.condition import Condition, FileExists, FileText, Not, ScreenText, WindowTitle

_FILE_NAME = re.compile(r"^[^/\\]+\.[A-Za-z0-9]{1,5}$")


@dataclass(frozen=True)
class Scene:
    """What is known when an operation begins: application, ground facts, and the folder that names are taken to be in."""

    app: str
    facts: tuple[Condition, ...]
    folder: str = "~"

    def path(self, name: str) -> str:
        """A name typed or clicked, as a path."""
        return name if name.startswith(("/", "~")) else f"{self.folder}/{name}"

    @property
    def document(self) -> str:
        """Name of the file the active window shows, '' if it shows none.

        Where no window's title is known, the one file the facts speak of is taken to be the open one.
        """
        windows = [f for f in self.facts if isinstance(f, WindowTitle) and f.active and f.app in ("", self.app)]
        for window in windows:
            for word in re.split(r"\s+-\s+|/", window.title.lstrip("*")):
                if _FILE_NAME.match(word.strip()):
                    return word.strip()
        files = {
            f.path for f in self.facts if isinstance(f, FileText) or (isinstance(f, FileExists) and f.type == "file")
        }
        if any(window.title for window in windows) or len(files) != 1:
            return ""
        return files.pop().rsplit("/", 1)[-1]

    @property
    def shown(self) -> tuple[str, ...]:
        """Texts the application shows: what was read in it, and what the open document is known to hold."""
        document = self.path(self.document) if self.document else None
        read = [fact.text for fact in self.facts if isinstance(fact, ScreenText)]
        held = [f.text for f in self.facts if isinstance(f, FileText) and f.path == document and f.match != "regex"]
        return tuple(dict.fromkeys([*held, *read]))


@dataclass(frozen=True)
class Value:
    """A value that becomes a parameter: name, kind, and the text as it was in the video."""

    name: str
    kind: str
    text: str


@dataclass(frozen=True)
class Intent:
    """Ability slug, sentence with {parameters}, values, extra preconditions and effects (ground: values not yet replaced)."""

    ability: str
    instruction: str
    values: tuple[Value, ...]
    effects: tuple[Condition, ...]
    preconditions: tuple[Condition, ...] = ()
    uses: tuple[str, ...] = field(default=())
    """Texts of facts that the operation builds on (a document's text it saves), besides its values."""


def intent_of(operation: Operation, scene: Scene) -> Intent | None:
    """The first rule that fits, or None."""
    path = " > ".join(operation.labels).lower()
    for matches, build in _RULES:
        if matches(operation, path):
            intent = build(operation, scene)
            if intent is not None:
                return intent
    return None


def _title(name: str, app: str) -> WindowTitle:
    return WindowTitle(app=app, title=name.rstrip("/").rsplit("/", 1)[-1], active=True)


def _save_as(op: Operation, scene: Scene) -> Intent:
    name = op.typed[-1]
    text = scene.shown[-1] if scene.shown else ""
    made: Condition = (
        FileText(path=scene.path(name), text=text, match="contains")
        if text
        else FileExists(path=scene.path(name), type="file")
    )
    kept = (ScreenText(app=scene.app, text=text),) if text else ()
    values = (Value("filename", "filename", name), *((Value("text", "text", text),) if text else ()))
    return Intent(
        "save-as",
        "Save the document as {filename}",
        values,
        (made, _title(name, scene.app), *kept),
        (Not(of=FileExists(path=scene.path(name))),),
        (text,) if text else (),
    )


def _save(op: Operation, scene: Scene) -> Intent | None:  # noqa: ARG001 (same form as the others)
    name, text = scene.document, scene.shown[-1] if scene.shown else ""
    if not name or not text:
        return None
    made = FileText(path=scene.path(name), text=text, match="contains")
    values = (Value("filename", "filename", name), Value("text", "text", text))
    return Intent("save", "Save the changes to {filename}", values, (made,), (Not(of=made),), (text,))


def _create(noun: str, kind: str) -> Callable[[Operation, Scene], Intent]:
    def build(op: Operation, scene: Scene) -> Intent:
        name, slot = op.typed[-1], "dirname" if kind == "dir" else "filename"
        made = FileExists.model_validate({"path": scene.path(name), "type": kind})
        return Intent(
            f"create-{noun}",
            f"Create a new {noun} named {{{slot}}}",
            (Value(slot, slot, name),),
            (made,),
            (Not(of=FileExists(path=made.path)),),
        )

    return build


def _rename(op: Operation, scene: Scene) -> Intent | None:
    old, new = op.labels[0] if op.labels else "", op.typed[-1]
    if not old:
        return None
    kind = "filename" if _FILE_NAME.match(old) else "dirname"
    before = FileExists.model_validate({"path": scene.path(old), "type": "file" if kind == "filename" else "dir"})
    after = before.model_copy(update={"path": scene.path(new)})
    values = (Value("oldname", kind, old), Value("newname", kind, new))
    return Intent(
        "rename",
        "Rename {oldname} to {newname}",
        values,
        (after, Not(of=FileExists(path=before.path))),
        (before, Not(of=FileExists(path=after.path))),
    )


def _delete(op: Operation, scene: Scene) -> Intent | None:
    name = next(
        (
            label_of(a)
            for a in op.actions
            if a.target is not None and a.target.role in ("item", "icon", "") and label_of(a)
        ),
        "",
    )
    if not name or name == op.labels[-1]:
        return None
    kind = "filename" if _FILE_NAME.match(name) else "dirname"
    there = FileExists.model_validate({"path": scene.path(name), "type": "file" if kind == "filename" else "dir"})
    return Intent(
        "delete", f"Delete {{{kind}}}", (Value(kind, kind, name),), (Not(of=FileExists(path=there.path)),), (there,)
    )


def _replace(op: Operation, scene: Scene) -> Intent:
    word, other = op.typed[0], op.typed[1]
    values = (Value("word", "word", word), Value("replacement", "word", other))
    gone, come = ScreenText(app=scene.app, text=word), ScreenText(app=scene.app, text=other)
    return Intent(
        "replace-text",
        'Replace "{word}" with "{replacement}" in the whole document',
        values,
        (come, Not(of=gone)),
        (gone, Not(of=come)),
        (word,),
    )


def _open_item(op: Operation, scene: Scene) -> Intent | None:
    name = label_of(op.actions[-1])
    if not name:
        return None
    is_file = bool(_FILE_NAME.match(name))
    slot = "filename" if is_file else "dirname"
    there = FileExists.model_validate({"path": scene.path(name), "type": "file" if is_file else "dir"})
    opened = WindowTitle(app="" if is_file else scene.app, title=name, active=True)
    noun = "file" if is_file else "folder"
    return Intent(f"open-{noun}", f"Open the {noun} {{{slot}}}", (Value(slot, slot, name),), (opened,), (there,))


def _open_file(op: Operation, scene: Scene) -> Intent:
    name = op.typed[-1]
    there = FileExists(path=scene.path(name), type="file")
    return Intent(
        "open-file",
        "Open the file {filename}",
        (Value("filename", "filename", name),),
        (_title(name, scene.app),),
        (there,),
    )


def _type(op: Operation, scene: Scene) -> Intent:
    text = "".join(op.typed)
    return Intent("type-text", 'Type "{text}"', (Value("text", "text", text),), (ScreenText(app=scene.app, text=text),))


Rule = tuple[Callable[[Operation, str], bool], Callable[[Operation, Scene], Intent | None]]


def _rule(pattern: str, typed: int, *chords: Sequence[str]) -> Callable[[Operation, str], bool]:
    regex, wanted = re.compile(pattern), [frozenset(chord) for chord in chords]

    def matches(op: Operation, path: str) -> bool:
        return len(op.typed) >= typed and (bool(regex.search(path)) or any(chord in op.chords for chord in wanted))

    return matches


def _is_double(op: Operation, path: str) -> bool:  # noqa: ARG001
    last = op.actions[-1].action
    return last.type == "mouse.click" and last.args.get("count", 1) >= 2 and not op.typed


def _only_types(op: Operation, path: str) -> bool:  # noqa: ARG001
    labelled = [
        a
        for a in op.actions
        if a.action.type == "mouse.click"
        and label_of(a)
        and (a.target is None or a.target.role not in ("area", "cell"))
    ]
    return bool(op.typed) and not labelled and not any(chord & {"ctrl", "alt", "super"} for chord in op.chords)


_RULES: tuple[Rule, ...] = (
    (_rule(r"\breplace\b", 2, ("ctrl", "h"), ("ctrl", "r")), _replace),
    (_rule(r"\bsave as\b|\bsave a copy\b|\bexport as\b", 1, ("ctrl", "shift", "s")), _save_as),
    (_rule(r"(?:new|create).*\b(?:folder|directory)\b", 1, ("ctrl", "shift", "n")), _create("folder", "dir")),
    (_rule(r"(?:new|create).*\b(?:file|document)\b", 1), _create("file", "file")),
    (_rule(r"\brename\b", 1, ("f2",)), _rename),
    (_rule(r"\bopen\b", 1, ("ctrl", "o")), _open_file),
    (_rule(r"(?:^|> )save$", 0, ("ctrl", "s")), _save),
    (_rule(r"\b(?:delete|trash|remove)$", 0, ("delete",)), _delete),
    (_is_double, _open_item),
    (_only_types, _type),
)

POOLS: Mapping[str, tuple[str, ...]] = {
    "filename": ("shopping.txt", "journal.txt", "agenda.txt", "travel.txt", "memo.txt"),
    "dirname": ("holiday", "drafts", "budget", "family", "sources"),
    "text": ("Pick up the parcel", "The library closes at six", "Two tickets for Friday", "Ask about the invoice"),
    "word": ("coffee", "winter", "garden", "silver", "orange", "window"),
}
"""Values of each kind to compose with, besides the one seen in the video."""
