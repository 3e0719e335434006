"""A small library of made-up applications: an editor, a file manager, a clipboard tool; composing must not know real ones."""

from __future__ import annotations

from typing import Any

from cuamaster.records.condition import CONDITION, Condition
from cuamaster.records.primitive import ActionTemplate, Evidence, Parameter, Primitive, Procedure, SetupStep

SEEN = (Evidence(kind="demonstration", source="image", t_start=0.0, t_end=1.0),)
CAPABILITIES = frozenset({"app:editor", "app:files", "app:clip"})


def condition(**fields: Any) -> Condition:
    return CONDITION.validate_python(fields)


def window(app: str, title: str = "", active: bool = True) -> Condition:
    return condition(kind="window.title", app=app, title=title, active=active)


def file(path: str, kind: str = "file") -> Condition:
    return condition(kind="file.exists", path=path, type=kind)


def no(inner: Condition) -> Condition:
    return condition(kind="not", of=inner)


NAME = Parameter(name="filename", kind="filename", examples=("a.txt", "b.txt", "c.txt", "d.txt", "e.txt"))
FOLDER = Parameter(name="dirname", kind="dirname", examples=("one", "two", "three", "four"))
TEXT = Parameter(name="text", kind="text", examples=("red", "green", "blue", "black"))
HOME = window("files", "home")


def primitive(app: str, ability: str, instruction: str, **fields: Any) -> Primitive:
    data: dict[str, Any] = {
        "procedures": (
            Procedure(mode="gui", steps=(ActionTemplate(type="keyboard.press", args={"keys": ["enter"]}),)),
        ),
        "requires": (f"app:{app}",),
        "evidence": SEEN,
        **fields,
    }
    data.setdefault("verifier", data["effects"][0])
    return Primitive(app=app, ability=ability, instruction=instruction, **data)


LAUNCH_FILES = SetupStep(kind="app.launch", app="files", args=("/home",))
LAUNCH_EDITOR = SetupStep(kind="app.launch", app="editor")

CREATE_FOLDER = primitive(
    "files", "create-folder", "Create the folder {dirname}", parameters=(FOLDER,), preconditions=(HOME, no(file("~/{dirname}", "any"))),
    effects=(file("~/{dirname}", "dir"),), setup=(LAUNCH_FILES,),
)  # fmt: skip
OPEN_FOLDER = primitive(
    "files", "open-folder", "Open the folder {dirname}", parameters=(FOLDER,), preconditions=(HOME, file("~/{dirname}", "dir")),
    effects=(window("files", "{dirname}"),), setup=(SetupStep(kind="dir.make", path="~/{dirname}"), LAUNCH_FILES),
)  # fmt: skip
GO_UP = primitive(
    "files", "go-up", "Go to the parent folder", parameters=(FOLDER,), preconditions=(window("files", "{dirname}"), file("~/{dirname}", "dir")),
    effects=(HOME,), setup=(SetupStep(kind="dir.make", path="~/{dirname}"), SetupStep(kind="app.launch", app="files", args=("~/{dirname}",))),
)  # fmt: skip
RENAME = primitive(
    "files", "rename", "Rename {filename} to {newname}",
    parameters=(NAME, Parameter(name="newname", kind="filename", examples=("x.txt", "y.txt", "z.txt", "w.txt"))),
    preconditions=(HOME, file("~/{filename}"), no(file("~/{newname}", "any"))),
    effects=(file("~/{newname}"), no(file("~/{filename}", "any"))),
    verifier=condition(kind="all", of=[file("~/{newname}"), no(file("~/{filename}", "any"))]),
    setup=(SetupStep(kind="file.write", path="~/{filename}", text="old\n"), LAUNCH_FILES),
)  # fmt: skip
DELETE = primitive(
    "files", "delete", "Delete {filename}", parameters=(NAME,), preconditions=(HOME, file("~/{filename}")),
    effects=(no(file("~/{filename}", "any")),), setup=(SetupStep(kind="file.write", path="~/{filename}", text="old\n"), LAUNCH_FILES),
)  # fmt: skip
OPEN_IN_EDITOR = primitive(
    "files", "open-in-editor", "Open {filename} in the editor", parameters=(NAME, TEXT), requires=("app:files", "app:editor"),
    preconditions=(HOME, condition(kind="file.text", path="~/{filename}", text="{text}"), no(window("editor", active=False))),
    effects=(window("editor", "{filename}"), condition(kind="screen.text", app="editor", text="{text}")),
    setup=(SetupStep(kind="file.write", path="~/{filename}", text="{text}\n"), LAUNCH_FILES),
)  # fmt: skip
TYPE = primitive(
    "editor", "type", "Type {text}", parameters=(TEXT,), preconditions=(window("editor"),),
    effects=(condition(kind="screen.text", app="editor", text="{text}"),), setup=(LAUNCH_EDITOR,),
)  # fmt: skip
SAVE_AS = primitive(
    "editor", "save-as", "Save the text as {filename}", parameters=(NAME, TEXT),
    preconditions=(window("editor"), condition(kind="screen.text", app="editor", text="{text}"), no(file("~/{filename}", "any"))),
    effects=(
        condition(kind="file.text", path="~/{filename}", text="{text}", match="contains"),
        window("editor", "{filename}"),
        condition(kind="screen.text", app="editor", text="{text}"),
    ),
)  # fmt: skip
COPY = primitive(
    "editor", "copy", "Copy the text", parameters=(TEXT,),
    preconditions=(window("editor"), condition(kind="screen.text", app="editor", text="{text}")),
    effects=(condition(kind="clipboard.text", text="{text}"),),
)  # fmt: skip
OPEN_CLIP = primitive(
    "clip", "open-application", "Start the clipboard tool", preconditions=(no(window("clip", active=False)),), effects=(window("clip"),),
)  # fmt: skip
KEEP = primitive(
    "clip", "keep", "Keep the clipboard as {filename}", parameters=(NAME, TEXT),
    preconditions=(window("clip"), condition(kind="clipboard.text", text="{text}"), no(file("~/{filename}", "any"))),
    effects=(condition(kind="file.text", path="~/{filename}", text="{text}"),),
    setup=(SetupStep(kind="clipboard.set", text="{text}"), SetupStep(kind="app.launch", app="clip")),
)  # fmt: skip
SWITCH_TO_FILES = primitive(
    "files", "switch-to", "Bring the file manager to the front",
    preconditions=(window("files", "home", active=False), no(window("files"))), effects=(HOME,),
    setup=(LAUNCH_FILES, SetupStep(kind="app.launch", app="clip")),
)  # fmt: skip
EVERYTHING = (
    CREATE_FOLDER, OPEN_FOLDER, GO_UP, RENAME, DELETE, OPEN_IN_EDITOR, TYPE, SAVE_AS, COPY, OPEN_CLIP, KEEP, SWITCH_TO_FILES,
)  # fmt: skip
