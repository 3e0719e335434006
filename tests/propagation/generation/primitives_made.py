"""A small library of made-up applications: an editor, a file manager, a clipboard tool; composing must not know real ones."""

from __future__ import annotations

from typing import Any

from cuamaster.records.condition import CONDITION, Condition, FileExists, FileText, Not, WindowTitle
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


def exchanging(apps: int) -> list[Primitive]:
    """Applications that write files of their own, and one that each may take from a folder that all share."""
    found: list[Primitive] = []
    for number in range(apps):
        app = f"app{number}"
        front = WindowTitle(app=app, active=True)
        found.append(_bare(app, "open-application", (Not(of=WindowTitle(app=app)),), front, setup=()))
        for kind in ("letter", "bill", "list", "plan", "card"):
            own, shared = f"~/{app}-{kind}-{{name}}.txt", "~/shared-{name}.txt"
            launch = (SetupStep(kind="app.launch", app=app),)
            text = FileText(path=own, text="{text}")
            found.append(_bare(app, f"write-{kind}", (front, Not(of=FileExists(path=own))), text, setup=launch))
            write = SetupStep(kind="file.write", path=own, text="{text}\n")
            gone = Not(of=FileExists(path=shared))
            found.append(
                _bare(
                    app,
                    f"share-{kind}",
                    (front, text, gone),
                    FileText(path=shared, text="{text}"),
                    setup=(write, *launch),
                )
            )
            given = SetupStep(kind="file.write", path=shared, text="{text}\n")
            needs = (front, FileText(path=shared, text="{text}"), Not(of=FileExists(path=own)))
            found.append(_bare(app, f"take-{kind}", needs, text, setup=(given, *launch)))
    return found


def _bare(
    app: str, ability: str, needs: tuple[Condition, ...], effect: Condition, *, setup: tuple[SetupStep, ...]
) -> Primitive:
    parameters = () if ability == "open-application" else (
        Parameter(name="name", examples=tuple(f"n{i}" for i in range(40))),
        Parameter(name="text", examples=tuple(f"text {i}" for i in range(40))),
    )  # fmt: skip
    return Primitive(
        app=app,
        ability=ability,
        instruction=f"{ability} in {app}" + (" {name} {text}" if parameters else ""),
        parameters=parameters,
        preconditions=needs,
        requires=(f"app:{app}",),
        effects=(effect,),
        verifier=effect,
        procedures=(Procedure(mode="gui", steps=(ActionTemplate(type="keyboard.press", args={"keys": ["enter"]}),)),),
        setup=setup,
    )
